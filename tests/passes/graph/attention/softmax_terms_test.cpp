// Forms of one softmax gradient have one normal form, and what is none is told apart.
#include "passes/graph/attention/softmax_terms.h"

#include <gtest/gtest.h>

using mlir::sgd::SoftmaxTerms;

namespace {

const SoftmaxTerms e = SoftmaxTerms::exponential(), g = SoftmaxTerms::weightGradient(1);

SoftmaxTerms c(double value) { return SoftmaxTerms::constant(value); }
SoftmaxTerms sum(const SoftmaxTerms& terms) { return *terms.sumOverRow(); }
SoftmaxTerms over(const SoftmaxTerms& x, const SoftmaxTerms& y) { return *x.dividedBy(y); }

TEST(SoftmaxTerms, Weights) {
  EXPECT_TRUE(over(e, sum(e)).isWeight());
  EXPECT_TRUE((e * over(c(1), sum(e))).isWeight());
  EXPECT_FALSE(e.isWeight());
  EXPECT_FALSE(over(e * c(2), sum(e)).isWeight());
  EXPECT_FALSE(over(e * e, sum(e)).isWeight());
}

TEST(SoftmaxTerms, Gradients) {
  SoftmaxTerms weight = over(e, sum(e));
  // As the derivative of softmax is written, and as differentiating exp, sum and division gives it.
  EXPECT_TRUE((weight * (g - sum(weight * g))).isScoreGradient(1));
  EXPECT_TRUE((weight * g - weight * sum(weight * g)).isScoreGradient(1));
  SoftmaxTerms inverseSquare = over(c(1), sum(e) * sum(e));
  SoftmaxTerms divided = over(g, sum(e)) + sum(g * inverseSquare * e) * c(-1);
  EXPECT_TRUE((divided * e).isScoreGradient(1));
  EXPECT_TRUE((divided * e * c(0.125)).isScoreGradient(0.125));
  EXPECT_TRUE(over(divided * e, c(8)).isScoreGradient(0.125));
}

TEST(SoftmaxTerms, WhatIsNone) {
  SoftmaxTerms weight = over(e, sum(e));
  EXPECT_FALSE((weight * g).isScoreGradient(1));
  EXPECT_FALSE((weight * (g + sum(weight * g))).isScoreGradient(1));
  EXPECT_FALSE((weight * (g - sum(e * g))).isScoreGradient(1));
  EXPECT_FALSE((weight * (g - sum(weight * g))).isScoreGradient(2));
  EXPECT_FALSE(g.sumOverRow().has_value());
  EXPECT_FALSE((e * e).sumOverRow().has_value());
  EXPECT_FALSE(e.dividedBy(e + g).has_value());
  EXPECT_FALSE(e.dividedBy(c(0)).has_value());
}

TEST(SoftmaxTerms, EqualTermsCancel) {
  EXPECT_TRUE((over(e, sum(e)) + g - g).isWeight());
  EXPECT_TRUE((over(e, sum(e)) * c(3) - over(e, sum(e)) * c(2)).isWeight());
}

}  // namespace
