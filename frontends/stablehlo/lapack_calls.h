// LAPACK's routines as JAX calls them: what their parameters mean and which of their results the graph has.
#ifndef SGD_FRONTENDS_STABLEHLO_LAPACK_CALLS_H
#define SGD_FRONTENDS_STABLEHLO_LAPACK_CALLS_H

#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// What becomes of a call's result: the position of the graph op's, or one of these.
constexpr int kUnspecified = -1;  ///< working memory: nobody may use it
constexpr int kZero = -2;         ///< 0 always

struct LapackCall {
  LinearAlgebraKind kind;
  uint32_t options = 0;
  SmallVector<int, 6> results;
};

/// The call of `routine` ("potrf", ...) with the parameters of `l`, a custom call. Fails, with a diagnostic, for
/// parameters that it does not know; nullopt for an unknown routine.
std::optional<FailureOr<LapackCall>> getLapackCall(OpLowering& l, StringRef routine);

/// The known routines, with commas between.
std::string getLapackRoutines();

}  // namespace mlir::sgd

#endif
