// The pass sgd-shard-sequential: types and reshards by the states that SequentialSharding finds.
#include "dialects/sgd/host_call.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/partial_values.h"
#include "passes/time/sequential/passes.h"
#include "passes/time/sequential/sequential_sharding.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARDSEQUENTIALPASS
#include "passes/time/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
class SequentialRewrite {
 public:
  SequentialRewrite(func::FuncOp function, const SequentialAxis& axis, const SequentialSharding& sharding)
      : function(function), axis(axis), sharding(sharding), builder(function.getContext()) {}

  LogicalResult run() {
    for (BlockArgument argument : function.getArguments()) {
      setState(argument);
      function.setArgAttr(argument.getArgNumber(), kShardingAttr, getSharding(argument.getType()));
    }
    if (failed(rewrite(function.front()))) return failure();
    function.walk([](Operation* op) { op->removeDiscardableAttr(kSequentialDimAttr); });
    Operation* terminator = function.front().getTerminator();
    for (auto [index, type] : llvm::enumerate(terminator->getOperandTypes()))
      function.setResultAttr(index, kShardingAttr, getSharding(type));
    function.setType(
        FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), terminator->getOperandTypes()));
    return success();
  }

 private:
  void setState(Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      value.setType(axis.withState(type, sharding.get(value)));
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
        constant.setValueAttr(elements.reshape(cast<ShapedType>(value.getType())));
  }

  LogicalResult rewrite(Block& block) {
    for (Operation& op : llvm::make_early_inc_range(block)) {
      for (OpOperand& operand : op.getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()) && failed(bring(operand))) return failure();
      for (Value result : op.getResults()) setState(result);
      for (Region& region : op.getRegions()) {
        if (region.empty() || !isControlFlow(&op)) continue;
        for (BlockArgument argument : region.getArguments()) setState(argument);
        if (failed(rewrite(region.front()))) return failure();
      }
    }
    return success();
  }

  /// A constant of `type` for `operand` alone.
  void bringConstant(OpOperand& operand, arith::ConstantOp constant, RankedTensorType type) {
    bool isNeutral = isNeutralConstant(constant, getSharding(type).getUnreducedKind());
    builder.setInsertionPoint(operand.getOwner());
    auto own = cast<arith::ConstantOp>(builder.clone(*constant));
    own.getResult().setType(type);
    own.setValueAttr(cast<DenseElementsAttr>(own.getValue()).reshape(type));
    if (getSharding(type).isPartial() && !isNeutral) own->setAttr(kFactorAttr, builder.getUnitAttr());
    operand.set(own);
    if (constant->use_empty()) constant.erase();
  }

  /// Brings what `operand` is into the state that its op needs.
  LogicalResult bring(OpOperand& operand) {
    Value value = operand.get();
    auto type = tensorType(value);
    SequentialState state = axis.getState(getSharding(type)), wanted = sharding.getNeeded(operand);
    if (state == wanted) return success();
    RankedTensorType target = axis.withState(type, wanted);
    Operation* op = operand.getOwner();
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    if (constant && isa<SplatElementsAttr>(constant.getValue()) && isFreeFor(op, constant, wanted)) {
      bringConstant(operand, constant, target);
      return success();
    }
    bool scales = wanted.isPartial() && isFactor(op, operand.getOperandNumber(), wanted.reduceKind);
    Value& shared = (scales ? factors : reshards)[{value, target}];
    if (!shared) {
      builder.setInsertionPoint(op);
      shared = ReshardOp::create(builder, op->getLoc(), target, value);
      if (scales) shared.getDefiningOp()->setAttr(kFactorAttr, builder.getUnitAttr());
    }
    operand.set(shared);
    return success();
  }

  /// Whether any rank and coordinate has `constant` in state `wanted` without a mask.
  static bool isFreeFor(Operation* op, arith::ConstantOp constant, SequentialState wanted) {
    if (!wanted.isPartial() || isNeutralConstant(constant, wanted.reduceKind)) return true;
    return llvm::any_of(op->getOpOperands(), [&](OpOperand& operand) {
      return operand.get() != constant.getResult() && scalesPartial(op, operand.getOperandNumber());
    });
  }

  func::FuncOp function;
  const SequentialAxis& axis;
  const SequentialSharding& sharding;
  OpBuilder builder;
  DenseMap<std::pair<Value, Type>, Value> reshards, factors;
};

/// Arguments that name a dimension, each with it.
FailureOr<DenseMap<Value, unsigned>> getCutArguments(func::FuncOp function, const SequentialAxis& axis) {
  DenseMap<Value, unsigned> dims;
  for (BlockArgument argument : function.getArguments()) {
    auto attr = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kSequentialDimAttr);
    if (!attr) continue;
    auto type = tensorType(argument);
    auto dim = static_cast<unsigned>(attr.getInt());
    if (dim >= type.getRank())
      return LogicalResult(emitError(argument.getLoc())
                           << "sgd.sequential_dim is " << dim << " on an argument of type " << withSharding(type, {})
                           << "; expected one of its " << type.getRank() << " dimensions");
    if (!axis.divides(type, dim)) {
      int64_t shards = getGroupSize(axis.getRankAxes(getSharding(type)).dims[dim].axes);
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
      return LogicalResult(emitError(argument.getLoc())
                           << "input " << (name ? name.getValue() : "of the batch") << " has " << type.getDimSize(dim)
                           << " rows; expected a multiple of " << axis.getSize() * shards << ", for '" << axis.getName()
                           << "' = " << axis.getSize() << " and " << shards << " shards on ranks; choose a size of '"
                           << axis.getName() << "' that divides its " << type.getDimSize(dim) / shards
                           << " rows on a rank");
    }
    dims[argument] = dim;
  }
  return dims;
}

/// Whether a loop or branch that is computed for all coordinates reads rows that are sharded over ranks: a rank has
/// other rows of the whole batch than of all its parts. Nothing is cut then, since ranks would send rows to each other.
bool exchangesRows(const SequentialSharding& sharding, const SequentialAxis& axis) {
  auto isOverRanks = [&](Value value) {
    SequentialState state = sharding.get(value);
    return state.isCut() && !axis.getRankAxes(getSharding(value.getType())).dims[state.dim].axes.empty();
  };
  return llvm::any_of(sharding.getWhole(), [&](const SequentialSharding::WholeOp& whole) {
    return llvm::any_of(whole.op->getOperands(), isOverRanks);
  });
}

/// Takes the padding off an argument; what reads it reads zeros there.
void dropPadding(BlockArgument argument, RankedTensorType unpadded) {
  RankedTensorType padded = tensorType(argument);
  ShardingAttr sharding = getSharding(padded);
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  Location loc = argument.getLoc();
  auto scalar = RankedTensorType::get({}, padded.getElementType(),
                                      ShardingAttr::getReplicated(builder.getContext(), sharding.getMesh(), 0));
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(scalar)));
  SmallVector<int64_t> none(padded.getRank(), 0), high;
  for (auto [rows, all] : llvm::zip(unpadded.getShape(), padded.getShape())) high.push_back(all - rows);
  argument.setType(withSharding(unpadded, sharding));
  Value extended = PadOp::create(builder, loc, padded, argument, zero, none, high, none);
  argument.replaceAllUsesExcept(extended, extended.getDefiningOp());
}

/// Takes the padding off arguments and results whose rows no coordinate has parts of; says whether there are any. Such
/// arguments are not `cut` any more.
bool dropPadding(func::FuncOp function, const SequentialSharding& sharding, DenseMap<Value, unsigned>& cut) {
  bool drops = false;
  for (BlockArgument argument : function.getArguments()) {
    auto unpadded = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kUnpaddedTypeAttr);
    if (!unpadded || sharding.get(argument).isCut()) continue;
    dropPadding(argument, cast<RankedTensorType>(unpadded.getValue()));
    cut.erase(argument);
    function.removeArgAttr(argument.getArgNumber(), StringAttr::get(function.getContext(), kUnpaddedTypeAttr));
    drops = true;
  }
  for (OpOperand& operand : function.front().getTerminator()->getOpOperands()) {
    auto unpadded = function.getResultAttrOfType<TypeAttr>(operand.getOperandNumber(), kUnpaddedTypeAttr);
    if (!unpadded) continue;
    auto type = cast<RankedTensorType>(unpadded.getValue()), padded = tensorType(operand.get());
    if (SequentialState state = sharding.getNeeded(operand);
        state.isCut() && type.getDimSize(state.dim) != padded.getDimSize(state.dim))
      continue;
    OpBuilder builder(operand.getOwner());
    SmallVector<int64_t> starts(type.getRank(), 0), strides(type.getRank(), 1);
    operand.set(SliceOp::create(builder, operand.get().getLoc(), withSharding(type, getSharding(padded)), operand.get(),
                                starts, type.getShape(), strides));
    function.removeResultAttr(operand.getOperandNumber(), StringAttr::get(function.getContext(), kUnpaddedTypeAttr));
    drops = true;
  }
  return drops;
}

/// Finds the op that takes the batch whole where nothing is computed in parts. Null if something is, if nothing reads
/// rows, and if another report names the cause.
Operation* findJoinOfBatch(func::FuncOp function, const SequentialSharding& sharding,
                           const DenseMap<Value, unsigned>& cut) {
  if (!sharding.getWhole().empty() || !sharding.getUnevenBlocks().empty()) return nullptr;
  Operation* join = nullptr;
  for (Operation& op : function.front().without_terminator()) {
    auto isInParts = [&](Value result) { return !sharding.get(result).isWhole(); };
    if (llvm::any_of(op.getResults(), isInParts)) return nullptr;
    auto readsRows = [&](Value operand) { return cut.contains(operand); };
    if (!join && llvm::any_of(op.getOperands(), readsRows)) join = &op;
  }
  return join;
}

struct ShardSequentialPass : mlir::sgd::impl::ShardSequentialPassBase<ShardSequentialPass> {
  using ShardSequentialPassBase::ShardSequentialPassBase;

  /// Names loops over blocks that have no equal parts.
  LogicalResult reportUneven(const SequentialSharding& sharding, const SequentialAxis& axis) {
    for (Operation* op : sharding.getUnevenBlocks()) {
      auto dim = static_cast<unsigned>(op->getAttrOfType<IntegerAttr>(kSequentialDimAttr).getInt());
      RankedTensorType type = tensorType(op->getResult(0));
      InFlightDiagnostic diagnostic = refuse ? op->emitError() : op->emitRemark();
      diagnostic << "a loop steps over blocks of " << type.getDimSize(dim) << " rows, which are not " << axis.getSize()
                 << " equal parts on each rank; '" << axis.getName()
                 << "' saves no memory; choose another size, or write the step without the loop";
      if (refuse) return LogicalResult(diagnostic);
    }
    return success();
  }

  /// Names the ops for which loops and branches are computed for all coordinates at once.
  LogicalResult reportWhole(const SequentialSharding& sharding, StringRef axis) {
    for (const SequentialSharding::WholeOp& whole : sharding.getWhole()) {
      InFlightDiagnostic diagnostic = refuse ? whole.cause->emitError() : whole.cause->emitRemark();
      diagnostic << "needs rows of several parts of '" << axis << "' inside of a "
                 << (isa<WhileOp>(whole.op) ? "loop" : "branch")
                 << ", which is therefore computed for all parts at once and takes the memory of the whole batch";
      if (refuse) return LogicalResult(diagnostic << "; --micro-refuse allows none; move it out, or compile without");
      diagnostic << "; move it out";
    }
    return success();
  }

  /// Names the op for which the whole batch is computed at once.
  LogicalResult reportJoin(Operation* join, StringRef axis) {
    if (!join) return success();
    InFlightDiagnostic diagnostic = refuse ? join->emitError() : join->emitRemark();
    diagnostic << "needs rows of several parts of '" << axis << "', and nothing is computed in parts: '" << axis
               << "' saves no memory; expected an op on rows of one part; compute parts of the batch apart, or leave '"
               << axis << "' out";
    return refuse ? LogicalResult(diagnostic) : success();
  }

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getSequentialAxis(mesh);
    if (!axis || axis.getSize() == 1) return;
    if (failed(refuseHostCalls(getOperation(),
                               "in a program whose batch is cut into micro-batches, which no value of it "
                               "belongs to as a whole; expected none; return the value from the program, "
                               "or drop the micro-batches")))
      return signalPassFailure();
    SmallVector<MeshAxisAttr> axes{axis};
    llvm::append_range(axes, mesh.getMesh().getAxes());
    mesh.setMeshAttr(MeshAttr::get(&getContext(), axes));
    SequentialAxis sequential(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh(), axis);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      FailureOr<DenseMap<Value, unsigned>> arguments = getCutArguments(function, sequential);
      if (failed(arguments)) return signalPassFailure();
      DenseMap<Value, unsigned> cut = std::move(*arguments);
      auto share = [&] { return std::make_unique<SequentialSharding>(function, sequential, cut, sumsInOwnType); };
      std::unique_ptr<SequentialSharding> sharding = share();
      if (failed(reportUneven(*sharding, sequential)) || failed(reportWhole(*sharding, axis.getName())))
        return signalPassFailure();
      if (exchangesRows(*sharding, sequential)) {
        cut.clear();
        sharding = share();
      }
      if (failed(reportJoin(findJoinOfBatch(function, *sharding, cut), axis.getName()))) return signalPassFailure();
      if (dropPadding(function, *sharding, cut)) sharding = share();
      if (failed(SequentialRewrite(function, sequential, *sharding).run())) return signalPassFailure();
    }
  }
};
}  // namespace
