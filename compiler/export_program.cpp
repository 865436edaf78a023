// Plan ops to the artifact's instructions, one to one.
#include "compiler/export_program.h"

#include "compiler/locations.h"
#include "dialects/spmd/spmd_dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "passes/memory/instruction_cost.h"
#include "passes/memory/passes.h"
#include "passes/partition/reshard_emitter.h"
#include "runtime/artifact/collective.h"
#include "runtime/comm/sent_bytes.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

int64_t bytesOf(Value buffer) { return plan::getByteSize(cast<MemRefType>(buffer.getType())); }

/// Elements before and from dimension `dim` on.
std::pair<uint64_t, uint64_t> splitAt(ArrayRef<int64_t> shape, int64_t dim) {
  uint64_t outer = 1, inner = 1;
  for (auto [index, size] : llvm::enumerate(shape)) (static_cast<int64_t>(index) < dim ? outer : inner) *= size;
  return {outer, inner};
}

/// The tiled op that has `root` as a block argument, or null.
plan::TiledOp getTiledOf(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? dyn_cast<plan::TiledOp>(argument.getOwner()->getParentOp()) : plan::TiledOp();
}

class ProgramExporter {
 public:
  ProgramExporter(func::FuncOp function, ExportContext& context)
      : function(function), context(context), program(std::make_unique<artifact::ProgramT>()) {}

  FailureOr<std::unique_ptr<artifact::ProgramT>> run() {
    program->name = function.getName().str();
    if (failed(addInstructions(function, 1))) return failure();
    if (failed(addInputs()) || failed(addOutputs())) return failure();
    if (failed(addHash())) return failure();
    return std::move(program);
  }

 private:
  artifact::Slice slice(Value buffer) {
    plan::BufferRoot root = plan::getRoot(buffer);
    uint64_t size = bytesOf(buffer);
    if (auto constant = root.root.getDefiningOp<plan::ConstantOp>()) {
      auto [it, isNew] = constants.try_emplace(root.root);
      if (isNew)
        it->second = context.writer.AddConstant(getConstantBytes(cast<DenseElementsAttr>(constant.getValue())));
      return {artifact::Space::Constant, it->second.offset() + root.byteOffset, size};
    }
    auto space = static_cast<artifact::Space>(plan::getSpace(root.root.getType()));
    uint64_t offset = 0;
    if (plan::TiledOp tiled = getTiledOf(root.root))
      offset = slice(tiled.getOperand(cast<BlockArgument>(root.root).getArgNumber())).offset();
    else if (auto alloc = root.root.getDefiningOp<plan::AllocOp>())
      std::tie(space, offset) = getPlace(alloc);
    else if (Operation* caller = getCaller(root.root)) {
      artifact::Slice passed = slice(plan::getPassedBuffers(caller)[cast<BlockArgument>(root.root).getArgNumber()]);
      std::tie(space, offset) = std::pair(passed.space(), passed.offset());
    } else if (auto at = function.getArgAttrOfType<IntegerAttr>(cast<BlockArgument>(root.root).getArgNumber(),
                                                                plan::kOffsetAttr))
      offset = at.getInt();
    return {space, offset + root.byteOffset, size};
  }

  /// The loop or branch that runs the function of `buffer`, or null for the program's own function.
  Operation* getCaller(Value buffer) { return callers.lookup(buffer.getParentBlock()->getParentOp()); }

  /// What a callee allocates lies in its caller's scratch, wherever that is.
  std::pair<artifact::Space, uint64_t> getPlace(plan::AllocOp alloc) {
    plan::Space space = plan::getSpace(alloc.getType());
    uint64_t offset = alloc.getOffset().value_or(0);
    Operation* caller = space == plan::Space::Scratch ? nullptr : getCaller(alloc);
    if (!caller) return {static_cast<artifact::Space>(space), offset};
    Value scratch = llvm::TypeSwitch<Operation*, Value>(caller).Case<plan::LoopOp, plan::CaseOp>(
        [&](auto call) { return space == plan::Space::Window ? call.getWindowScratch() : call.getPrivateScratch(); });
    // Callees whose buffers are all empty have no scratch.
    if (!scratch) return {static_cast<artifact::Space>(space), 0};
    artifact::Slice place = slice(scratch);
    return {place.space(), place.offset() + offset};
  }

  std::unique_ptr<artifact::Slice> sliceOf(Value buffer) { return std::make_unique<artifact::Slice>(slice(buffer)); }

  uint32_t getLocation(Location location) {
    std::string text = getUserLocation(location);
    if (text.empty()) text = "<unknown>";
    auto [it, isNew] = locations.try_emplace(text, program->locations.size());
    if (isNew) program->locations.push_back(text);
    return it->second;
  }

  /// `executions`: of each instruction in a step.
  LogicalResult addInstructions(func::FuncOp from, uint64_t executions) {
    uint64_t outer = std::exchange(multiplicity, executions);
    openGroup.reset();
    for (Operation& op : from.front().without_terminator())
      if (failed(isa<plan::LoopOp, plan::CaseOp>(op) ? addControlFlow(op) : addInstruction(op))) return failure();
    openGroup.reset();
    multiplicity = outer;
    return success();
  }

  /// The instruction, then those of each function that it runs.
  LogicalResult addControlFlow(Operation& op) {
    openGroup.reset();
    size_t index = program->instructions.size();
    program->instructions.push_back(std::make_unique<artifact::InstructionT>());
    program->instructions[index]->loc = getLocation(op.getLoc());
    auto loop = dyn_cast<plan::LoopOp>(op);
    uint64_t trips = loop ? loop.getTrips().value_or(1) : 1;
    SmallVector<uint32_t> sizes;
    for (func::FuncOp callee : plan::getCallees(&op)) {
      size_t begin = program->instructions.size();
      callers[callee] = &op;
      if (failed(addInstructions(callee, multiplicity * trips))) return failure();
      sizes.push_back(program->instructions.size() - begin);
    }
    if (loop) {
      artifact::LoopT target;
      target.body = sizes.back();
      target.trips = loop.getTrips().value_or(0);
      if (loop.getConditionAttr()) {
        target.condition = sizes.front();
        target.predicate = sliceOf(plan::getCallees(&op).front().front().getTerminator()->getOperand(0));
      }
      program->instructions[index]->op.Set(std::move(target));
    } else {
      artifact::CaseT target;
      target.index = sliceOf(cast<plan::CaseOp>(op).getIndex());
      target.branches.assign(sizes.begin(), sizes.end());
      program->instructions[index]->op.Set(std::move(target));
    }
    return success();
  }

  LogicalResult addInstruction(Operation& op) {
    if (isa<plan::AllocOp, plan::ConstantOp, plan::ViewOp>(op)) return success();
    auto launch = dyn_cast<plan::LaunchOp>(op);
    std::optional<int64_t> group = launch ? launch.getGroup() : std::nullopt;
    if (group && group == openGroup) return addToGroup(launch);
    openGroup = group;
    auto instruction = std::make_unique<artifact::InstructionT>();
    instruction->loc = getLocation(op.getLoc());
    if (launch)
      instruction->bytes = launch.getTouchedBytes();
    else if (auto matmul = dyn_cast<plan::MatmulOp>(op))
      instruction->bytes = matmul.getTouchedBytes();
    else if (!isa<plan::DoneOp>(op))
      for (Value operand : op.getOperands()) instruction->bytes += bytesOf(operand);
    LogicalResult result = llvm::TypeSwitch<Operation*, LogicalResult>(&op)
                               .Case([&](plan::LaunchOp launch) { return fill(launch, *instruction); })
                               .Case([&](plan::MatmulOp matmul) { return fill(matmul, *instruction); })
                               .Case([&](plan::ConvolutionOp convolution) { return fill(convolution, *instruction); })
                               .Case([&](plan::TiledOp tiled) { return fill(tiled, *instruction); })
                               .Case([&](plan::CollectiveOp collective) { return fill(collective, *instruction); })
                               .Case([&](plan::DoneOp done) {
                                 artifact::DoneT target;
                                 target.start = starts.lookup(done.getCollective());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Case([&](plan::CopyOp copy) {
                                 artifact::CopyT target;
                                 target.source = sliceOf(copy.getSource());
                                 target.target = sliceOf(copy.getTarget());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Case([&](plan::FillOp fill) {
                                 artifact::FillT target;
                                 target.target = sliceOf(fill.getTarget());
                                 target.pattern = getPattern(fill.getValue());
                                 return instruction->op.Set(std::move(target)), success();
                               })
                               .Default([](Operation* op) { return op->emitOpError("is not an instruction"); });
    if (auto collective = dyn_cast<plan::CollectiveOp>(op)) starts[collective] = program->instructions.size();
    program->flops += instruction->flops * multiplicity;
    program->instructions.push_back(std::move(instruction));
    return result;
  }

  LogicalResult fill(plan::LaunchOp launch, artifact::InstructionT& instruction) {
    instruction.flops = launch.getFlops();
    if (!launch.getGroup()) return instruction.op.Set(getLaunch(launch)), success();
    artifact::LaunchGroupT target;
    target.launches.push_back(std::make_unique<artifact::LaunchT>(getLaunch(launch)));
    return instruction.op.Set(std::move(target)), success();
  }

  /// Adds `launch` to the instruction before, which is its group.
  LogicalResult addToGroup(plan::LaunchOp launch) {
    artifact::InstructionT& instruction = *program->instructions.back();
    instruction.bytes += launch.getTouchedBytes();
    instruction.flops += launch.getFlops();
    program->flops += launch.getFlops() * multiplicity;
    instruction.op.AsLaunchGroup()->launches.push_back(std::make_unique<artifact::LaunchT>(getLaunch(launch)));
    return success();
  }

  artifact::LaunchT getLaunch(plan::LaunchOp launch) {
    artifact::LaunchT target;
    target.kernel = context.kernels.lookup(launch.getKernel());
    target.outputs = launch.getOutputs().size();
    for (Value buffer : launch.getOperands()) target.buffers.push_back(slice(buffer));
    if (launch.getCoordinates())
      for (auto axes : launch.getCoordinates()->getAsRange<AxisListAttr>()) {
        target.coordinates.push_back(std::make_unique<artifact::CoordinateT>());
        target.coordinates.back()->axes = getAxisRefs(axes.getAxes(), context.mesh);
      }
    target.range = launch.getRange();
    target.grain = launch.getGrain();
    return target;
  }

  FailureOr<artifact::MatmulT> getMatmul(plan::MatmulOp matmul) {
    artifact::MatmulT target;
    Type operandType = matmul.getA().getType().getElementType();
    auto element = getElementType(operandType, /*isUnsigned=*/false);
    if (!element) return matmul.emitOpError("has an element type that artifacts do not have");
    target.element = *element;
    size_t batch = matmul.getNumBatchDims();
    ArrayRef<int64_t> sizes = matmul.getSizes(), a = matmul.getAStrides(), b = matmul.getBStrides(),
                      c = matmul.getCStrides();
    target.batch_dims.assign(sizes.begin(), sizes.begin() + batch);
    target.a_batch.assign(a.begin(), a.begin() + batch);
    target.b_batch.assign(b.begin(), b.begin() + batch);
    target.c_batch.assign(c.begin(), c.begin() + batch);
    std::tie(target.m, target.n, target.k) = std::tuple(sizes[batch], sizes[batch + 1], sizes[batch + 2]);
    std::tie(target.a_m, target.a_k, target.b_k, target.b_n) =
        std::tuple(a[batch], a[batch + 1], b[batch], b[batch + 1]);
    std::tie(target.c_m, target.c_n) = std::tuple(c[batch], c[batch + 1]);
    target.a = sliceOf(matmul.getA());
    target.b = sliceOf(matmul.getB());
    target.c = sliceOf(matmul.getC());
    if (matmul.getBias()) target.bias = sliceOf(matmul.getBias());
    if (matmul.getAux()) target.aux = sliceOf(matmul.getAux());
    if (matmul.getWorkspace()) target.workspace = sliceOf(matmul.getWorkspace());
    target.epilogue = static_cast<artifact::Epilogue>(matmul.getEpilogue());
    target.activation = static_cast<artifact::Activation>(matmul.getActivation());
    target.keeps_sums = matmul.getC().getType().getElementType() != operandType;
    target.allows_tf32 = matmul.getTf32();
    return target;
  }

  LogicalResult fill(plan::MatmulOp matmul, artifact::InstructionT& instruction) {
    FailureOr<artifact::MatmulT> target = getMatmul(matmul);
    if (failed(target)) return failure();
    instruction.flops = matmul.getFlops();
    instruction.op.Set(std::move(*target));
    return success();
  }

  LogicalResult fill(plan::ConvolutionOp convolution, artifact::InstructionT& instruction) {
    artifact::ConvolutionT target;
    auto element = getElementType(convolution.getLhs().getType().getElementType(), /*isUnsigned=*/false);
    if (!element) return convolution.emitOpError("has an element type that artifacts do not have");
    target.element = *element;
    ArrayRef<int64_t> sizes = convolution.getSizes(), lhs = convolution.getLhsStrides(),
                      rhs = convolution.getRhsStrides(), result = convolution.getResultStrides();
    using Dim = artifact::ConvolutionDim;
    target.batch = std::make_unique<Dim>(sizes[0], lhs[0], 0, result[0]);
    target.groups = std::make_unique<Dim>(sizes[1], lhs[1], rhs[0], result[1]);
    target.inputs = std::make_unique<Dim>(sizes[2], lhs[2], rhs[1], 0);
    target.outputs = std::make_unique<Dim>(sizes[3], 0, rhs[2], result[2]);
    for (int64_t dim = 0; dim < convolution.getNumSpatialDims(); ++dim)
      target.spatial.emplace_back(convolution.getInputs()[dim], convolution.getOutputs()[dim],
                                  convolution.getKernels()[dim], convolution.getStrides()[dim],
                                  convolution.getDilations()[dim], convolution.getLow()[dim], lhs[3 + dim],
                                  rhs[3 + dim], result[3 + dim]);
    target.lhs = sliceOf(convolution.getLhs());
    target.rhs = sliceOf(convolution.getRhs());
    target.result = sliceOf(convolution.getResult());
    if (convolution.getBias()) target.bias = sliceOf(convolution.getBias());
    if (convolution.getWorkspace()) target.workspace = sliceOf(convolution.getWorkspace());
    target.epilogue = static_cast<artifact::Epilogue>(convolution.getEpilogue());
    target.allows_tf32 = convolution.getTf32();
    if (auto dilations = convolution.getLhsDilations())
      target.lhs_dilations.assign(dilations->begin(), dilations->end());
    Type operand = convolution.getLhs().getType().getElementType();
    target.rounds = operand != getSumType(operand) && operand == convolution.getResult().getType().getElementType();
    instruction.flops = convolution.getFlops();
    instruction.op.Set(std::move(target));
    return success();
  }

  LogicalResult fill(plan::TiledOp tiled, artifact::InstructionT& instruction) {
    artifact::TiledT target;
    target.loops.assign(tiled.getLoops().begin(), tiled.getLoops().end());
    for (unsigned index = 0; index < tiled.getNumOperands(); ++index) {
      auto operand = std::make_unique<artifact::TileOperandT>();
      operand->slice = sliceOf(tiled.getOperand(index));
      ArrayRef<int64_t> strides = tiled.getOperandStrides(index);
      operand->strides.assign(strides.begin(), strides.end());
      target.operands.push_back(std::move(operand));
    }
    target.outputs = tiled.getOutputs().size();
    target.scratch_bytes = tiled.getScratchBytes();
    for (Operation& op : tiled.getBody().front()) {
      if (!isa<plan::LaunchOp, plan::MatmulOp>(op)) continue;
      auto step = std::make_unique<artifact::TileStepT>();
      for (Value operand : op.getOperands()) {
        Value root = plan::getRoot(operand).root;
        step->operands.push_back(getTiledOf(root) ? cast<BlockArgument>(root).getArgNumber() : -1);
      }
      if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
        step->op.Set(getLaunch(launch));
      } else {
        FailureOr<artifact::MatmulT> matmul = getMatmul(cast<plan::MatmulOp>(op));
        if (failed(matmul)) return failure();
        step->op.Set(std::move(*matmul));
      }
      target.steps.push_back(std::move(step));
    }
    instruction.flops = tiled.getFlops();
    instruction.op.Set(std::move(target));
    return success();
  }

  LogicalResult fill(plan::CollectiveOp collective, artifact::InstructionT& instruction) {
    artifact::CollectiveT target;
    target.kind = static_cast<artifact::CollectiveKind>(collective.getKind());
    FailureOr<artifact::ReduceKind> reduce = getReduceKind(collective);
    if (failed(reduce)) return failure();
    target.reduce = *reduce;
    target.axes = getAxisRefs(collective.getAxes().getAxes(), context.mesh);
    if (collective.getFrom()) target.from_axes = getAxisRefs(collective.getFrom()->getAxes(), context.mesh);
    if (collective.getTo()) target.to_axes = getAxisRefs(collective.getTo()->getAxes(), context.mesh);
    for (unsigned index = 0; index < collective.getSources().size(); ++index) {
      FailureOr<std::unique_ptr<artifact::CollectiveOperandT>> operand = getOperand(collective, index);
      if (failed(operand)) return failure();
      target.operands.push_back(std::move(*operand));
    }
    target.starts = static_cast<bool>(collective.getToken());
    instruction.op.Set(std::move(target));
    program->sent_bytes += getSentBytes(collective) * multiplicity;
    SmallVector<StringRef> texts = getExplanations(collective);
    if (auto overlap = collective->getAttrOfType<StringAttr>(kOverlapAttr)) texts.push_back(overlap.getValue());
    for (StringRef text : texts) {
      program->explain.push_back(std::make_unique<artifact::ExplainT>());
      program->explain.back()->text = text.str();
      program->explain.back()->loc = instruction.loc;
    }
    return success();
  }

  static bool isUnsignedReduction(plan::CollectiveOp collective) {
    return collective.getReduce() == ReduceKind::UMax || collective.getReduce() == ReduceKind::UMin;
  }

  FailureOr<artifact::ReduceKind> getReduceKind(plan::CollectiveOp collective) {
    if (!collective.getReduce()) return artifact::ReduceKind::Add;
    switch (*collective.getReduce()) {
      case ReduceKind::Add:
        return artifact::ReduceKind::Add;
      case ReduceKind::Mul:
        return artifact::ReduceKind::Mul;
      case ReduceKind::Max:
      case ReduceKind::UMax:
        return artifact::ReduceKind::Max;
      case ReduceKind::Min:
      case ReduceKind::UMin:
        return artifact::ReduceKind::Min;
      case ReduceKind::And:
        return artifact::ReduceKind::And;
      case ReduceKind::Or:
        return artifact::ReduceKind::Or;
      case ReduceKind::Xor:
        break;
    }
    return collective.emitOpError("between ranks is not supported for 'xor'");
  }

  static void fillRange(RangeAttr attribute, MemRefType from, MemRefType to, artifact::CollectiveOperandT& operand) {
    int64_t dim = attribute.getDim();
    operand.outer = splitAt(from.getShape(), dim).first;
    operand.inner = splitAt(from.getShape(), dim + 1).second;
    auto range = std::make_unique<artifact::TileRangeT>();
    range->size = attribute.getSize();
    range->tile = from.getDimSize(dim);
    range->length = to.getDimSize(dim);
    range->scale = attribute.getScale();
    range->offset = attribute.getOffset();
    range->divisor = attribute.getDivisor();
    range->step = attribute.getStep();
    operand.range = std::move(range);
  }

  FailureOr<std::unique_ptr<artifact::CollectiveOperandT>> getOperand(plan::CollectiveOp collective, unsigned index) {
    Value source = collective.getSources()[index], target = collective.getTargets()[index];
    auto from = cast<MemRefType>(source.getType()), to = cast<MemRefType>(target.getType());
    auto element = getElementType(from.getElementType(), isUnsignedReduction(collective));
    if (!element) return collective.emitOpError("has an element type that artifacts do not have");
    auto operand = std::make_unique<artifact::CollectiveOperandT>();
    operand->element = *element;
    operand->source = sliceOf(source);
    operand->target = sliceOf(target);
    operand->count = from.getNumElements();
    ArrayRef<int64_t> dims = collective.getDims();
    if (collective.getKind() == plan::CollectiveKind::AllGather)
      std::tie(operand->outer, operand->inner) = splitAt(from.getShape(), dims[index]);
    if (collective.getKind() == plan::CollectiveKind::ReduceScatter)
      std::tie(operand->outer, operand->inner) = splitAt(to.getShape(), dims[index]);
    if (collective.getKind() == plan::CollectiveKind::GatherRange)
      fillRange(cast<RangeAttr>((*collective.getRanges())[index]), from, to, *operand);
    if (collective.getKind() == plan::CollectiveKind::AllToAll) {
      operand->dims.assign(from.getShape().begin(), from.getShape().end());
      operand->split = dims[0];
      operand->concat = dims[1];
    }
    return operand;
  }

  LogicalResult addInputs() {
    for (BlockArgument argument : function.getArguments()) {
      auto input = std::make_unique<artifact::InputT>();
      input->name = getInputName(function, argument.getArgNumber());
      auto tensor = function.getArgAttrOfType<plan::TensorAttr>(argument.getArgNumber(), plan::kTensorAttr);
      auto type = getTensorInfo(cast<MemRefType>(argument.getType()), tensor, context.mesh);
      if (failed(type))
        return emitError(argument.getLoc())
               << "argument '" << input->name << "' has the element type "
               << cast<MemRefType>(argument.getType()).getElementType() << ", which artifacts do not have";
      input->type = std::move(*type);
      input->slice = sliceOf(argument);
      input->state = context.stateNames.contains(input->name);
      program->inputs.push_back(std::move(input));
    }
    return success();
  }

  LogicalResult addOutputs() {
    for (OpOperand& operand : function.front().getTerminator()->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      auto output = std::make_unique<artifact::OutputT>();
      auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
      output->name = name ? name.str() : "result" + std::to_string(index);
      auto tensor = function.getResultAttrOfType<plan::TensorAttr>(index, plan::kTensorAttr);
      auto type = getTensorInfo(cast<MemRefType>(operand.get().getType()), tensor, context.mesh);
      if (failed(type))
        return emitError(operand.getOwner()->getLoc())
               << "result " << index << " has the element type "
               << cast<MemRefType>(operand.get().getType()).getElementType() << ", which artifacts do not have";
      output->type = std::move(*type);
      output->slice = sliceOf(operand.get());
      if (auto alias = function.getResultAttrOfType<IntegerAttr>(index, kAliasAttr))
        output->carry_input = alias.getInt();
      program->outputs.push_back(std::move(output));
    }
    return success();
  }

  /// The reader computes the same hash from the packed program.
  LogicalResult addHash() {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Program::Pack(builder, program.get()));
    auto hash = artifact::HashCollectives(*flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer()));
    if (!hash.ok())
      return function.emitError() << "cannot hash the collectives: " << std::string(hash.status().message());
    program->collective_hash.assign(hash->begin(), hash->end());
    return success();
  }

  func::FuncOp function;
  ExportContext& context;
  std::unique_ptr<artifact::ProgramT> program;
  llvm::DenseMap<Value, artifact::Slice> constants;
  llvm::StringMap<uint32_t> locations;
  llvm::DenseMap<Operation*, uint32_t> starts;     // collectives to their instructions
  llvm::DenseMap<Operation*, Operation*> callers;  // of functions that loops and branches run
  uint64_t multiplicity = 1;                       // executions of an instruction in a step
  std::optional<int64_t> openGroup;                // of the last instruction
};

}  // namespace

FailureOr<std::unique_ptr<artifact::ProgramT>> mlir::sgd::exportProgram(func::FuncOp function, ExportContext& context) {
  return ProgramExporter(function, context).run();
}

std::string mlir::sgd::getInputName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.str() : "arg" + std::to_string(index);
}

int64_t mlir::sgd::getGroupSize(plan::CollectiveOp collective) {
  return spmd::getGroupSize(collective, collective.getAxes()).value_or(1);
}

uint64_t mlir::sgd::getSentBytes(plan::CollectiveOp collective) {
  return ::sgd::comm::SentBytes(static_cast<::sgd::comm::CollectiveKind>(collective.getKind()),
                                getGroupSize(collective), getCountedBytes(collective));
}

SmallVector<StringRef> mlir::sgd::getExplanations(plan::CollectiveOp collective) {
  SmallVector<StringRef> texts;
  if (auto array = collective->getAttrOfType<ArrayAttr>(kExplainAttr))
    for (Attribute text : array)
      if (auto string = dyn_cast<StringAttr>(text)) texts.push_back(string.getValue());
  return texts;
}
