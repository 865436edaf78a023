// Tables of roots of unity for discrete Fourier transforms, rounded once from extended precision. No IR.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_ROOTS_OF_UNITY_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_ROOTS_OF_UNITY_H

#include <cstdint>
#include <vector>

namespace mlir::sgd {

struct Root {
  long double re, im;
};

/// exp(2 pi i k / n), to the last bit but one of the type; `k` may be any number.
Root rootOfUnity(int64_t k, int64_t n);

/// (k l) mod n without overflow.
int64_t multiplyModulo(int64_t k, int64_t l, int64_t n);

/// Sum over j of x[j] exp(-2 pi i j k / n), for sizes of small prime factors.
std::vector<Root> transformOnHost(const std::vector<Root>& x);

/// A factor of n at most `largest` from which the rest of n is best transformed by itself: the largest that leaves
/// factors of about equal size; 1 where there is none.
int64_t chooseFactor(int64_t n, int64_t largest);

/// The least number from `least` on that has no prime factor above 5; a multiple of 64 unless it is short.
int64_t getSmoothSize(int64_t least);

}  // namespace mlir::sgd

#endif
