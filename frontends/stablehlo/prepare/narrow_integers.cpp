// Integers of 2 and 4 bits as integers of 8 bits that hold their values; see prepare.h. What an op's arithmetic may
// leave outside of the narrow range wraps around right behind it.
#include "dialects/sgd/input_attrs.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The narrow integer type of a tensor's elements, or null.
IntegerType getNarrow(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto integer = tensor ? dyn_cast<IntegerType>(tensor.getElementType()) : IntegerType();
  return integer && (integer.getWidth() == 2 || integer.getWidth() == 4) ? integer : IntegerType();
}

Type widen(Type type) {
  IntegerType narrow = getNarrow(type);
  if (!narrow) return type;
  return cast<RankedTensorType>(type).clone(IntegerType::get(type.getContext(), 8, narrow.getSignedness()));
}

/// Whether results are in range when operands are: the op hands elements on, chooses among them, or has no carry.
bool staysInRange(Operation* op, bool isUnsigned) {
  if (isa<stablehlo::NotOp>(op)) return !isUnsigned;
  return isa<stablehlo::AndOp, stablehlo::OrOp, stablehlo::XorOp, stablehlo::MaxOp, stablehlo::MinOp,
             stablehlo::ClampOp, stablehlo::SelectOp, stablehlo::CompareOp, stablehlo::RemOp, stablehlo::SignOp,
             stablehlo::ShiftRightArithmeticOp, stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp,
             stablehlo::ConcatenateOp, stablehlo::DynamicSliceOp, stablehlo::DynamicUpdateSliceOp, stablehlo::GatherOp,
             stablehlo::PadOp, stablehlo::ReshapeOp, stablehlo::ReverseOp, stablehlo::SliceOp, stablehlo::TransposeOp,
             stablehlo::SortOp, stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp, stablehlo::CompositeOp,
             stablehlo::CustomCallOp, stablehlo::OptimizationBarrierOp, stablehlo::ConstantOp, stablehlo::AllGatherOp,
             stablehlo::AllToAllOp, stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
             stablehlo::ReturnOp, func::CallOp, func::ReturnOp, chlo::TopKOp>(op) ||
         op->getName().getDialectNamespace() == "sdy";
}

/// Reductions whose body is one op: wrapping around at the end is the same as at each step, and leaves the body what it
/// is.
bool hasBodyOfOneOp(Operation* op) {
  return isa_and_nonnull<stablehlo::ReduceOp, stablehlo::ReduceWindowOp, stablehlo::ScatterOp, stablehlo::AllReduceOp,
                         stablehlo::ReduceScatterOp>(op) &&
         llvm::hasNItemsOrLess(op->getRegion(0).front().without_terminator(), 1);
}

void widenConstant(stablehlo::ConstantOp op) {
  IntegerType narrow = getNarrow(op.getType());
  auto elements = narrow ? dyn_cast<DenseIntElementsAttr>(op.getValue()) : DenseIntElementsAttr();
  if (!elements) return;
  Type wide = getElementTypeOrSelf(widen(op.getType()));
  op.setValueAttr(elements.mapValues(
      wide, [&](const APInt& value) { return narrow.isUnsigned() ? value.zext(8) : value.sext(8); }));
}

class NarrowIntegers {
 public:
  explicit NarrowIntegers(ModuleOp module) : module(module), builder(module.getContext()) {}

  LogicalResult run();

 private:
  /// An op with narrow operands or results, and what these were.
  struct Found {
    Operation* op;
    SmallVector<IntegerType> operands, results;
  };
  LogicalResult check(Operation* op) const;
  void widenFunction(func::FuncOp function);
  void adapt(const Found& found);

  Value constant(Location loc, Type type, int64_t value) {
    auto tensor = cast<RankedTensorType>(type);
    auto element = cast<IntegerType>(tensor.getElementType());
    auto splat =
        DenseElementsAttr::get(tensor, APInt(element.getWidth(), value, !element.isUnsigned(), /*implicitTrunc=*/true));
    return stablehlo::ConstantOp::create(builder, loc, tensor, splat);
  }
  /// The value of the low bits: the others are those of its sign, or zero.
  Value wrap(Location loc, Value value, IntegerType narrow);
  /// The low bits alone.
  Value mask(Location loc, Value value, IntegerType narrow) {
    Value bits = constant(loc, value.getType(), (1 << narrow.getWidth()) - 1);
    return stablehlo::AndOp::create(builder, loc, value.getType(), value, bits);
  }

  ModuleOp module;
  OpBuilder builder;
};

LogicalResult NarrowIntegers::check(Operation* op) const {
  auto widths = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return getElementTypeOrSelf(type).getIntOrFloatBitWidth(); });
  };
  bool changesWidth =
      isa<stablehlo::BitcastConvertOp>(op) && widths(op->getOperandTypes()) != widths(op->getResultTypes());
  if (!changesWidth && !isa<stablehlo::RngBitGeneratorOp, stablehlo::RngOp>(op)) return success();
  return emitError(op->getLoc()) << "'" << op->getName() << "' is not supported on elements of "
                                 << op->getResultTypes()[0]
                                 << ": integers of 2 and 4 bits are kept in bytes; use integers of 8 bits and shifts";
}

Value NarrowIntegers::wrap(Location loc, Value value, IntegerType narrow) {
  if (narrow.isUnsigned()) return mask(loc, value, narrow);
  Value distance = constant(loc, value.getType(), 8 - narrow.getWidth());
  Value high = stablehlo::ShiftLeftOp::create(builder, loc, value.getType(), value, distance);
  return stablehlo::ShiftRightArithmeticOp::create(builder, loc, value.getType(), high, distance);
}

void NarrowIntegers::widenFunction(func::FuncOp function) {
  SmallVector<IntegerType> arguments = llvm::map_to_vector(function.getArgumentTypes(), getNarrow);
  auto widenAll = [](TypeRange types) { return llvm::map_to_vector(types, [](Type type) { return widen(type); }); };
  function.setType(builder.getFunctionType(widenAll(function.getArgumentTypes()), widenAll(function.getResultTypes())));
  if (!function.isPublic() || function.isExternal()) return;
  // Loaders refuse other values; benchmarks on numbers at random do not load.
  builder.setInsertionPointToStart(&function.getBody().front());
  for (auto [argument, narrow] : llvm::zip(function.getArguments(), arguments)) {
    if (!narrow) continue;
    function.setArgAttr(argument.getArgNumber(), kNarrowBitsAttr, builder.getI64IntegerAttr(narrow.getWidth()));
    if (argument.use_empty()) continue;
    SmallVector<OpOperand*> uses = llvm::map_to_vector(argument.getUses(), [](OpOperand& use) { return &use; });
    Value wrapped = wrap(argument.getLoc(), argument, narrow);
    for (OpOperand* use : uses) use->set(wrapped);
  }
}

void NarrowIntegers::adapt(const Found& found) {
  Operation* op = found.op;
  Location loc = op->getLoc();
  builder.setInsertionPoint(op);
  bool readsBits = isa<stablehlo::ShiftRightLogicalOp, stablehlo::PopulationCountOp, stablehlo::ClzOp>(op);
  if (readsBits) op->setOperand(0, mask(loc, op->getOperand(0), found.operands[0]));
  IntegerType result = found.results.empty() ? IntegerType() : found.results[0];
  // Floats saturate.
  if (isa<stablehlo::ConvertOp>(op) && result && isa<FloatType>(getElementTypeOrSelf(op->getOperand(0)))) {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    int64_t least = result.isUnsigned() ? 0 : -(1 << (result.getWidth() - 1));
    int64_t most = (1 << (result.isUnsigned() ? result.getWidth() : result.getWidth() - 1)) - 1;
    auto bound = [&](int64_t value) -> Value {
      auto element = builder.getFloatAttr(from.getElementType(), static_cast<double>(value));
      return stablehlo::ConstantOp::create(builder, loc, from, DenseElementsAttr::get(from, element));
    };
    Value low = bound(least), high = bound(most);
    op->setOperand(0, stablehlo::ClampOp::create(builder, loc, from, low, op->getOperand(0), high));
    return;
  }
  if (hasBodyOfOneOp(op->getParentOp())) return;
  builder.setInsertionPointAfter(op);
  for (auto [value, narrow] : llvm::zip(op->getResults(), found.results)) {
    if (!narrow || staysInRange(op, narrow.isUnsigned())) continue;
    SmallVector<OpOperand*> uses = llvm::map_to_vector(value.getUses(), [](OpOperand& use) { return &use; });
    Value wide = value;
    if (isa<stablehlo::ClzOp>(op))  // of the bits that the narrow type has not
      wide = stablehlo::SubtractOp::create(builder, loc, wide.getType(), wide,
                                           constant(loc, wide.getType(), 8 - narrow.getWidth()));
    Value wrapped = wrap(loc, wide, narrow);
    for (OpOperand* use : uses) use->set(wrapped);
  }
}

LogicalResult NarrowIntegers::run() {
  SmallVector<Found> all;
  SmallVector<func::FuncOp> functions;
  auto narrowOf = [](TypeRange types) { return llvm::map_to_vector(types, getNarrow); };
  auto isNarrow = [](IntegerType type) { return type != IntegerType(); };
  WalkResult walked = module.walk([&](Operation* op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      functions.push_back(function);
      return WalkResult::advance();
    }
    Found found{op, narrowOf(op->getOperandTypes()), narrowOf(op->getResultTypes())};
    if (!llvm::any_of(found.operands, isNarrow) && !llvm::any_of(found.results, isNarrow)) return WalkResult::advance();
    if (check(op).failed()) return WalkResult::interrupt();
    all.push_back(std::move(found));
    return WalkResult::advance();
  });
  if (walked.wasInterrupted()) return failure();
  module.walk([](Operation* op) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) widenConstant(constant);
    for (Value result : op->getResults()) result.setType(widen(result.getType()));
    for (Region& region : op->getRegions())
      for (Block& block : region)
        for (BlockArgument argument : block.getArguments()) argument.setType(widen(argument.getType()));
  });
  for (func::FuncOp function : functions) widenFunction(function);
  for (const Found& found : all) adapt(found);
  return success();
}

}  // namespace

LogicalResult mlir::sgd::widenNarrowIntegers(ModuleOp module) { return NarrowIntegers(module).run(); }
