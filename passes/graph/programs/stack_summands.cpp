// The pass sgd-stack-summands. What is unreduced at a border becomes a tensor of its summands there; within the
// program, constraints say over which axes its sum may stay partial.
#include "dialects/sgd/input_attrs.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/programs/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_STACKSUMMANDSPASS
#include "passes/graph/programs/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The summands of a tensor, whose sharding is partial by addition.
struct Stack {
  ShardingAttr sharding;
  int64_t size = 1;

  Stack(ShardingAttr sharding, MeshAttr mesh) : sharding(sharding) {
    for (AxisRefAttr axis : sharding.getUnreduced()) size *= axis.getNumShards(mesh);
  }

  RankedTensorType getType(RankedTensorType whole) const {
    SmallVector<int64_t> shape(whole.getShape());
    shape.insert(shape.begin(), size);
    return whole.clone(shape);
  }

  /// Of the summands: the new dimension is over the axes.
  ShardingAttr getSharding() const {
    SmallVector<DimShardingAttr> dims(sharding.getDims());
    dims.insert(dims.begin(),
                DimShardingAttr::get(sharding.getContext(), sharding.getUnreduced(), /*isOpen=*/false, std::nullopt));
    return with(dims, {});
  }

  /// Of the sum, where there is but one summand.
  ShardingAttr getReduced() const { return with(sharding.getDims(), {}); }

  /// Attributes of an argument or result that becomes the summands.
  DictionaryAttr withSummands(DictionaryAttr attributes) const {
    NamedAttrList list(attributes);
    list.set(kShardingAttr, size == 1 ? getReduced() : getSharding());
    if (size != 1) list.set(kSummandsAttr, UnitAttr::get(sharding.getContext()));
    return list.getDictionary(sharding.getContext());
  }

 private:
  ShardingAttr with(ArrayRef<DimShardingAttr> dims, ArrayRef<AxisRefAttr> unreduced) const {
    return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims, sharding.getReplicated(), unreduced,
                             ReduceKind::Add);
  }
};

bool isUnreduced(ShardingAttr sharding) {
  return sharding && sharding.isPartial() && sharding.getUnreducedKind() == ReduceKind::Add;
}

class SummandStacking {
 public:
  SummandStacking(func::FuncOp function) : function(function), builder(function.getContext()) {}

  LogicalResult run() {
    for (BlockArgument argument : function.getArguments())
      if (failed(stackArgument(argument))) return failure();
    auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
    for (OpOperand& operand : terminator->getOpOperands())
      if (failed(stackResult(operand))) return failure();
    function.setType(builder.getFunctionType(function.front().getArgumentTypes(), terminator->getOperandTypes()));
    dropAliases();
    return success();
  }

 private:
  LogicalResult check(Location loc, Type type, const Twine& what) const {
    if (!cast<RankedTensorType>(type).getElementType().isInteger(1)) return success();
    return emitError(loc) << what << " is unreduced and of booleans; expected numbers, which have a sum; convert it";
  }

  LogicalResult stackArgument(BlockArgument argument) {
    unsigned index = argument.getArgNumber();
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!isUnreduced(sharding)) return success();
    Stack stack(sharding, lookupMesh(function, sharding.getMesh()));
    function.setArgAttrs(index, stack.withSummands(function.getArgAttrDict(index)));
    if (stack.size == 1) return success();
    auto whole = cast<RankedTensorType>(argument.getType());
    if (failed(check(argument.getLoc(), whole, "argument " + Twine(index)))) return failure();
    argument.setType(stack.getType(whole));
    builder.setInsertionPointToStart(&function.front());
    auto sum = ReduceOp::create(builder, argument.getLoc(), whole, argument, ReduceKind::Add, ArrayRef<int64_t>{0});
    Value partial = ShardingConstraintOp::create(builder, argument.getLoc(), sum, sharding);
    argument.replaceAllUsesExcept(partial, sum);
    return success();
  }

  LogicalResult stackResult(OpOperand& operand) {
    unsigned index = operand.getOperandNumber();
    auto sharding = function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!isUnreduced(sharding)) return success();
    Stack stack(sharding, lookupMesh(function, sharding.getMesh()));
    function.setResultAttrs(index, stack.withSummands(function.getResultAttrDict(index)));
    if (stack.size == 1) return success();
    auto whole = cast<RankedTensorType>(operand.get().getType());
    Location loc = operand.getOwner()->getLoc();
    if (failed(check(loc, whole, "result " + Twine(index)))) return failure();
    builder.setInsertionPoint(operand.getOwner());
    Value partial = ShardingConstraintOp::create(builder, loc, operand.get(), sharding);
    operand.set(SummandsOp::create(builder, loc, stack.getType(whole), partial));
    return success();
  }

  /// A result whose type now is another than that of the argument whose buffer it was to take.
  void dropAliases() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      auto alias = function.getArgAttrOfType<IntegerAttr>(index, kAliasOutputAttr);
      if (!alias || alias.getInt() < 0 || alias.getInt() >= function.getNumResults()) continue;
      if (function.getResultTypes()[alias.getInt()] == argument.getType()) continue;
      function.removeArgAttr(index, StringAttr::get(function.getContext(), kAliasOutputAttr));
      function.setArgAttr(index, kDonatedAttr, builder.getUnitAttr());
    }
  }

  func::FuncOp function;
  OpBuilder builder;
};

struct StackSummandsPass : mlir::sgd::impl::StackSummandsPassBase<StackSummandsPass> {
  using StackSummandsPassBase::StackSummandsPassBase;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(SummandStacking(function).run())) return signalPassFailure();
  }
};
}  // namespace
