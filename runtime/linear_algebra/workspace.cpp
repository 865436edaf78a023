// Sizes of working memory as LAPACK's documentation of each routine gives them, and of work.
#include <algorithm>

#include "runtime/linear_algebra/form.h"
#include "runtime/linear_algebra/transform.h"

namespace sgd::linear_algebra {
namespace {

// Columns that LAPACK's blocked routines take at a time: 32 in all of them, 64 at most.
constexpr uint64_t kBlock = 64;
// The triangular factor that ormqr and gehrd keep beside: 65 columns of 64.
constexpr uint64_t kTriangularFactor = 65 * 64;
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kMostLanes = 64;
constexpr uint64_t kLaneBytes = uint64_t{32} << 20;

uint64_t SvdWork(const Form& form) {
  const uint64_t least = form.p(), most = std::max(form.m, form.n);
  const uint64_t blocks = (form.m + form.n) * kBlock;
  if (form.Has(kQrIteration)) return std::max(3 * least + most, 5 * least) + blocks;
  if (!form.Has(kVectors)) return 3 * least + std::max(most, 7 * least) + blocks;
  return 4 * least * least + 7 * least + most + blocks;
}

Workspace RealWorkspaceOf(const Form& form) {
  const uint64_t m = form.m, n = form.n, k = form.k;
  switch (form.kind) {
    case Kind::kCholesky:
    case Kind::kTriangularSolve:
      return {};  // in place
    case Kind::kLu:
      return {m * n, 0};
    case Kind::kQr:
      return {m * n, n * kBlock};
    case Kind::kPivotedQr:
      return {m * n, 3 * n + 1 + (n + 1) * kBlock};
    case Kind::kHouseholderProduct:
      return {m * n, n * kBlock};
    case Kind::kHouseholderMultiply:
      return {m * n + form.other() * k, std::max(m, n) * kBlock + kTriangularFactor};
    case Kind::kEigh:
      if (!form.Has(kVectors)) return {n * n, 2 * n + 1 + n * kBlock, 0, 1};
      return {n * n, 1 + 6 * n + 2 * n * n + n * kBlock, 0, 3 + 5 * n};
    case Kind::kSvd: {
      uint64_t matrices = m * n;
      if (form.Has(kVectors)) matrices += form.Has(kFull) ? m * m + n * n : (m + n) * form.p();
      return {matrices, SvdWork(form), 0, 8 * form.p()};
    }
    case Kind::kEig: {
      const uint64_t vectors = (form.Has(kVectors) ? 1 : 0) + (form.Has(kLeftVectors) ? 1 : 0);
      return {n * n * (1 + vectors), 4 * n + n * (2 * kBlock + 2) + kTriangularFactor};
    }
    case Kind::kSchur:
      return {n * n * (form.Has(kVectors) ? 2 : 1), 3 * n + n * (kBlock + 2) + kTriangularFactor};
    case Kind::kHessenberg:
      return {n * n, n * kBlock + kTriangularFactor};
    case Kind::kTridiagonal:
      return {n * n, n * kBlock};
    case Kind::kTridiagonalSolve:
      return {m * n + 3 * m, 0};
    case Kind::kFft:
    case Kind::kRealFft:
    case Kind::kInverseRealFft:
      return {0, TransformWork(form)};
  }
  return {};
}

// Matrices and vectors of interleaved parts, all of them.
Workspace ComplexWorkspaceOf(const Form& form) {
  const uint64_t m = form.m, n = form.n, k = form.k, p = form.p(), most = std::max(m, n);
  Workspace w = {.is_complex = true};
  switch (form.kind) {
    case Kind::kCholesky:
      w.matrices = n * n;
      break;
    case Kind::kTriangularSolve:
      w.matrices = m * n + form.other() * form.other();
      break;
    case Kind::kLu:
      w.matrices = m * n;
      break;
    case Kind::kQr:
      w.matrices = m * n + p, w.work = n * kBlock;
      break;
    case Kind::kPivotedQr:
      w.matrices = m * n + p, w.work = (n + 1) * kBlock, w.reals = 2 * n;
      break;
    case Kind::kHouseholderProduct:
      w.matrices = m * n + k, w.work = n * kBlock;
      break;
    case Kind::kHouseholderMultiply:
      w.matrices = m * n + form.other() * k + k, w.work = most * kBlock + kTriangularFactor;
      break;
    case Kind::kEigh:
      w.matrices = n * n;
      w.work = (form.Has(kVectors) ? 2 * n + n * n : n + 1) + n * kBlock;
      w.reals = form.Has(kVectors) ? 1 + 5 * n + 2 * n * n : n;
      w.integers = form.Has(kVectors) ? 3 + 5 * n : 1;
      break;
    case Kind::kSvd:
      w.matrices = m * n;
      if (form.Has(kVectors)) w.matrices += form.Has(kFull) ? m * m + n * n : (m + n) * p;
      w.work = (form.Has(kVectors) && !form.Has(kQrIteration) ? p * p : 0) + 3 * p + most + (m + n) * kBlock;
      w.reals = form.Has(kQrIteration) ? 5 * p
                : !form.Has(kVectors)  ? 7 * p
                                       : std::max(5 * p * p + 5 * p, 2 * most * p + 2 * p * p + p);
      w.integers = 8 * p;
      break;
    case Kind::kEig:
      w.matrices = n * n * (1 + (form.Has(kVectors) ? 1 : 0) + (form.Has(kLeftVectors) ? 1 : 0)) + n;
      w.work = 2 * n + n * (2 * kBlock + 2) + kTriangularFactor, w.reals = 2 * n;
      break;
    case Kind::kSchur:
      w.matrices = n * n * (form.Has(kVectors) ? 2 : 1) + n;
      w.work = 2 * n + n * (kBlock + 2) + kTriangularFactor, w.reals = n;
      break;
    case Kind::kHessenberg:
      w.matrices = n * n + n, w.work = n * kBlock + kTriangularFactor;
      break;
    case Kind::kTridiagonal:
      w.matrices = n * n + n, w.work = n * kBlock;
      break;
    case Kind::kTridiagonalSolve:
      w.matrices = m * n + 3 * m;
      break;
    case Kind::kFft:
    case Kind::kRealFft:
    case Kind::kInverseRealFft:
      break;  // say what is complex by operands, not by the option
  }
  return w;
}

}  // namespace

uint64_t Workspace::Bytes(uint64_t element_bytes) const {
  uint64_t bytes = 0;
  const uint64_t each = element_bytes * (is_complex ? 2 : 1);
  for (uint64_t part : {matrices * each, work * each, reals * element_bytes, integers * sizeof(int32_t)})
    bytes += (part + kAlignment - 1) / kAlignment * kAlignment;
  return bytes;
}

Workspace WorkspaceOf(const Form& form) {
  return form.Has(kComplex) ? ComplexWorkspaceOf(form) : RealWorkspaceOf(form);
}

uint64_t LanesFor(const Form& form, uint64_t batch, uint64_t element_bytes) {
  if (IsTransform(form.kind) && WorkspaceOf(form).work == 0) return 1;
  const uint64_t bytes = WorkspaceOf(form).Bytes(element_bytes);
  const uint64_t fitting = bytes == 0 ? kMostLanes : kLaneBytes / bytes;
  return std::clamp<uint64_t>(std::min(fitting, batch), 1, kMostLanes);
}

// Golub and Van Loan, Matrix Computations, 4th edition; of iterations about what the usual number of them takes.
static uint64_t RealFlopsOf(const Form& form) {
  const uint64_t m = form.m, n = form.n, p = form.p();
  const uint64_t factor = m * n * p - p * p * p / 3;  // of an m by n matrix by reflectors or elimination
  switch (form.kind) {
    case Kind::kCholesky:
      return n * n * n / 3;
    case Kind::kTriangularSolve:
      return m * n * form.other();
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

// A complex multiplication and addition are four of each of reals.
uint64_t FlopsOf(const Form& form) { return RealFlopsOf(form) * (form.Has(kComplex) ? 4 : 1); }

}  // namespace sgd::linear_algebra
