// Strides to leading dimensions; batch dimensions folded together where they can be.
#include "targets/gpu/device/matmul/gemm_form.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"

namespace sgd::cuda {
namespace {

constexpr size_t kMaxCalls = 1024;

struct Matrix {
  uint64_t rows, columns;
  int64_t row_stride, column_stride;
};

// How memory holds a matrix: as it is, column-major, or its transpose.
struct Storage {
  bool is_transposed;
  uint64_t leading;
};

// Strides of dimensions of size 1 never matter.
std::optional<uint64_t> LeadingOf(uint64_t rows, uint64_t columns, int64_t row_stride, int64_t column_stride) {
  if (rows != 1 && row_stride != 1) return std::nullopt;
  const uint64_t least = std::max<uint64_t>(rows, 1);
  if (columns <= 1) return least;
  if (column_stride < 0 || static_cast<uint64_t>(column_stride) < least) return std::nullopt;
  return static_cast<uint64_t>(column_stride);
}

absl::StatusOr<Storage> StorageOf(const Matrix& matrix, const char* name) {
  if (const auto leading = LeadingOf(matrix.rows, matrix.columns, matrix.row_stride, matrix.column_stride))
    return Storage{false, *leading};
  if (const auto leading = LeadingOf(matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride))
    return Storage{true, *leading};
  return absl::UnimplementedError(
      absl::StrCat("matmul on a GPU: ", name, " of ", matrix.rows, " by ", matrix.columns, " elements with strides ",
                   matrix.row_stride, " and ", matrix.column_stride,
                   "; expected stride 1 in one dimension and no overlap in the other; compile the model again"));
}

struct BatchDim {
  uint64_t size;
  int64_t a, b, c;
};

// Dimensions of size 1 left out, those that are one stride apart in all operands made one.
std::vector<BatchDim> FoldedBatch(const artifact::Matmul& matmul) {
  std::vector<BatchDim> dims;
  for (uint32_t i = 0; i < artifact::Size(matmul.batch_dims()); ++i) {
    const BatchDim dim{matmul.batch_dims()->Get(i), matmul.a_batch()->Get(i), matmul.b_batch()->Get(i),
                       matmul.c_batch()->Get(i)};
    if (dim.size == 1) continue;
    const int64_t size = static_cast<int64_t>(dim.size);
    if (!dims.empty() && dims.back().a == dim.a * size && dims.back().b == dim.b * size &&
        dims.back().c == dim.c * size) {
      dims.back() = {dims.back().size * dim.size, dim.a, dim.b, dim.c};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

// The largest dimension becomes the library's; the others are walked.
absl::Status TakeBatch(std::vector<BatchDim> dims, GemmForm& form) {
  form.calls = {{}};
  if (dims.empty()) return absl::OkStatus();
  const auto largest = std::ranges::max_element(dims, {}, &BatchDim::size);
  form.batch = largest->size;
  form.a_stride = largest->a, form.b_stride = largest->b, form.c_stride = largest->c;
  dims.erase(largest);
  for (const BatchDim& dim : dims) {
    if (dim.size * form.calls.size() > kMaxCalls) {
      return absl::UnimplementedError(absl::StrCat("matmul on a GPU: batch dimensions that take more than ", kMaxCalls,
                                                   " calls; expected fewer; compile the model again"));
    }
    std::vector<GemmForm::Offsets> calls;
    for (const GemmForm::Offsets& call : form.calls) {
      for (int64_t i = 0; i < static_cast<int64_t>(dim.size); ++i)
        calls.push_back({call.a + i * dim.a, call.b + i * dim.b, call.c + i * dim.c});
    }
    form.calls = std::move(calls);
  }
  return absl::OkStatus();
}

void Swap(GemmForm& form) {
  std::swap(form.a_stride, form.b_stride);
  for (GemmForm::Offsets& call : form.calls) std::swap(call.a, call.b);
}

}  // namespace

absl::StatusOr<GemmForm> GemmFormOf(const artifact::Matmul& matmul) {
  const Matrix a{matmul.m(), matmul.k(), matmul.a_m(), matmul.a_k()};
  const Matrix b{matmul.k(), matmul.n(), matmul.b_k(), matmul.b_n()};
  const Matrix c{matmul.m(), matmul.n(), matmul.c_m(), matmul.c_n()};
  // Row-major first: its bias is an element per column of C.
  const auto row_major = LeadingOf(c.columns, c.rows, c.column_stride, c.row_stride);
  const auto column_major = LeadingOf(c.rows, c.columns, c.row_stride, c.column_stride);
  if (!row_major && !column_major) return StorageOf(c, "C").status();
  absl::StatusOr<Storage> stored_a = StorageOf(a, "A");
  if (!stored_a.ok()) return stored_a.status();
  absl::StatusOr<Storage> stored_b = StorageOf(b, "B");
  if (!stored_b.ok()) return stored_b.status();
  GemmForm form;
  form.is_swapped = row_major.has_value();
  form.k = matmul.k();
  if (absl::Status status = TakeBatch(FoldedBatch(matmul), form); !status.ok()) return status;
  if (!form.is_swapped) {
    form.m = matmul.m(), form.n = matmul.n();
    form.transposes_a = stored_a->is_transposed, form.transposes_b = stored_b->is_transposed;
    form.a_leading = stored_a->leading, form.b_leading = stored_b->leading, form.c_leading = *column_major;
    return form;
  }
  // C^T = B^T A^T: what was stored transposed is now as wanted.
  form.m = matmul.n(), form.n = matmul.m();
  form.transposes_a = !stored_b->is_transposed, form.transposes_b = !stored_a->is_transposed;
  form.a_leading = stored_b->leading, form.b_leading = stored_a->leading, form.c_leading = *row_major;
  Swap(form);
  return form;
}

}  // namespace sgd::cuda
