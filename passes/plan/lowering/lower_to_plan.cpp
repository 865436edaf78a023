// Tensors to buffers. One buffer per value; sharing them is left to later passes.
#include "dialects/cost/cost_op.h"
#include "dialects/fusion/attention.h"
#include "dialects/plan/host_call.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/sgd/views.h"
#include "dialects/spmd/collective.h"
#include "passes/kernels/order/buffers.h"
#include "passes/plan/lowering/kernel_table.h"
#include "passes/plan/lowering/lower_attention.h"
#include "passes/plan/lowering/lower_collective.h"
#include "passes/plan/lowering/lower_convolution.h"
#include "passes/plan/lowering/lower_linear_algebra.h"
#include "passes/plan/lowering/lower_matmul.h"
#include "passes/plan/lowering/lower_tiled.h"
#include "passes/plan/lowering/member_lines.h"
#include "passes/plan/lowering/outline.h"
#include "passes/plan/lowering/passes.h"
#include "passes/plan/memory/passes.h"
#include "passes/spmd/partition/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOWERTOPLANPASS
#include "passes/plan/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using plan::Space;

namespace {

/// Makes `op` a cluster of its own; scalar constants among its operands move inside.
void wrapInCluster(Operation* op) {
  OpBuilder builder(op);
  SmallVector<Value> inputs(op->getOperands().begin(), op->getOperands().end());
  auto cluster = fusion::ClusterOp::create(builder, op->getLoc(), op->getResultTypes(), inputs);
  Block* body = builder.createBlock(&cluster.getBody());
  for (Value input : inputs) body->addArgument(input.getType(), input.getLoc());
  op->replaceAllUsesWith(cluster.getResults());
  op->moveBefore(body, body->end());
  op->setOperands(body->getArguments());
  builder.setInsertionPointToEnd(body);
  fusion::YieldOp::create(builder, op->getLoc(), op->getResults());
}

/// Loop-invariant values need not be results of the loop.
void forwardInvariants(func::FuncOp function) {
  for (auto loop : function.getOps<WhileOp>())
    for (OpResult result : loop->getResults())
      if (loop.isInvariant(result.getResultNumber()))
        result.replaceAllUsesWith(loop.getInits()[result.getResultNumber()]);
}

/// After this only loops, branches, clusters, contractions, collectives, messages, views and constants are left.
void wrapOthers(func::FuncOp function) {
  for (Operation& op : llvm::make_early_inc_range(function.front().without_terminator())) {
    if (auto barrier = dyn_cast<OptimizationBarrierOp>(op)) {
      barrier->replaceAllUsesWith(barrier.getInputs());
      barrier->erase();
    } else if (!isa<fusion::ClusterOp, fusion::MatmulOp, fusion::ConvolutionOp, fusion::TiledOp,
                    fusion::LibraryMatmulOp, fusion::LibraryConvolutionOp, fusion::LibraryAttentionOp,
                    fusion::LibraryAttentionGradientOp, LinearAlgebraOp, HostCallOp, arith::ConstantOp>(op) &&
               !isa<spmd::CollectiveOpInterface, spmd::SendOp, spmd::ReceiveOp>(op) && !isControlFlow(&op) &&
               !getViewByteOffset(&op)) {
      wrapInCluster(&op);
    }
  }
}

/// Converts one function.
class FunctionConverter {
 public:
  /// Functions that come out of `function` are added to `outlined`.
  FunctionConverter(func::FuncOp function, KernelTable& kernels, const LibraryModel& libraries, SymbolTable& symbols,
                    SmallVectorImpl<func::FuncOp>& outlined)
      : function(function),
        kernels(kernels),
        libraries(libraries),
        symbols(symbols),
        outlined(outlined),
        builder(function.getContext()) {}

  LogicalResult convert() {
    if (failed(check())) return failure();
    wrapOthers(function);
    forwardInvariants(function);
    collectWindowValues();
    SmallVector<int64_t> aliases = getOutputAliases(function);
    SmallVector<Operation*> ops;
    for (Operation& op : function.front()) ops.push_back(&op);
    SmallVector<Type> argumentTypes;
    for (BlockArgument argument : function.getArguments()) argumentTypes.push_back(bufferType(argument));
    convertArguments();
    for (Operation* op : ops) {
      builder.setInsertionPoint(op);
      if (failed(convertOp(op, aliases))) return failure();
    }
    for (Operation* op : llvm::reverse(ops))
      if (!isa<func::ReturnOp>(op)) op->erase();
    finish(argumentTypes, aliases);
    return success();
  }

 private:
  /// Only straight-line code on local tensors has a plan.
  LogicalResult check() {
    auto isLocal = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && !tensor.getEncoding() && tensor.getElementType().isIntOrFloat();
    };
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError("has several blocks; control flow must be sgd.while or sgd.case");
    if (!llvm::all_of(function.getArgumentTypes(), isLocal))
      return function.emitOpError("has arguments that are not local tensors of static shape");
    for (Operation& op : function.front()) {
      if (!llvm::all_of(op.getOperandTypes(), isLocal) || !llvm::all_of(op.getResultTypes(), isLocal))
        return op.emitOpError("acts on something that is not a local tensor of static shape");
      if (op.getNumRegions() != 0 && !isa<fusion::ClusterOp, fusion::TiledOp>(op) && !hasScalarBody(&op) &&
          !isControlFlow(&op))
        return op.emitOpError("has regions and no form at the plan level");
      if (isa<DotGeneralOp>(op)) return op.emitOpError("is not a contraction yet; run sgd-lower-dot-generals first");
      if (isa<ConvolutionOp>(op)) return op.emitOpError("has no layout yet; run sgd-lower-convolutions first");
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && !isa<DenseElementsAttr>(constant.getValue()))
        return op.emitOpError("is not dense");
    }
    return success();
  }

  void collectWindowValues() {
    for (Operation& op : function.front())
      if (isa<spmd::CollectiveOpInterface>(op)) {
        for (Value value : op.getOperands())
          if (!getViewRoot(value).getDefiningOp<arith::ConstantOp>()) window.insert(getViewRoot(value));
        for (Value value : op.getResults()) window.insert(value);
      }
  }

  plan::SpaceAttr spaceAttr(Space space) { return plan::SpaceAttr::get(function.getContext(), space); }
  Space spaceOf(Value value) { return window.contains(getViewRoot(value)) ? Space::Window : Space::Private; }
  MemRefType bufferType(Value value) { return plan::getBufferType(tensorType(value), spaceOf(value)); }

  /// New block arguments replace the tensors, which keep their uses until those are converted.
  void convertArguments() {
    Block& block = function.front();
    unsigned count = block.getNumArguments();
    for (unsigned i = 0; i < count; ++i)
      buffers[block.getArgument(i)] =
          block.addArgument(bufferType(block.getArgument(i)), block.getArgument(i).getLoc());
  }

  Value alloc(Location loc, RankedTensorType type, Space space) {
    return plan::AllocOp::create(builder, loc, plan::getBufferType(type, space), IntegerAttr());
  }

  /// The buffer of `value`; a constant gets one here, its own for each use since it is never written.
  Value bufferOf(Value value) {
    if (Value buffer = buffers.lookup(value)) return buffer;
    auto constant = cast<arith::ConstantOp>(value.getDefiningOp());
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    Value buffer;
    if (elements.isSplat() && elements.getNumElements() > 1) {
      buffer = alloc(value.getLoc(), tensorType(value), Space::Private);
      plan::FillOp::create(builder, value.getLoc(), elements.getSplatValue<TypedAttr>(), buffer);
    } else {
      buffer = plan::ConstantOp::create(builder, value.getLoc(),
                                        plan::getBufferType(tensorType(value), Space::Constant), elements);
    }
    return buffers[value] = buffer;
  }

  /// A fresh buffer with the contents of `value`.
  Value copyOf(Value value, Space space, Location loc) {
    Value target = alloc(loc, tensorType(value), space);
    auto constant = getViewRoot(value).getDefiningOp<arith::ConstantOp>();
    auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
    if (splat)
      plan::FillOp::create(builder, loc, splat.getSplatValue<TypedAttr>(), target);
    else
      plan::CopyOp::create(builder, loc, bufferOf(value), target);
    return target;
  }

  LogicalResult convertOp(Operation* op, ArrayRef<int64_t> aliases) {
    if (isa<arith::ConstantOp>(op)) return success();
    if (std::optional<int64_t> offset = getViewByteOffset(op)) return convertView(op, *offset);
    if (auto cluster = dyn_cast<fusion::ClusterOp>(op)) return convertCluster(cluster);
    if (auto matmul = dyn_cast<fusion::MatmulOp>(op)) return createPlainMatmul(matmul);
    if (auto matmul = dyn_cast<fusion::LibraryMatmulOp>(op)) return convertCall(matmul);
    if (auto convolution = dyn_cast<fusion::LibraryConvolutionOp>(op)) return convertCall(convolution), success();
    if (auto convolution = dyn_cast<fusion::ConvolutionOp>(op)) {
      Value target = buffers[convolution.getResult()] =
          alloc(op->getLoc(), convolution.getType(), spaceOf(convolution.getResult()));
      createConvolutions(builder, convolution, bufferOf(convolution.getLhs()), bufferOf(convolution.getRhs()), target,
                         libraries);
      return success();
    }
    if (isa<fusion::LibraryAttentionOp, fusion::LibraryAttentionGradientOp>(op)) return convertAttention(op);
    if (auto call = dyn_cast<LinearAlgebraOp>(op)) return convertLinearAlgebra(call), success();
    if (auto call = dyn_cast<HostCallOp>(op)) return convertHostCall(call), success();
    if (auto tiled = dyn_cast<fusion::TiledOp>(op)) return convertTiled(tiled);
    if (isa<spmd::CollectiveOpInterface>(op)) return convertCollective(op);
    if (auto send = dyn_cast<spmd::SendOp>(op)) return convertSend(send), success();
    if (auto receive = dyn_cast<spmd::ReceiveOp>(op)) return convertReceive(receive), success();
    if (auto loop = dyn_cast<WhileOp>(op)) return convertLoop(loop), success();
    if (auto branches = dyn_cast<CaseOp>(op)) return convertCase(branches), success();
    convertReturn(cast<func::ReturnOp>(op), aliases);
    return success();
  }

  /// The buffer of the result of a contraction or convolution, which holds `residual` unless that is null.
  Value createTarget(Value result, Value residual) {
    Location loc = result.getLoc();
    return buffers[result] =
               residual ? copyOf(residual, spaceOf(result), loc) : alloc(loc, tensorType(result), spaceOf(result));
  }

  /// The matmul without its epilogue, added to `residual`, which may be null.
  template <typename OpTy>
  FailureOr<plan::MatmulOp> createPlainMatmul(OpTy op, Value residual = {}) {
    Value target = createTarget(op.getResult(), residual);
    return createMatmuls(builder, Contraction(op), {bufferOf(op.getLhs())}, {bufferOf(op.getRhs())}, {target},
                         static_cast<bool>(residual), libraries.getMatmulLimits());
  }

  LogicalResult convertCall(fusion::LibraryMatmulOp op) {
    Value extra = op.getExtra(), bias = op.getBias() ? bufferOf(op.getBias()) : Value();
    Value aux = op.getPreActivation() ? bufferOf(op.getPreActivation()) : Value();
    fusion::Epilogue epilogue = op.getEpilogue();
    bool hasGelu = epilogue.Has(fusion::EpilogueStep::kGelu), hasReduction = epilogue.HasReduction();
    // The operand of gelu is kept for readers alone.
    if (extra && (hasReduction || !extra.use_empty()))
      buffers[extra] = alloc(op->getLoc(), tensorType(extra), spaceOf(extra));
    FailureOr<plan::MatmulOp> matmul = createPlainMatmul(op, op.getResidual());
    if (failed(matmul)) return failure();
    if (hasGelu) aux = buffers.lookup(extra);
    if (aux) matmul->getAuxMutable().assign(aux);
    if (bias) matmul->getBiasMutable().assign(bias);
    if (hasReduction) {
      Value operand = bufferOf(epilogue.Has(fusion::EpilogueStep::kLhsReduction) ? op.getLhs() : op.getRhs());
      epilogue = {matmul->getA() == operand ? fusion::EpilogueStep::kLhsReduction
                                            : fusion::EpilogueStep::kRhsReduction};
      matmul->getReductionMutable().assign(buffers.lookup(extra));
    }
    matmul->setEpilogue(epilogue);
    return success();
  }

  void convertCall(fusion::LibraryConvolutionOp op) {
    Value bias = op.getBias() ? bufferOf(op.getBias()) : Value();
    Value target = createTarget(op.getResult(), op.getResidual());
    createConvolutions(builder, op, bufferOf(op.getLhs()), bufferOf(op.getRhs()), bias, target, libraries);
  }

  LogicalResult convertAttention(Operation* op) {
    SmallVector<Value> inputs = llvm::map_to_vector(op->getOperands(), [&](Value input) { return bufferOf(input); });
    SmallVector<Value> outputs;
    for (Value result : op->getResults())
      outputs.push_back(buffers[result] = alloc(op->getLoc(), tensorType(result), spaceOf(result)));
    return createAttention(builder, op, inputs, outputs);
  }

  void convertLinearAlgebra(LinearAlgebraOp op) {
    SmallVector<Value> inputs = llvm::map_to_vector(op.getInputs(), [&](Value input) { return bufferOf(input); });
    SmallVector<Value> outputs;
    for (Value result : op.getResults())
      outputs.push_back(buffers[result] = alloc(op.getLoc(), tensorType(result), spaceOf(result)));
    createLinearAlgebra(builder, op, inputs, outputs);
  }

  void convertHostCall(HostCallOp op) {
    SmallVector<Value> inputs = llvm::map_to_vector(op.getInputs(), [&](Value input) { return bufferOf(input); });
    SmallVector<Value> outputs;
    for (Value result : op.getResults())
      outputs.push_back(buffers[result] = alloc(op.getLoc(), tensorType(result), spaceOf(result)));
    plan::HostCallOp::create(builder, op.getLoc(), inputs, outputs, op.getWhen() ? bufferOf(op.getWhen()) : Value(),
                             op.getCalleeAttr(), op.getIdAttr(), op.getEachRankAttr());
  }

  LogicalResult convertView(Operation* op, int64_t byteOffset) {
    Value source = bufferOf(op->getOperand(0));
    MemRefType type = plan::getBufferType(tensorType(op->getResult(0)), plan::getSpace(source.getType()));
    buffers[op->getResult(0)] = plan::ViewOp::create(builder, op->getLoc(), type, source, byteOffset);
    return success();
  }

  LogicalResult convertCluster(fusion::ClusterOp cluster) {
    FailureOr<KernelTable::Entry> entry = kernels.getOrCreate(cluster);
    if (failed(entry)) return failure();
    SmallVector<Value> inputs, outputs;
    llvm::SmallBitVector isUpdated(cluster.getNumOperands());
    for (OpResult result : cluster->getResults()) {
      unsigned number = result.getResultNumber();
      if (cluster.getUpdate(number)) {
        // Only the update is written: the rest of the result is a copy, until sharing finds that nobody needs the old
        // one.
        unsigned input = cluster.getUpdatedInput(number);
        isUpdated.set(input);
        buffers[result] = copyOf(cluster.getInputs()[input], spaceOf(result), cluster.getLoc());
      } else {
        buffers[result] = alloc(cluster.getLoc(), tensorType(result), spaceOf(result));
      }
      outputs.push_back(buffers[result]);
    }
    for (auto [number, input] : llvm::enumerate(cluster.getInputs()))
      if (!isUpdated[number]) inputs.push_back(bufferOf(input));
    const KernelDescription& description = entry->description;
    ArrayAttr coordinates;
    if (!description.coordinates.empty()) {
      SmallVector<Attribute> lists(description.coordinates.begin(), description.coordinates.end());
      coordinates = builder.getArrayAttr(lists);
    }
    plan::LaunchOp::create(builder, getLocationWithMembers(cluster), entry->symbol, inputs, outputs, coordinates,
                           builder.getI64IntegerAttr(description.range), builder.getI64IntegerAttr(description.grain),
                           plan::WorkAttr::get(builder.getContext(), getWork(cluster)), /*group=*/IntegerAttr());
    return success();
  }

  LogicalResult convertTiled(fusion::TiledOp tiled) {
    SmallVector<Value> inputs = llvm::map_to_vector(tiled.getInputs(), [&](Value input) { return bufferOf(input); });
    SmallVector<Value> outputs;
    for (Value result : tiled.getResults())
      outputs.push_back(buffers[result] = alloc(tiled.getLoc(), tensorType(result), spaceOf(result)));
    return createTiled(builder, tiled, inputs, outputs, kernels);
  }

  LogicalResult convertCollective(Operation* op) {
    SmallVector<Value> sources, targets;
    for (Value operand : op->getOperands()) {
      bool isConstant = static_cast<bool>(getViewRoot(operand).getDefiningOp<arith::ConstantOp>());
      sources.push_back(isConstant ? copyOf(operand, Space::Window, op->getLoc()) : bufferOf(operand));
    }
    for (Value result : op->getResults())
      targets.push_back(buffers[result] = alloc(op->getLoc(), tensorType(result), Space::Window));
    return createCollective(builder, op, sources, targets);
  }

  void convertSend(spmd::SendOp send) {
    plan::SendOp::create(builder, send.getLoc(), bufferOf(send.getInput()), send.getStageAttr(), send.getChannelAttr(),
                         send.getDepthAttr());
  }

  void convertReceive(spmd::ReceiveOp receive) {
    Value result = receive.getResult();
    Value target = buffers[result] = alloc(receive.getLoc(), tensorType(result), spaceOf(result));
    plan::ReceiveOp::create(builder, receive.getLoc(), receive.getChannelAttr(), receive.getStageAttr(), target,
                            /*mailbox=*/IntegerAttr());
  }

  /// Iter_args begin as copies, which the loop then works on; sharing removes those of values that nobody else reads.
  void convertLoop(WhileOp loop) {
    OutlinedLoop functions = outline(loop, function, symbols);
    outlined.push_back(functions.body);
    if (functions.condition) outlined.push_back(functions.condition);
    SmallVector<Value> inputs, iterArgs;
    for (unsigned input : functions.inputs) inputs.push_back(bufferOf(loop.getInits()[input]));
    for (unsigned iterArg : functions.carried) {
      Value result = loop.getResult(iterArg);
      iterArgs.push_back(buffers[result] = copyOf(loop.getInits()[iterArg], spaceOf(result), loop.getLoc()));
    }
    plan::LoopOp::create(builder, loop.getLoc(), FlatSymbolRefAttr::get(functions.body),
                         functions.condition ? FlatSymbolRefAttr::get(functions.condition) : FlatSymbolRefAttr(),
                         inputs, iterArgs, loop.getTripsAttr(), /*private_scratch=*/Value(),
                         /*window_scratch=*/Value());
  }

  void convertCase(CaseOp op) {
    SmallVector<Attribute> names;
    for (func::FuncOp branch : outline(op, function, symbols)) {
      outlined.push_back(branch);
      names.push_back(FlatSymbolRefAttr::get(branch));
    }
    SmallVector<Value> inputs = llvm::map_to_vector(op.getInputs(), [&](Value input) { return bufferOf(input); });
    SmallVector<Value> outputs;
    for (Value result : op.getResults())
      outputs.push_back(buffers[result] = alloc(op.getLoc(), tensorType(result), spaceOf(result)));
    plan::CaseOp::create(builder, op.getLoc(), bufferOf(op.getIndex()), builder.getArrayAttr(names), inputs, outputs,
                         /*private_scratch=*/Value(), /*window_scratch=*/Value());
  }

  /// Results live in buffers of their own, except an argument that is returned in its own place.
  void convertReturn(func::ReturnOp op, ArrayRef<int64_t> aliases) {
    SmallVector<Value> results;
    llvm::SmallDenseSet<Value> taken;
    for (auto [index, value] : llvm::enumerate(op.getOperands())) {
      Value root = getViewRoot(value);
      auto argument = dyn_cast<BlockArgument>(root);
      bool staysInPlace = argument && value == root && static_cast<int64_t>(argument.getArgNumber()) == aliases[index];
      bool needsCopy =
          !staysInPlace && (argument || root.getDefiningOp<arith::ConstantOp>() || !taken.insert(root).second);
      results.push_back(needsCopy ? copyOf(value, Space::Private, op.getLoc()) : bufferOf(value));
    }
    op->setOperands(results);
  }

  void finish(ArrayRef<Type> argumentTypes, ArrayRef<int64_t> aliases) {
    function.front().eraseArguments(0, argumentTypes.size());
    TypeRange resultTypes = function.front().getTerminator()->getOperandTypes();
    auto convertAttributes = [&](RankedTensorType local, DictionaryAttr attributes, int64_t alias) {
      NamedAttrList list(attributes);
      auto sharding = dyn_cast_or_null<ShardingAttr>(list.erase(kShardingAttr));
      bool isUnsigned = static_cast<bool>(list.erase(kUnsignedAttr));
      auto global = dyn_cast_or_null<TypeAttr>(list.erase(kGlobalTypeAttr));
      ArrayRef<int64_t> shape = global ? cast<RankedTensorType>(global.getValue()).getShape() : local.getShape();
      list.erase(kAliasOutputAttr);
      list.set(plan::kTensorAttr, plan::TensorAttr::get(function.getContext(), shape, sharding, isUnsigned));
      if (alias >= 0) list.set(kAliasAttr, builder.getI64IntegerAttr(alias));
      return list.getDictionary(function.getContext());
    };
    SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
    FunctionType old = function.getFunctionType();
    auto emptyIfNull = [&](DictionaryAttr attributes) {
      return attributes ? attributes : builder.getDictionaryAttr({});
    };
    for (auto [index, type] : llvm::enumerate(old.getInputs()))
      argumentAttributes.push_back(
          convertAttributes(cast<RankedTensorType>(type), emptyIfNull(function.getArgAttrDict(index)), -1));
    for (auto [index, type] : llvm::enumerate(old.getResults()))
      resultAttributes.push_back(convertAttributes(cast<RankedTensorType>(type),
                                                   emptyIfNull(function.getResultAttrDict(index)), aliases[index]));
    function.setFunctionType(FunctionType::get(function.getContext(), argumentTypes, resultTypes));
    function.setAllArgAttrs(argumentAttributes);
    function.setAllResultAttrs(resultAttributes);
  }

  func::FuncOp function;
  KernelTable& kernels;
  const LibraryModel& libraries;
  SymbolTable& symbols;
  SmallVectorImpl<func::FuncOp>& outlined;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseSet<Value> window;  // roots that a collective reads or writes
};

struct LowerToPlanPass : mlir::sgd::impl::LowerToPlanPassBase<LowerToPlanPass> {
  LowerToPlanPass() = default;
  LowerToPlanPass(KernelModel model, const LibraryModel& libraries) : model(std::move(model)), libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    KernelTable kernels(getOperation(), model);
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    while (!functions.empty()) {
      func::FuncOp function = functions.pop_back_val();
      if (!function.isExternal() &&
          failed(FunctionConverter(function, kernels, *libraries, symbols, functions).convert()))
        return signalPassFailure();
    }
  }

  KernelModel model;
  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createLowerToPlanPass(KernelModel model, const LibraryModel& libraries) {
  return std::make_unique<LowerToPlanPass>(std::move(model), libraries);
}
