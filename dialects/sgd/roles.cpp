// Access to the attribute, and which roles fit which types.
#include "dialects/sgd/roles.h"

#include "llvm/ADT/Sequence.h"

#include "dialects/sgd/role_enums.cpp.inc"

using namespace mlir;
using namespace mlir::sgd;

Role mlir::sgd::getRole(FunctionOpInterface function, unsigned argument) {
  auto role = function.getArgAttrOfType<RoleAttr>(argument, kRoleAttr);
  return role ? role.getValue() : Role::Input;
}

std::optional<Role> mlir::sgd::getResultRole(FunctionOpInterface function, unsigned result) {
  auto role = function.getResultAttrOfType<RoleAttr>(result, kRoleAttr);
  return role ? std::optional(role.getValue()) : std::nullopt;
}

std::optional<unsigned> mlir::sgd::findResult(FunctionOpInterface function, Role role) {
  for (unsigned result : llvm::seq(function.getNumResults()))
    if (getResultRole(function, result) == role) return result;
  return std::nullopt;
}

void mlir::sgd::setResultRole(FunctionOpInterface function, unsigned result, Role role) {
  function.setResultAttr(result, kRoleAttr, RoleAttr::get(function.getContext(), role));
}

/// Whether it is a tensor, or the buffer that one has become, without dimensions.
static bool isScalar(ShapedType type) { return type && type.hasRank() && type.getRank() == 0; }

bool mlir::sgd::isLossType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return isScalar(shaped) && isa<FloatType>(shaped.getElementType());
}

bool mlir::sgd::isCommitType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return isScalar(shaped) && shaped.getElementType().isInteger(1);
}

static bool isGeneratorType(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.getElementType().isInteger(64) && shaped.getShape() == ArrayRef<int64_t>{2};
}

static bool hasFloats(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && isa<FloatType>(shaped.getElementType());
}

static bool isOfArgument(Role role) { return role < Role::Loss; }

/// `what` has the index `index` and the type `type`.
static LogicalResult refuseRole(FunctionOpInterface function, StringRef what, unsigned index, Type type, Role role,
                                StringRef expected) {
  return function.emitOpError() << what << " " << index << " has the role '" << stringifyRole(role) << "' and is "
                                << type << "; expected " << expected;
}

static LogicalResult refuseForm(FunctionOpInterface function) {
  return function.emitOpError() << "'" << kRoleAttr << "' expects #sgd.role<...>";
}

LogicalResult mlir::sgd::verifyArgumentRole(FunctionOpInterface function, unsigned index, Attribute attribute) {
  auto role = dyn_cast<RoleAttr>(attribute);
  if (!role) return refuseForm(function);
  Type type = function.getArgumentTypes()[index];
  auto refuse = [&](StringRef expected) {
    return refuseRole(function, "argument", index, type, role.getValue(), expected);
  };
  if (!isOfArgument(role.getValue())) return refuse("a role of arguments, such as 'parameter'");
  if (role.getValue() == Role::Generator && !isGeneratorType(type)) return refuse("two integers of 64 bits");
  if (role.getValue() == Role::CompressionError && !hasFloats(type)) return refuse("floats");
  return success();
}

LogicalResult mlir::sgd::verifyResultRole(FunctionOpInterface function, unsigned index, Attribute attribute) {
  auto role = dyn_cast<RoleAttr>(attribute);
  if (!role) return refuseForm(function);
  Type type = function.getResultTypes()[index];
  auto refuse = [&](StringRef expected) {
    return refuseRole(function, "result", index, type, role.getValue(), expected);
  };
  if (isOfArgument(role.getValue())) return refuse("a role of results, such as 'metric'");
  if (role.getValue() == Role::Metric) return success();
  if (role.getValue() == Role::Loss && !isLossType(type)) return refuse("a floating-point scalar");
  if (role.getValue() == Role::Commit && !isCommitType(type)) return refuse("a scalar i1");
  if (unsigned first = *findResult(function, role.getValue()); first != index)
    return function.emitOpError() << "results " << first << " and " << index << " have the role '"
                                  << stringifyRole(role.getValue()) << "'; expected one";
  return success();
}
