// Angles are reduced to an eighth of the circle exactly, in integers; see roots_of_unity.h.
#include "frontends/stablehlo/complex/roots_of_unity.h"

#include <cmath>
#include <utility>

using namespace mlir;

int64_t mlir::sgd::multiplyModulo(int64_t k, int64_t l, int64_t n) {
  auto product = static_cast<__int128>(k) * l % n;
  return static_cast<int64_t>(product < 0 ? product + n : product);
}

mlir::sgd::Root mlir::sgd::rootOfUnity(int64_t k, int64_t n) {
  k = multiplyModulo(k, 1, n);
  // Reduces to a quarter, then mirrors its second half: 8 rest <= 4 n.
  auto turned = static_cast<__int128>(4) * k;
  int quarter = static_cast<int>(turned / n);
  auto rest = turned % n;  // of n for a quarter
  bool mirrors = 2 * rest > n;
  if (mirrors) rest = n - rest;
  constexpr long double kHalfPi = 1.57079632679489661923132169163975144L;
  long double angle = kHalfPi * static_cast<long double>(rest) / static_cast<long double>(n);
  Root root{std::cos(angle), std::sin(angle)};
  if (2 * rest == n) root.im = root.re;
  if (mirrors) std::swap(root.re, root.im);
  for (; quarter > 0; --quarter) root = {-root.im, root.re};
  return {root.re + 0.0L, root.im + 0.0L};  // no negative zeros
}

std::vector<mlir::sgd::Root> mlir::sgd::transformOnHost(const std::vector<Root>& x) {
  auto n = static_cast<int64_t>(x.size());
  int64_t radix = 2;
  while (radix < n && n % radix != 0) ++radix;
  if (n < 2) return x;
  // Every radix-th element by itself, then together.
  std::vector<std::vector<Root>> parts(radix);
  for (int64_t j = 0; j < n; ++j) parts[j % radix].push_back(x[j]);
  if (radix < n)
    for (std::vector<Root>& part : parts) part = transformOnHost(part);
  std::vector<Root> sums(n, Root{0, 0});
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < radix; ++j) {
      Root root = rootOfUnity(multiplyModulo(j, k, n), n), value = parts[j][k % (n / radix)];
      sums[k].re += value.re * root.re + value.im * root.im;
      sums[k].im += value.im * root.re - value.re * root.im;
    }
  return sums;
}

int64_t mlir::sgd::chooseFactor(int64_t n, int64_t largest) {
  // As few factors as possible, then the one nearest to an equal share.
  int stages = 1;
  for (long double share = n; share > largest; ++stages)
    share = std::pow(static_cast<long double>(n), 1.0L / (stages + 1));
  long double target = std::pow(static_cast<long double>(n), 1.0L / stages);
  int64_t best = 1;
  for (int64_t factor = 2; factor <= largest; ++factor) {
    if (n % factor != 0 || factor == n) continue;
    auto distance = [&](int64_t f) { return std::fabs(std::log(static_cast<long double>(f) / target)); };
    if (best == 1 || distance(factor) < distance(best)) best = factor;
  }
  return best;
}

int64_t mlir::sgd::getSmoothSize(int64_t least) {
  // Factors that are whole vectors are faster than a few elements less.
  int64_t step = least > 256 ? 64 : 1;
  for (int64_t size = (least + step - 1) / step * step;; size += step) {
    int64_t rest = size;
    for (int64_t prime : {2, 3, 5})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return size;
  }
}
