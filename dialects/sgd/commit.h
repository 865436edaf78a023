// Conditional commits: a result of a step decides whether the step's other results become the state of the next one.
#ifndef SGD_DIALECTS_SGD_COMMIT_H
#define SGD_DIALECTS_SGD_COMMIT_H

#include <optional>

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::sgd {

/// UnitAttr of one result of a function, a scalar i1 that is not carried: where it is false, carried state keeps the
/// values that it had before the step.
inline constexpr llvm::StringLiteral kCommitAttr = "sgd.commit";

/// That result.
std::optional<unsigned> getCommit(FunctionOpInterface function);

bool isCommitType(Type type);

/// Whether `attribute` may stand at result `result` of `function`.
LogicalResult verifyCommitAttribute(FunctionOpInterface function, unsigned result, Attribute attribute);

/// `next` where the scalar `commit` is true, else `last`, of the same type.
Value selectCommitted(OpBuilder& builder, Location loc, Value commit, Value next, Value last);

}  // namespace mlir::sgd

#endif
