// Arithmetic on affine index expressions.
#include "targets/kernels/index_expr.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd::kernels;

IndexExpr IndexExpr::operator+(const IndexExpr& other) const {
  IndexExpr result(constant + other.constant);
  auto left = terms.begin(), right = other.terms.begin();
  while (left != terms.end() || right != other.terms.end()) {
    if (right == other.terms.end() || (left != terms.end() && left->var < right->var)) {
      result.terms.push_back(*left++);
    } else if (left == terms.end() || right->var < left->var) {
      result.terms.push_back(*right++);
    } else {
      if (int64_t sum = left->coefficient + right->coefficient) result.terms.push_back({left->var, sum});
      ++left, ++right;
    }
  }
  return result;
}

IndexExpr IndexExpr::operator*(int64_t factor) const {
  if (factor == 0) return IndexExpr();
  IndexExpr result = *this;
  result.constant *= factor;
  for (Term& term : result.terms) term.coefficient *= factor;
  return result;
}

int64_t IndexExpr::coefficient(unsigned var) const {
  for (const Term& term : terms)
    if (term.var == var) return term.coefficient;
  return 0;
}

llvm::hash_code mlir::sgd::kernels::hash_value(const IndexExpr& expr) {
  llvm::hash_code hash = llvm::hash_value(expr.constant);
  for (const IndexExpr::Term& term : expr.terms) hash = llvm::hash_combine(hash, term.var, term.coefficient);
  return hash;
}

std::pair<int64_t, int64_t> IndexSpace::range(const IndexExpr& expr) const {
  int64_t low = expr.constant, high = expr.constant;
  for (const IndexExpr::Term& term : expr.terms) {
    int64_t reach = term.coefficient * (extents[term.var] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

static int64_t floorDivide(int64_t value, int64_t divisor) {
  int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

std::optional<std::pair<IndexExpr, IndexExpr>> IndexSpace::divide(const IndexExpr& expr, int64_t divisor) const {
  IndexExpr quotient, remainder;
  for (const IndexExpr::Term& term : expr.terms) {
    if (term.coefficient % divisor == 0)
      quotient.terms.push_back({term.var, term.coefficient / divisor});
    else
      remainder.terms.push_back(term);
  }
  remainder.constant = expr.constant;
  auto [low, high] = range(remainder);
  int64_t carry = floorDivide(low, divisor);
  if (floorDivide(high, divisor) != carry) return std::nullopt;
  quotient.constant = carry;
  remainder.constant -= carry * divisor;
  return std::make_pair(quotient, remainder);
}

std::optional<SplitRequest> IndexSpace::splitFor(const IndexExpr& expr, int64_t divisor) const {
  std::optional<SplitRequest> best;
  int64_t bestReach = 0;
  for (const IndexExpr::Term& term : expr.terms) {
    int64_t coefficient = std::abs(term.coefficient), extent = extents[term.var];
    if (coefficient % divisor == 0 || divisor % coefficient != 0) continue;
    int64_t stride = divisor / coefficient;
    if (stride <= 1 || stride >= extent || extent % stride != 0) continue;
    if (coefficient * extent <= bestReach) continue;
    bestReach = coefficient * extent;
    best = SplitRequest{term.var, stride};
  }
  return best;
}
