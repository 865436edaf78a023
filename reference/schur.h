// Schur forms and eigenvectors of matrices of any kind, in doubles. The order of eigenvalues, and phases of vectors,
// are those of the iterations here, which LAPACK's do not share.
#ifndef SGD_REFERENCE_SCHUR_H
#define SGD_REFERENCE_SCHUR_H

#include <vector>

#include "reference/matrices.h"

namespace mlir::sgd::reference {

/// a = z t z^T (of complex matrices z t z^H). t is upper triangular, but for a block of two rows on the diagonal of a
/// real one for each pair of eigenvalues that are not real, which stands with the positive imaginary part first.
template <typename T>
struct Schur {
  MatrixOf<T> t, z;
  std::vector<ComplexNumber> values;
  bool hasConverged = true;
};

Schur<double> decomposeSchur(const Matrix& a);
Schur<ComplexNumber> decomposeSchur(const ComplexMatrix& a);

/// a v = v diag(values) and u^H a = diag(values) u^H; columns of both have norm 1 and a largest element that is real.
struct Eigenvectors {
  std::vector<ComplexNumber> values;
  ComplexMatrix left, right;
  bool hasConverged = true;
};

Eigenvectors getEigenvectors(const ComplexMatrix& a);

}  // namespace mlir::sgd::reference

#endif
