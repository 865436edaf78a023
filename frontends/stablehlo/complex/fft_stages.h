// Discrete Fourier transforms as matmuls with tables of roots of unity.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_FFT_STAGES_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_FFT_STAGES_H

#include <functional>

#include "frontends/stablehlo/complex/real_math.h"
#include "frontends/stablehlo/complex/roots_of_unity.h"

namespace mlir::sgd {

/// Transforms along the last dimension. Complex tensors are planes: [batch.., 2, n], real parts before imaginary ones,
/// so that a complex matmul is one real matmul with twice the rows and columns.
class FftStages {
 public:
  explicit FftStages(RealMath& math) : m(math) {}

  /// Sum over j of x[j] exp(sign 2 pi i j k / n), times `factor`.
  Value transform(Value planes, int sign, long double factor);
  /// Elements 0 to n / 2 of the transform (sign -1) of the real tensor [batch.., n].
  Value transformReal(Value x);
  /// The real tensor [batch.., n] of which [batch.., 2, n / 2 + 1] are the first elements of the transform; the
  /// imaginary parts that are zero for any real tensor are not read.
  Value invertToReal(Value planes, int64_t n);

 private:
  /// By one table of n x n.
  Value multiplyByTable(Value planes, int sign, long double factor);
  /// J. Cooley, J. Tukey: n1 transforms of size n / n1 after n / n1 transforms of size n1.
  Value split(Value planes, int64_t n1, int sign, long double factor);
  /// L. Bluestein: any n as a cyclic convolution of a size that splits.
  Value convolve(Value planes, int sign, long double factor);

  /// x * y for planes x [.., 2, k] and roots [.., 2, k] that `get(position)` gives for the positions in `shape`.
  Value multiplyByRoots(Value planes, ArrayRef<int64_t> tableShape, ArrayRef<int64_t> dims, int64_t planeDim,
                        const std::function<Root(ArrayRef<int64_t>)>& get);
  Value conjugate(Value planes, int64_t planeDim);
  /// Without the imaginary parts of elements 0 and n / 2, which are zero for real tensors.
  Value ignoreImaginaryEnds(Value planes, int64_t n);
  /// Elements of the shape by position, in row-major order.
  Value table(ArrayRef<int64_t> shape, const std::function<long double(ArrayRef<int64_t>)>& get);
  Value contract(Value lhs, Value table, ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> tableDims);
  Type getElement(Value x) { return tensorType(x).getElementType(); }

  RealMath& m;
  Type element;
};

}  // namespace mlir::sgd

#endif
