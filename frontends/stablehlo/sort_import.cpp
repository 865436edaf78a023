// Lowers sort: its comparator becomes a block of scalar ops, whatever it computes.
#include "frontends/stablehlo/importer.h"
#include "frontends/stablehlo/input/region_ops.h"

using namespace mlir;
using namespace mlir::sgd;

/// Makes `op`, on tensors without dimensions, an op on scalars; fails at what is not elementwise.
static LogicalResult makeScalar(Operation* op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || elements.getNumElements() != 1)
      return op->emitError(
          "is not a scalar constant, in a body that must be on scalars; expected a scalar; write the body for one "
          "element");
    constant.setValueAttr(cast<TypedAttr>(*elements.value_begin<Attribute>()));
    constant.getResult().setType(elements.getElementType());
    return success();
  }
  if (movesOneTensor(op)) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
    return success();
  }
  if (!op->hasTrait<OpTrait::Elementwise>())
    return op->emitError() << "'" << op->getName()
                           << "' is not supported in a body that must be on scalars; expected elementwise ops; compute "
                              "it outside of the body";
  for (OpResult result : op->getResults()) result.setType(getElementTypeOrSelf(result.getType()));
  return success();
}

LogicalResult Importer::importScalarBody(Block& from, Block& to, Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&to);
  for (BlockArgument argument : from.getArguments()) {
    RankedTensorType type = convertTensorType(argument.getType());
    if (!type) return reportUnsupportedType(loc, "argument " + Twine(argument.getArgNumber()), argument.getType());
    if (type.getRank() != 0)
      return emitError(loc) << "body has the argument type " << type
                            << "; expected a scalar; write the body for one element";
    values[argument] = to.addArgument(type, argument.getLoc());
  }
  SmallVector<Value> returned;
  if (importBlock(from, returned).failed()) return failure();
  for (Value& value : returned)
    if (value.getParentBlock() != &to) {
      // A constant of the function around it.
      Operation* producer = value.getDefiningOp();
      if (!producer || !producer->hasTrait<OpTrait::ConstantLike>())
        return emitError(loc) << "body returns a value from outside of it; pass it as an operand";
      value = builder.clone(*producer)->getResult(0);
    }
  YieldOp::create(builder, loc, returned);
  for (Operation& op : llvm::make_early_inc_range(to.without_terminator())) {
    for (OpOperand& operand : op.getOpOperands()) {
      if (operand.get().getParentBlock() == &to) continue;
      Operation* producer = operand.get().getDefiningOp();
      if (!producer || !producer->hasTrait<OpTrait::ConstantLike>())
        return op.emitError("reads a value from outside of the body; pass it as an operand");
      builder.setInsertionPoint(&op);
      Operation* copy = builder.clone(*producer);
      operand.set(copy->getResult(0));
      if (makeScalar(copy).failed()) return failure();
    }
    if (makeScalar(&op).failed()) return failure();
  }
  for (BlockArgument argument : to.getArguments()) argument.setType(getElementTypeOrSelf(argument.getType()));
  return success();
}

LogicalResult Importer::importSort(OpLowering& l) {
  auto op = cast<stablehlo::SortOp>(l.op);
  if (l.operands.empty()) return l.error() << "has no operand";
  int64_t rank = l.getOperandType().getRank(), dimension = op.getDimension();
  if (dimension < -rank || dimension >= rank)
    return l.error() << "dimension " << dimension << " is not one of its operands', which have rank " << rank;
  for (unsigned index = 0; index < l.operands.size(); ++index)
    if (l.getOperandType(index).getShape() != l.getOperandType().getShape() || index >= l.op->getNumResults() ||
        l.getResultType(index) != l.getOperandType(index))
      return l.error() << "operands and results must have one shape and agree in type";
  Block& comparator = op.getComparator().front();
  if (comparator.getNumArguments() != 2 * l.operands.size() || comparator.getTerminator()->getNumOperands() != 1)
    return l.error() << "comparator must take two scalars for each operand and return one";
  for (auto [index, argument] : llvm::enumerate(comparator.getArguments()))
    if (getElementTypeOrSelf(argument.getType()) != l.getElementType(index / 2))
      return l.error() << "argument " << index << " of the comparator is not of its operand's type";
  SmallVector<Type> types = llvm::map_to_vector(l.operands, [](Value value) { return value.getType(); });
  auto sort = SortOp::create(l.builder, l.loc, types, l.operands, dimension < 0 ? dimension + rank : dimension);
  if (importScalarBody(comparator, sort.getComparator().emplaceBlock(), l.loc).failed()) return failure();
  llvm::append_range(l.results, sort.getResults());
  return success();
}
