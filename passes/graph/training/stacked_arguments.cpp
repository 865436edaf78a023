// Names find arguments: programs share tensors by them.
#include "passes/graph/training/stacked_arguments.h"

#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_names.h"
#include "dialects/sgd/tensor_parts.h"
#include "llvm/ADT/StringMap.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

SmallVector<NamedAttribute> mlir::sgd::getStackAttributes(Builder& builder, Role role, ArrayRef<std::string> names,
                                                          ArrayRef<SmallVector<int64_t>> shapes, ArrayAttr axes) {
  std::string name = names.front() + "+" + std::to_string(names.size() - 1);
  auto partNames = llvm::map_to_vector(names, [](const std::string& part) { return StringRef(part); });
  auto partShapes = llvm::map_to_vector(
      shapes, [&](ArrayRef<int64_t> shape) -> Attribute { return builder.getDenseI64ArrayAttr(shape); });
  return {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name)),
          builder.getNamedAttr(kRoleAttr, RoleAttr::get(builder.getContext(), role)),
          builder.getNamedAttr(kPartNamesAttr, builder.getStrArrayAttr(partNames)),
          builder.getNamedAttr(kPartShapesAttr, builder.getArrayAttr(partShapes)),
          builder.getNamedAttr(kAxesAttr, builder.getArrayAttr(Attribute(axes)))};
}

void mlir::sgd::addParts(func::FuncOp function, unsigned argument, SmallVectorImpl<NamedAttribute>& attributes) {
  for (StringRef name : {StringRef(kPartNamesAttr), StringRef(kPartShapesAttr)})
    if (Attribute parts = function.getArgAttr(argument, name))
      attributes.emplace_back(StringAttr::get(function.getContext(), name), parts);
}

static llvm::StringMap<unsigned> getPositions(func::FuncOp function) {
  llvm::StringMap<unsigned> positions;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    positions[getInputName(function, argument)] = argument;
  return positions;
}

/// The element type that all uses round all parameters to: what is gathered. Null where there is none.
static Type getNarrowType(ArrayRef<BlockArgument> parameters) {
  Type narrow;
  for (BlockArgument parameter : parameters)
    for (Operation* user : parameter.getUsers()) {
      Type element = isa<arith::TruncFOp>(user) ? tensorType(user->getResult(0)).getElementType() : Type();
      if (!element || (narrow && narrow != element)) return {};
      narrow = element;
    }
  return narrow;
}

unsigned mlir::sgd::addStackedParameters(func::FuncOp function, const ParameterStack& stack, const MatrixRanks& ranks) {
  llvm::StringMap<unsigned> positions = getPositions(function);
  SmallVector<BlockArgument> members;
  SmallVector<SmallVector<int64_t>> shapes;
  for (const std::string& name : stack.names) {
    members.push_back(function.getArgument(positions.at(name)));
    shapes.emplace_back(shapeOf(members.back()));
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  TensorMath math(builder, members.front().getLoc());
  MatrixStackWriter writer(math, ranks, shapes, stack.slots, stack.owners);
  unsigned position = function.getNumArguments();
  Type type = writer.getType(tensorType(members.front()).getElementType());
  SmallVector<NamedAttribute> attributes = getStackAttributes(builder, Role::Parameter, stack.names, shapes,
                                                              getStackAxes(function.getContext(), ranks, stack.owners));
  (void)function.insertArgument(position, type, builder.getDictionaryAttr(attributes), members.front().getLoc());
  Value argument = function.getArgument(position);
  if (Type narrow = getNarrowType(members)) {
    for (auto [member, row] : llvm::zip(members, writer.gather(math.convert(argument, narrow))))
      for (Operation* user : llvm::make_early_inc_range(member.getUsers())) {
        user->replaceAllUsesWith(ValueRange(row));
        user->erase();
      }
    return position;
  }
  // An op whose result is asked for whole.
  Value whole = math.create<ReshapeOp>(type, argument);
  for (auto [member, row] : llvm::zip(members, writer.gather(whole))) member.replaceAllUsesWith(row);
  return position;
}

void mlir::sgd::eraseParameters(func::FuncOp function, ArrayRef<ParameterStack> stacks) {
  llvm::StringMap<unsigned> positions = getPositions(function);
  llvm::BitVector erased(function.getNumArguments());
  for (const ParameterStack& stack : stacks)
    for (const std::string& name : stack.names) erased.set(positions.at(name));
  if (erased.none()) return;
  SmallVector<int64_t> next;  // positions afterwards
  for (unsigned argument = 0, kept = 0; argument < erased.size(); ++argument)
    next.push_back(erased[argument] ? -1 : static_cast<int64_t>(kept++));
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto carried = function.getResultAttrOfType<IntegerAttr>(result, kCarryAttr))
      function.setResultAttr(result, kCarryAttr,
                             IntegerAttr::get(carried.getType(), next[carried.getValue().getSExtValue()]));
  (void)function.eraseArguments(erased);
}
