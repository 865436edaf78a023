// LAPACK's routines as JAX calls them: what their parameters mean and which of their results the graph has.
#ifndef SGD_FRONTENDS_STABLEHLO_LAPACK_CALLS_H
#define SGD_FRONTENDS_STABLEHLO_LAPACK_CALLS_H

#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/op_lowering.h"

namespace mlir::sgd {

/// The result of the graph op that replaces a call's result, counting a complex one's parts once, or one of these.
constexpr int kUnspecified = -1;         ///< working memory, complex as the matrices are: nobody may use it
constexpr int kUnspecifiedComplex = -2;  ///< the same, complex always
constexpr int kZero = -3;                ///< 0 always

struct LapackCall {
  LinearAlgebraKind kind;
  uint32_t options = 0;
  SmallVector<int, 6> results;

  /// The same for results that are parts: the positions of the op's, and kUnspecified or kZero for others.
  SmallVector<int> getPartResults() const;
};

/// The call of `routine` ("potrf", "ungqr", ...), which is one for complex matrices or not, with the parameters of `l`,
/// a custom call on parts. Fails, with a diagnostic, for parameters that it does not know; nullopt for an unknown
/// routine.
std::optional<FailureOr<LapackCall>> getLapackCall(OpLowering& l, StringRef routine, bool isComplex);

/// The known routines for complex matrices or for others, with commas between.
std::string getLapackRoutines(bool isComplex);

}  // namespace mlir::sgd

#endif
