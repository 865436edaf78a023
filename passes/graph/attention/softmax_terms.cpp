// Sums of products, kept with one term for each combination of powers.
#include "passes/graph/attention/softmax_terms.h"

#include <cmath>

using namespace mlir::sgd;

/// Constants of programs are rounded; they are equal when they differ by less.
static constexpr double kEqual = 1e-5;

void SoftmaxTerms::add(Term term) {
  if (term.factor == 0) return;
  for (Term& known : terms)
    if (known.hasPowersOf(term)) {
      double sum = known.factor + term.factor;
      bool cancels = std::abs(sum) <= kEqual * std::abs(term.factor);
      known.factor = sum;
      if (cancels) terms.erase(&known);
      return;
    }
  terms.push_back(term);
}

SoftmaxTerms SoftmaxTerms::operator+(const SoftmaxTerms& other) const {
  SoftmaxTerms sum = *this;
  for (const Term& term : other.terms) sum.add(term);
  return sum;
}

SoftmaxTerms SoftmaxTerms::operator*(const SoftmaxTerms& other) const {
  SoftmaxTerms product;
  for (const Term& x : terms)
    for (const Term& y : other.terms) product.add({x.factor * y.factor, x.e + y.e, x.g + y.g, x.l + y.l, x.t + y.t});
  return product;
}

std::optional<SoftmaxTerms> SoftmaxTerms::dividedBy(const SoftmaxTerms& other) const {
  if (other.terms.size() != 1) return std::nullopt;
  const Term& divisor = other.terms.front();
  return *this * SoftmaxTerms({1 / divisor.factor, -divisor.e, -divisor.g, -divisor.l, -divisor.t});
}

std::optional<SoftmaxTerms> SoftmaxTerms::sumOverRow() const {
  SoftmaxTerms sum;
  for (Term term : terms) {
    if (term.e != 1 || term.g < 0 || term.g > 1) return std::nullopt;
    (term.g == 0 ? term.l : term.t) += 1;
    term.e = term.g = 0;
    sum.add(term);
  }
  return sum;
}

bool SoftmaxTerms::has(Term wanted) const {
  for (const Term& term : terms)
    if (term.hasPowersOf(wanted)) return std::abs(term.factor - wanted.factor) <= kEqual * std::abs(wanted.factor);
  return false;
}

bool SoftmaxTerms::isWeight() const { return terms.size() == 1 && has({1, 1, 0, -1, 0}); }

bool SoftmaxTerms::isScoreGradient(double scale) const {
  return terms.size() == 2 && has({scale, 1, 1, -1, 0}) && has({-scale, 1, 0, -2, 1});
}
