// Types of parts, and ops rebuilt on them; see complex_op.h.
#include "frontends/stablehlo/complex/complex_op.h"

#include "frontends/stablehlo/input/sdy_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

bool mlir::sgd::isComplex(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<ComplexType>(tensor.getElementType());
}

Type mlir::sgd::getPartType(Type type) {
  if (!isComplex(type)) return type;
  auto tensor = cast<RankedTensorType>(type);
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

SmallVector<Type> mlir::sgd::expandTypes(TypeRange types) {
  SmallVector<Type> expanded;
  for (Type type : types) expanded.append(isComplex(type) ? 2 : 1, getPartType(type));
  return expanded;
}

Complex ComplexOp::operand(unsigned index) {
  Value value = op->getOperand(index);
  return isComplex(value.getType()) ? expander.getParts(value) : Complex{value, splat(value, 0.0)};
}

SmallVector<Value> ComplexOp::getExpandedOperands() { return expander.expand(op->getOperands()); }

/// The attributes that say how an op's only result is sharded.
static SmallVector<NamedAttribute> getShardings(Operation* op) {
  SmallVector<NamedAttribute> found;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() == "sdy.sharding" || attribute.getName() == "mhlo.sharding") found.push_back(attribute);
  return found;
}

/// `value` with what `op` says about its result's sharding: a conversion to its own type carries it.
static Value annotate(ComplexOp& c, Value value) {
  SmallVector<NamedAttribute> shardings = getShardings(c.op);
  return shardings.empty() ? value : c.create<stablehlo::ConvertOp>(value.getType(), value, shardings);
}

LogicalResult ComplexOp::finish(Complex value) {
  expander.setParts(op->getResult(0), {annotate(*this, value.re), annotate(*this, value.im)});
  return success();
}

LogicalResult ComplexOp::finish(Value value) {
  op->getResult(0).replaceAllUsesWith(annotate(*this, value));
  return success();
}

LogicalResult ComplexOp::finishAll(ValueRange expanded) {
  unsigned next = 0;
  for (OpResult result : op->getResults()) {
    if (!isComplex(result.getType())) {
      result.replaceAllUsesWith(expanded[next++]);
      continue;
    }
    expander.setParts(result, {expanded[next], expanded[next + 1]});
    next += 2;
  }
  return success();
}

Operation* ComplexOp::cloneForParts(ValueRange operands) {
  Operation* clone = builder.clone(*op);
  clone->setOperands(operands);
  for (OpResult result : clone->getResults()) result.setType(getPartType(result.getType()));
  return clone;
}

/// One sharding a value, for values of `types` each complex one of which has become two.
static Attribute repeatPerValue(Attribute attribute, TypeRange types) {
  auto perValue = dyn_cast<sdy::ShardingPerValueAttr>(attribute);
  if (!perValue || perValue.getShardings().size() != types.size()) return attribute;
  SmallVector<sdy::ShardingAttr> repeated;
  for (auto [sharding, type] : llvm::zip_equal(perValue.getShardings(), types))
    repeated.append(isComplex(type) ? 2 : 1, sharding);
  return sdy::ShardingPerValueAttr::get(attribute.getContext(), repeated);
}

Operation* ComplexOp::rebuild(ValueRange expanded) {
  OperationState state(loc, op->getName().getStringRef(), expanded, expandTypes(op->getResultTypes()));
  for (NamedAttribute attribute : op->getAttrDictionary()) {
    TypeRange types =
        attribute.getName() == "in_shardings" ? TypeRange(op->getOperandTypes()) : TypeRange(op->getResultTypes());
    Attribute value = repeatPerValue(attribute.getValue(), types);
    if (auto whole = dyn_cast<sdy::ShardingAttr>(value);
        whole && attribute.getName() == "sdy.sharding" && types.size() == 1 && isComplex(types[0]))
      value = sdy::ShardingPerValueAttr::get(builder.getContext(), {whole, whole});
    state.addAttribute(attribute.getName(), value);
  }
  for (Region& region : op->getRegions()) state.addRegion()->takeBody(region);
  return builder.create(state);
}
