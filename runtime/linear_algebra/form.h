// Decompositions, solvers and Fourier transforms in numbers: the tensors of one matrix that each kind reads and writes,
// its working memory and its work. Dialects, the artifact's verifier and devices all ask here; it knows none of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sgd::linear_algebra {

// In the order of artifact::LinearAlgebraKind. A comment names the LAPACK routine whose results these are, signs
// included: m by n is the size of the main operand, p = min(m, n); `info` is that routine's, 0 where all went well, and
// -1 for an operand of kEigh, kSvd, kEig or kSchur that is not finite: iterations on one need not end, and its results
// are NaNs. With kComplex it is the routine for complex matrices (ungqr, unmqr, heevd and hetrd for orgqr, ormqr, syevd
// and sytrd), and every complex tensor is two, its real parts and behind them its imaginary ones.
enum class Kind : uint8_t {
  kCholesky,             // potrf: a -> factor, info. The other triangle is that of a
  kTriangularSolve,      // trsm: a, b -> x with op(a) x = b, or x op(a) = b with kRight
  kLu,                   // getrf: a -> l and u, pivots [p] counted from 1, info
  kQr,                   // geqrf: a -> r and reflectors, taus [p]
  kPivotedQr,            // geqp3: a, pivots [n] -> r and reflectors, pivots [n], taus [p]
  kHouseholderProduct,   // orgqr: reflectors, taus [k] -> their product's first n columns
  kHouseholderMultiply,  // ormqr: reflectors, taus [k], c -> q c, or c q with kRight
  kEigh,                 // syevd: a -> (vectors,) values ascending, info
  kSvd,                  // gesdd, or gesvd with kQrIteration: a -> values descending, (u, v transposed,) info
  kEig,                  // geev: a -> values, (left vectors, vectors,) info. All but info are complex, whatever a is
  kSchur,                // gees: a -> t, (vectors,) eigenvalues, info. Eigenvalues are complex, whatever a is
  kHessenberg,           // gehrd: a -> h and reflectors, taus [n - 1], info
  kTridiagonal,          // sytrd: a -> reflectors, diagonal [n], off-diagonal [n - 1], taus [n - 1], info
  kTridiagonalSolve,     // gtsv: lower, main and upper diagonal [m], b -> x, info. Rows hold their element of each
                         // diagonal: lower[0] and upper[m - 1] are not read
  // Discrete Fourier transforms over the last 1 to 3 dimensions, by code of the device; results of
  // inverse ones are divided by the number of elements.
  kFft,             // re, im -> re, im
  kRealFft,         // x -> re, im [.., n / 2 + 1]
  kInverseRealFft,  // re, im [.., n / 2 + 1] -> x; imaginary parts that are zero for any x are not read
};
inline constexpr uint8_t kNumKinds = 17;

enum Option : uint32_t {
  kLower = 1,             // the lower triangle holds the matrix, not the upper one
  kRight = 2,             // the triangular or orthogonal matrix stands right of the other
  kTranspose = 4,         // op(a) is the transposed a
  kUnitDiagonal = 8,      // the diagonal counts as ones
  kVectors = 16,          // eigenvectors (of kEig those from the right), singular or Schur vectors too
  kLeftVectors = 32,      // of kEig
  kFull = 64,             // u [m, m] and v [n, n], not only their first p
  kQrIteration = 128,     // by QR iteration, not by divide and conquer
  kInverse = 256,         // of kFft: with the conjugate roots
  kOddLength = 512,       // of kInverseRealFft: n is odd
  kTwoDims = 1024,        // [m, n] are transformed
  kThreeDims = 2048,      // [k, m, n] are
  kPairedOperand = 4096,  // real and imaginary parts are interleaved in one tensor [.., 2]
  kPairedResult = 8192,
  kComplex = 16384,    // the matrices are complex
  kConjugate = 32768,  // with kComplex and kTranspose: op(a) is the conjugate of the transposed a
};

// One call for one matrix, or one tensor that is transformed. k: reflectors of kHouseholder*, the third dimension of
// transforms, otherwise 0. Dimensions that are not transformed are 1.
struct Form {
  Kind kind = Kind::kCholesky;
  uint32_t options = 0;
  uint64_t m = 0, n = 0, k = 0;

  bool Has(Option option) const { return (options & option) != 0; }
  uint64_t p() const { return m < n ? m : n; }
  // The size of the triangular or orthogonal matrix that meets one of m by n.
  uint64_t other() const { return Has(kRight) ? n : m; }
};

// A dimension behind the batch. Free: columns (or rows) that nothing combines; all free ones of a call are one.
struct Dim {
  uint64_t size;
  bool is_free = false;
};

// An operand or result of one matrix. Elements are those of the call, or 32-bit integers.
struct Tensor {
  std::string name;
  std::vector<Dim> dims;
  bool is_integer = false;
  bool is_imaginary = false;  // the imaginary parts of the tensor before it, which holds the real ones

  uint64_t Elements() const;
};

inline bool IsTransform(Kind kind) { return kind >= Kind::kFft; }

// Transforms of rows of more elements need working memory beside a thread's.
inline constexpr uint64_t kMostRowOfThread = uint64_t{1} << 17;

// Of the main operand or a result, without the dimension of pairs: 2 for matrices, otherwise what is transformed.
uint32_t DimsOf(Kind kind, uint32_t options);

// "cholesky", ...
const char* KindName(Kind kind);

// How many operands calls of a kind with `options` have, the position of the main one, whose last two dimensions are m
// and n, and that of the one whose last dimension is k (or -1).
struct Operands {
  uint32_t count;
  uint32_t main;
  int32_t reflectors;
};
Operands OperandsOf(Kind kind, uint32_t options);

std::vector<Tensor> InputsOf(const Form& form);
std::vector<Tensor> OutputsOf(const Form& form);

// Why there is no such call: options that the kind has not, sizes of 0, of the wrong relation or beyond LAPACK's 32-bit
// integers. Empty when there is one. `kind` must be one of the enum's.
std::string WhyNot(const Form& form);

// Working memory of one call: in this order copies of matrices, two kinds of elements and 32-bit integers, each part
// aligned to 64 bytes. `work` is what LAPACK documents as enough, and blocks of 64 columns; `reals` is what its complex
// routines need beside.
struct Workspace {
  uint64_t matrices = 0, work = 0;  // elements; of complex matrices complex ones
  uint64_t reals = 0, integers = 0;
  bool is_complex = false;
  // Of real elements of `element_bytes`; a multiple of 64.
  uint64_t Bytes(uint64_t element_bytes) const;
};
Workspace WorkspaceOf(const Form& form);

// Calls that may run at a time for a batch, each in a workspace of its own: 1 to 64, of 32 MiB together where one call
// needs less. It follows from sizes alone, so that the plan's memory does.
uint64_t LanesFor(const Form& form, uint64_t batch, uint64_t element_bytes);

// Floating-point operations of one call, about.
uint64_t FlopsOf(const Form& form);

}  // namespace sgd::linear_algebra
