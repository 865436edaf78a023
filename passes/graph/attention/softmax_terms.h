// A small algebra in which the weights of a softmax and the gradient of its scores have one form, however they are
// written. Plain C++, no IR.
#ifndef SGD_PASSES_GRAPH_ATTENTION_SOFTMAX_TERMS_H
#define SGD_PASSES_GRAPH_ATTENTION_SOFTMAX_TERMS_H

#include <optional>

#include "llvm/ADT/SmallVector.h"

namespace mlir::sgd {

/// A sum of products of powers of four quantities: the exponential `e` of a score less its row's largest one, the
/// gradient `g` of its weight, and, per row, the sums `l` of e and `t` of e * g.
class SoftmaxTerms {
 public:
  static SoftmaxTerms constant(double value) { return SoftmaxTerms({value, 0, 0, 0, 0}); }
  static SoftmaxTerms exponential() { return SoftmaxTerms({1, 1, 0, 0, 0}); }
  static SoftmaxTerms weightGradient(double factor) { return SoftmaxTerms({factor, 0, 1, 0, 0}); }

  SoftmaxTerms operator+(const SoftmaxTerms& other) const;
  SoftmaxTerms operator-(const SoftmaxTerms& other) const { return *this + other * constant(-1); }
  SoftmaxTerms operator*(const SoftmaxTerms& other) const;
  /// nullopt unless `other` is one product, not zero.
  std::optional<SoftmaxTerms> dividedBy(const SoftmaxTerms& other) const;
  /// The sum over a row; nullopt unless it is made of l and t.
  std::optional<SoftmaxTerms> sumOverRow() const;

  /// e / l.
  bool isWeight() const;
  /// scale * e / l * (g - t / l): the gradient of the score before it was scaled.
  bool isScoreGradient(double scale) const;

 private:
  struct Term {
    double factor = 0;
    int e = 0, g = 0, l = 0, t = 0;

    bool hasPowersOf(const Term& other) const { return e == other.e && g == other.g && l == other.l && t == other.t; }
  };

  explicit SoftmaxTerms(Term term) { add(term); }
  SoftmaxTerms() = default;
  void add(Term term);
  bool has(Term term) const;

  llvm::SmallVector<Term, 2> terms;  // of different powers, no factor is 0
};

}  // namespace mlir::sgd

#endif
