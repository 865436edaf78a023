// Affine index expressions over loop variables: how the elements of one tensor are found from those of another, with
// division by constants simplified symbolically. Variables run from 0 to extent - 1. No IR.
#ifndef SGD_TARGETS_KERNELS_INDEX_EXPR_H
#define SGD_TARGETS_KERNELS_INDEX_EXPR_H

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd::kernels {

/// constant + sum of coefficient * variable; terms are sorted by variable and have non-zero coefficients.
class IndexExpr {
 public:
  struct Term {
    unsigned var;
    int64_t coefficient;
    bool operator==(const Term& other) const { return var == other.var && coefficient == other.coefficient; }
  };

  IndexExpr() = default;
  IndexExpr(int64_t constant) : constant(constant) {}
  static IndexExpr variable(unsigned var) {
    IndexExpr result;
    result.terms.push_back({var, 1});
    return result;
  }

  IndexExpr operator+(const IndexExpr& other) const;
  IndexExpr operator*(int64_t factor) const;
  bool operator==(const IndexExpr& other) const { return constant == other.constant && terms == other.terms; }

  int64_t coefficient(unsigned var) const;
  llvm::ArrayRef<Term> getTerms() const { return terms; }
  int64_t getConstant() const { return constant; }

  friend llvm::hash_code hash_value(const IndexExpr& expr);

 private:
  llvm::SmallVector<Term, 4> terms;
  int64_t constant = 0;
  friend class IndexSpace;
};

/// A request to write variable `var` as hi * stride + lo with lo < stride.
struct SplitRequest {
  unsigned var;
  int64_t stride;
};

/// The variables' extents, and what follows from them.
class IndexSpace {
 public:
  /// A new variable in [0, extent).
  unsigned add(int64_t extent) {
    extents.push_back(extent);
    return extents.size() - 1;
  }
  int64_t extent(unsigned var) const { return extents[var]; }
  unsigned size() const { return extents.size(); }

  /// Smallest and largest value of `expr`.
  std::pair<int64_t, int64_t> range(const IndexExpr& expr) const;

  /// expr = quotient * divisor + remainder with 0 <= remainder < divisor, when both are affine.
  std::optional<std::pair<IndexExpr, IndexExpr>> divide(const IndexExpr& expr, int64_t divisor) const;

  /// A split of one variable that brings divide(expr, divisor) closer to success.
  std::optional<SplitRequest> splitFor(const IndexExpr& expr, int64_t divisor) const;

 private:
  llvm::SmallVector<int64_t> extents;
};

}  // namespace mlir::sgd::kernels

#endif
