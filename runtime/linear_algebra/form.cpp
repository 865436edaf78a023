// Shapes, then sizes of working memory as LAPACK's documentation of each routine gives them.
#include "runtime/linear_algebra/form.h"

#include <algorithm>
#include <array>

namespace sgd::linear_algebra {
namespace {

// Columns that LAPACK's blocked routines take at a time: 32 in all of them, 64 at most.
constexpr uint64_t kBlock = 64;
// The triangular factor that ormqr and gehrd keep beside: 65 columns of 64.
constexpr uint64_t kTriangularFactor = 65 * 64;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMostLanes = 64;
constexpr uint64_t kLaneBytes = uint64_t{32} << 20;
constexpr uint64_t kMostElements = (uint64_t{1} << 31) - 1;

struct KindInfo {
  const char* name;
  Operands operands;
  uint32_t options;
};

constexpr std::array<KindInfo, kNumKinds> kKinds = {{
    {"cholesky", {1, 0, -1}, kLower},
    {"triangular_solve", {2, 1, -1}, kLower | kRight | kTranspose | kUnitDiagonal},
    {"lu", {1, 0, -1}, 0},
    {"qr", {1, 0, -1}, 0},
    {"pivoted_qr", {2, 0, -1}, 0},
    {"householder_product", {2, 0, 1}, 0},
    {"householder_multiply", {3, 2, 1}, kRight | kTranspose},
    {"eigh", {1, 0, -1}, kLower | kVectors},
    {"svd", {1, 0, -1}, kVectors | kFull | kQrIteration},
    {"eig", {1, 0, -1}, kVectors | kLeftVectors},
    {"schur", {1, 0, -1}, kVectors},
    {"hessenberg", {1, 0, -1}, 0},
    {"tridiagonal", {1, 0, -1}, kLower},
    {"tridiagonal_solve", {4, 3, -1}, 0},
    {"fft", {2, 0, -1}, kInverse | kTwoDims | kThreeDims | kPairedOperand | kPairedResult},
    {"real_fft", {1, 0, -1}, kTwoDims | kThreeDims | kPairedResult},
    {"inverse_real_fft", {2, 0, -1}, kOddLength | kTwoDims | kThreeDims | kPairedOperand},
}};

const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

Tensor Matrix(const char* name, Dim rows, Dim columns) { return {name, {rows, columns}}; }
Tensor Vector(const char* name, uint64_t size) { return {name, {{size}}}; }
Tensor Integers(const char* name, uint64_t size) { return {name, {{size}}, /*is_integer=*/true}; }
Tensor Info() { return {"info", {}, /*is_integer=*/true}; }

bool IsSquare(Kind kind) {
  switch (kind) {
    case Kind::kCholesky:
    case Kind::kEigh:
    case Kind::kEig:
    case Kind::kSchur:
    case Kind::kHessenberg:
    case Kind::kTridiagonal:
      return true;
    default:
      return false;
  }
}

// The size of the triangular or orthogonal matrix that meets one of m by n.
uint64_t OtherSize(const Form& form) { return form.Has(kRight) ? form.n : form.m; }

// The main operand of a solver: what lies across the other matrix is free.
Tensor RightHandSide(const char* name, const Form& form) {
  const bool is_right = form.Has(kRight);
  return Matrix(name, {form.m, is_right}, {form.n, !is_right});
}

std::vector<Tensor> SvdOutputs(const Form& form) {
  std::vector<Tensor> outputs = {Vector("values", form.p())};
  if (form.Has(kVectors)) {
    outputs.push_back(Matrix("u", {form.m}, {form.Has(kFull) ? form.m : form.p()}));
    outputs.push_back(Matrix("vt", {form.Has(kFull) ? form.n : form.p()}, {form.n}));
  }
  outputs.push_back(Info());
  return outputs;
}

std::vector<Tensor> EigOutputs(const Form& form) {
  std::vector<Tensor> outputs = {Vector("real values", form.n), Vector("imaginary values", form.n)};
  if (form.Has(kLeftVectors)) {
    outputs.push_back(Matrix("real left vectors", {form.n}, {form.n}));
    outputs.push_back(Matrix("imaginary left vectors", {form.n}, {form.n}));
  }
  if (form.Has(kVectors)) {
    outputs.push_back(Matrix("real vectors", {form.n}, {form.n}));
    outputs.push_back(Matrix("imaginary vectors", {form.n}, {form.n}));
  }
  outputs.push_back(Info());
  return outputs;
}

// Reals, or both parts of numbers, over the transformed dimensions of which the last one is of `size`.
std::vector<Tensor> TransformTensors(const Form& form, uint64_t size, bool is_real, bool is_paired) {
  std::vector<Dim> dims = {{form.k}, {form.m}, {size}};
  dims.erase(dims.begin(), dims.end() - DimsOf(form.kind, form.options));
  if (is_real) return {{"x", dims}};
  if (!is_paired) return {{"real part", dims}, {"imaginary part", dims}};
  dims.push_back({2});
  return {{"pairs", dims}};
}

std::string WhyNoTransform(const Form& form) {
  const std::string name = KindName(form.kind);
  const uint32_t dims = DimsOf(form.kind, form.options);
  if (dims > 3) return name + " over two and over three dimensions";
  if (form.k == 0 || form.m == 0 || form.n == 0) return name + " of no elements";
  if ((dims < 3 && form.k != 1) || (dims < 2 && form.m != 1)) return name + " of more dimensions than are transformed";
  if (form.kind == Kind::kInverseRealFft && (form.n % 2 == 1) != form.Has(kOddLength))
    return name + " of another length than its option says";
  if (form.m > kMostElements || form.n > kMostElements || form.k > kMostElements || form.m * form.n > kMostElements ||
      form.k > kMostElements / (form.m * form.n))
    return name + " of more than 2^31 - 1 elements";
  return "";
}

// Spectra of transforms to reals over several dimensions, and large rows: between their two steps (rounded up to
// vectors), and before and behind them where one side is real.
uint64_t TransformWork(const Form& form) {
  uint64_t work = 0;
  if (form.kind == Kind::kInverseRealFft && form.m * form.k > 1) work += 2 * form.k * form.m * (form.n / 2 + 1);
  if (form.n > kMostRowOfThread) work += (form.kind == Kind::kFft ? 3 : 7) * form.n + 64;
  return work;
}

uint64_t TransformFlops(const Form& form) {
  const uint64_t numbers = form.k * form.m * form.n;
  uint64_t passes = 1;
  while (numbers >> passes != 0) ++passes;
  return (form.kind == Kind::kFft ? 5 : 3) * numbers * passes;
}

uint64_t SvdWork(const Form& form) {
  const uint64_t least = form.p(), most = std::max(form.m, form.n);
  const uint64_t blocks = (form.m + form.n) * kBlock;
  if (form.Has(kQrIteration)) return std::max(3 * least + most, 5 * least) + blocks;
  if (!form.Has(kVectors)) return 3 * least + std::max(most, 7 * least) + blocks;
  return 4 * least * least + 7 * least + most + blocks;
}

bool HasZeroSize(const Form& form) {
  const bool has_reflectors = OperandsOf(form.kind).reflectors >= 0;
  return form.m == 0 || form.n == 0 || (has_reflectors && form.k == 0);
}

}  // namespace

uint64_t Tensor::Elements() const {
  uint64_t elements = 1;
  for (const Dim& dim : dims) elements *= dim.size;
  return elements;
}

const char* KindName(Kind kind) { return InfoOf(kind).name; }

uint32_t DimsOf(Kind kind, uint32_t options) {
  if (!IsTransform(kind)) return 2;
  return 1 + ((options & kTwoDims) != 0 ? 1 : 0) + ((options & kThreeDims) != 0 ? 2 : 0);
}

Operands OperandsOf(Kind kind) { return InfoOf(kind).operands; }

std::vector<Tensor> InputsOf(const Form& form) {
  const Dim m{form.m}, n{form.n};
  switch (form.kind) {
    case Kind::kTriangularSolve:
      return {Matrix("a", {OtherSize(form)}, {OtherSize(form)}), RightHandSide("b", form)};
    case Kind::kPivotedQr:
      return {Matrix("a", m, n), Integers("pivots", form.n)};
    case Kind::kHouseholderProduct:
      return {Matrix("reflectors", m, n), Vector("taus", form.k)};
    case Kind::kHouseholderMultiply:
      return {Matrix("reflectors", {OtherSize(form)}, {form.k}), Vector("taus", form.k), RightHandSide("c", form)};
    case Kind::kTridiagonalSolve:
      return {Vector("lower diagonal", form.m), Vector("diagonal", form.m), Vector("upper diagonal", form.m),
              RightHandSide("b", form)};
    case Kind::kFft:
      return TransformTensors(form, form.n, /*is_real=*/false, form.Has(kPairedOperand));
    case Kind::kRealFft:
      return TransformTensors(form, form.n, /*is_real=*/true, false);
    case Kind::kInverseRealFft:
      return TransformTensors(form, form.n / 2 + 1, /*is_real=*/false, form.Has(kPairedOperand));
    default:
      return {Matrix("a", m, n)};
  }
}

std::vector<Tensor> OutputsOf(const Form& form) {
  const Dim m{form.m}, n{form.n};
  const uint64_t between = form.n == 0 ? 0 : form.n - 1;
  switch (form.kind) {
    case Kind::kCholesky:
      return {Matrix("factor", n, n), Info()};
    case Kind::kTriangularSolve:
    case Kind::kHouseholderMultiply:
      return {RightHandSide("x", form)};
    case Kind::kLu:
      return {Matrix("lu", m, n), Integers("pivots", form.p()), Info()};
    case Kind::kQr:
      return {Matrix("qr", m, n), Vector("taus", form.p())};
    case Kind::kPivotedQr:
      return {Matrix("qr", m, n), Integers("pivots", form.n), Vector("taus", form.p())};
    case Kind::kHouseholderProduct:
      return {Matrix("q", m, n)};
    case Kind::kEigh:
      if (!form.Has(kVectors)) return {Vector("values", form.n), Info()};
      return {Matrix("vectors", n, n), Vector("values", form.n), Info()};
    case Kind::kSvd:
      return SvdOutputs(form);
    case Kind::kEig:
      return EigOutputs(form);
    case Kind::kSchur:
      if (!form.Has(kVectors))
        return {Matrix("t", n, n), Vector("real values", form.n), Vector("imaginary values", form.n), Info()};
      return {Matrix("t", n, n), Matrix("vectors", n, n), Vector("real values", form.n),
              Vector("imaginary values", form.n), Info()};
    case Kind::kHessenberg:
      return {Matrix("h", n, n), Vector("taus", between), Info()};
    case Kind::kTridiagonal:
      return {Matrix("reflectors", n, n), Vector("diagonal", form.n), Vector("off-diagonal", between),
              Vector("taus", between), Info()};
    case Kind::kTridiagonalSolve:
      return {RightHandSide("x", form), Info()};
    case Kind::kFft:
      return TransformTensors(form, form.n, /*is_real=*/false, form.Has(kPairedResult));
    case Kind::kRealFft:
      return TransformTensors(form, form.n / 2 + 1, /*is_real=*/false, form.Has(kPairedResult));
    case Kind::kInverseRealFft:
      return TransformTensors(form, form.n, /*is_real=*/true, false);
  }
  return {};
}

std::string WhyNot(const Form& form) {
  const std::string name = KindName(form.kind);
  if ((form.options & ~InfoOf(form.kind).options) != 0) return name + " with options that it has not";
  if (IsTransform(form.kind)) return WhyNoTransform(form);
  if (form.Has(kFull) && !form.Has(kVectors)) return name + " of full vectors without vectors";
  if (HasZeroSize(form)) return name + " of an empty matrix";
  if (IsSquare(form.kind) && form.m != form.n)
    return name + " of " + std::to_string(form.m) + " rows and " + std::to_string(form.n) + " columns, not a square";
  if (form.kind == Kind::kHouseholderProduct && (form.k > form.n || form.n > form.m))
    return name + " of more reflectors than columns, or more columns than rows";
  if (form.kind == Kind::kHouseholderMultiply && form.k > OtherSize(form))
    return name + " of more reflectors than they have rows";
  // Sizes alone first: products of larger ones would overflow.
  if (form.m > kMostElements || form.n > kMostElements || form.k > kMostElements || form.m * form.n > kMostElements ||
      OtherSize(form) * OtherSize(form) > kMostElements)
    return name + " of matrices with more than 2^31 - 1 elements";
  const Workspace workspace = WorkspaceOf(form);
  if (workspace.work > kMostElements || workspace.matrices > 4 * kMostElements || workspace.integers > kMostElements)
    return name + " with more than 2^31 - 1 elements of working memory";
  return "";
}

uint64_t Workspace::Bytes(uint64_t element_bytes) const {
  uint64_t bytes = 0;
  for (uint64_t part : {matrices * element_bytes, work * element_bytes, integers * sizeof(int32_t)})
    bytes += (part + kAlignment - 1) / kAlignment * kAlignment;
  return bytes;
}

Workspace WorkspaceOf(const Form& form) {
  const uint64_t m = form.m, n = form.n, k = form.k;
  switch (form.kind) {
    case Kind::kCholesky:
    case Kind::kTriangularSolve:
      return {};  // in place
    case Kind::kLu:
      return {m * n, 0, 0};
    case Kind::kQr:
      return {m * n, n * kBlock, 0};
    case Kind::kPivotedQr:
      return {m * n, 3 * n + 1 + (n + 1) * kBlock, 0};
    case Kind::kHouseholderProduct:
      return {m * n, n * kBlock, 0};
    case Kind::kHouseholderMultiply:
      return {m * n + OtherSize(form) * k, std::max(m, n) * kBlock + kTriangularFactor, 0};
    case Kind::kEigh:
      if (!form.Has(kVectors)) return {n * n, 2 * n + 1 + n * kBlock, 1};
      return {n * n, 1 + 6 * n + 2 * n * n + n * kBlock, 3 + 5 * n};
    case Kind::kSvd: {
      uint64_t matrices = m * n;
      if (form.Has(kVectors)) matrices += form.Has(kFull) ? m * m + n * n : (m + n) * form.p();
      return {matrices, SvdWork(form), 8 * form.p()};
    }
    case Kind::kEig: {
      const uint64_t vectors = (form.Has(kVectors) ? 1 : 0) + (form.Has(kLeftVectors) ? 1 : 0);
      return {n * n * (1 + vectors), 4 * n + n * (2 * kBlock + 2) + kTriangularFactor, 0};
    }
    case Kind::kSchur:
      return {n * n * (form.Has(kVectors) ? 2 : 1), 3 * n + n * (kBlock + 2) + kTriangularFactor, 0};
    case Kind::kHessenberg:
      return {n * n, n * kBlock + kTriangularFactor, 0};
    case Kind::kTridiagonal:
      return {n * n, n * kBlock, 0};
    case Kind::kTridiagonalSolve:
      return {m * n + 3 * m, 0, 0};
    case Kind::kFft:
    case Kind::kRealFft:
    case Kind::kInverseRealFft:
      return {0, TransformWork(form), 0};
  }
  return {};
}

uint64_t LanesFor(const Form& form, uint64_t batch, uint64_t element_bytes) {
  if (IsTransform(form.kind) && WorkspaceOf(form).work == 0) return 1;
  const uint64_t bytes = WorkspaceOf(form).Bytes(element_bytes);
  const uint64_t fitting = bytes == 0 ? kMostLanes : kLaneBytes / bytes;
  return std::clamp<uint64_t>(std::min(fitting, batch), 1, kMostLanes);
}

// Golub and Van Loan, Matrix Computations, 4th edition; of iterations about what the usual number of them takes.
uint64_t FlopsOf(const Form& form) {
  const uint64_t m = form.m, n = form.n, p = form.p();
  const uint64_t factor = m * n * p - p * p * p / 3;  // of an m by n matrix by reflectors or elimination
  switch (form.kind) {
    case Kind::kCholesky:
      return n * n * n / 3;
    case Kind::kTriangularSolve:
      return m * n * OtherSize(form);
    case Kind::kLu:
      return factor;
    case Kind::kQr:
    case Kind::kPivotedQr:
    case Kind::kHouseholderProduct:
      return 2 * factor;
    case Kind::kHouseholderMultiply:
      return 4 * m * n * form.k;
    case Kind::kEigh:
      return (form.Has(kVectors) ? 9 : 2) * n * n * n;
    case Kind::kSvd:
      return (form.Has(kVectors) ? 10 : 4) * factor;
    case Kind::kEig:
    case Kind::kSchur:
      return (form.Has(kVectors) ? 25 : 10) * n * n * n;
    case Kind::kHessenberg:
      return 10 * n * n * n / 3;
    case Kind::kTridiagonal:
      return 4 * n * n * n / 3;
    case Kind::kTridiagonalSolve:
      return 8 * m * n;
    case Kind::kFft:
    case Kind::kRealFft:
    case Kind::kInverseRealFft:
      return TransformFlops(form);
  }
  return 0;
}

}  // namespace sgd::linear_algebra
