// Roles: what the arguments and the results of a program are for.
#ifndef SGD_DIALECTS_SGD_ROLES_H
#define SGD_DIALECTS_SGD_ROLES_H

#include <optional>

#include "dialects/sgd/sgd_dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "dialects/sgd/role_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/sgd/role_attrs.h.inc"

namespace mlir::sgd {

/// RoleAttr of an argument or a result of a program; goes through to the artifact.
inline constexpr llvm::StringLiteral kRoleAttr = "sgd.role";

/// The name of the argument, and of the result, that a frontend adds for the state of a random generator.
inline constexpr llvm::StringLiteral kGeneratorName = "rng_state";

/// The role of an argument; one without the attribute is an input. After `sgd-assign-roles` every argument has it.
Role getRole(FunctionOpInterface function, unsigned argument);

/// The role of a result: nothing for carried ones, and for tensors that nobody has called a metric.
std::optional<Role> getResultRole(FunctionOpInterface function, unsigned result);

/// The first result with `role`; the only one where that is Loss or Commit.
std::optional<unsigned> findResult(FunctionOpInterface function, Role role);

void setResultRole(FunctionOpInterface function, unsigned result, Role role);

/// Whether an argument of the role is part of what a training saves, in contrast to what it is fed.
inline bool isState(Role role) { return role != Role::Input; }

/// Whether the forward pass reads state of the role.
inline bool isReadByLoss(Role role) {
  return role == Role::Parameter || role == Role::Buffer || role == Role::Generator;
}

/// Types of results, as tensors or as the buffers that they become: a floating-point scalar, a scalar i1.
bool isLossType(Type type);
bool isCommitType(Type type);

/// Whether `attribute` may be the role of the argument, or of the result, `index` of `function`.
LogicalResult verifyArgumentRole(FunctionOpInterface function, unsigned index, Attribute attribute);
LogicalResult verifyResultRole(FunctionOpInterface function, unsigned index, Attribute attribute);

}  // namespace mlir::sgd

#endif
