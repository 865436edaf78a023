// Operands by their strides, then the operands of the epilogue, then which of them must be disjoint.
#include "runtime/artifact/verify_matmul.h"

#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxBatchDims = 4;

using Strides = flatbuffers::Vector<int64_t>;

std::vector<StridedDim> DimsOf(const Matmul& matmul, const Strides* batch, StridedDim rows, StridedDim columns) {
  std::vector<StridedDim> dims = {rows, columns};
  for (uint64_t i = 0; i < Size(matmul.batch_dims()); ++i) {
    dims.push_back({matmul.batch_dims()->Get(static_cast<uint32_t>(i)), batch->Get(static_cast<uint32_t>(i))});
  }
  return dims;
}

absl::StatusOr<Range> FitOperand(const VerifyContext& context, const Slice* slice, ElementType element,
                                 const std::vector<StridedDim>& dims, const std::string& what) {
  absl::StatusOr<uint64_t> extent = Extent(dims, what);
  if (!extent.ok()) return extent.status();
  return Fit(context, slice, *extent, element, what);
}

// B has a type of its own with f8 alone. C has the operands' or the accumulator type, and of f8 any wider one.
bool MayMultiply(const Matmul& matmul) {
  if (!IsOfInstructions(matmul.b_element().value_or(ElementType::MIN)) ||
      !IsOfInstructions(matmul.c_element().value_or(ElementType::MIN)))
    return false;
  const ElementType result = ResultElementOf(matmul);
  if (!IsFloat8(matmul.element()))
    return !matmul.b_element() && (result == matmul.element() || result == AccumulatorElement(matmul.element()));
  return IsFloat8(RhsElementOf(matmul)) &&
         (result == ElementType::F32 || result == ElementType::BF16 || result == ElementType::F16);
}

absl::Status VerifyMatmulSizes(const Matmul& matmul) {
  if (!IsOfInstructions(matmul.element())) return Invalid("unknown element type");
  if (!MayMultiply(matmul)) return Invalid("element types that do not go together");
  if (matmul.allows_tf32() && matmul.element() != ElementType::F32) return Invalid("TF32 is for f32 alone");
  const uint64_t batch = Size(matmul.batch_dims());
  if (batch > kMaxBatchDims || Size(matmul.a_batch()) != batch || Size(matmul.b_batch()) != batch ||
      Size(matmul.c_batch()) != batch) {
    return Invalid("batch dimensions and batch strides do not match");
  }
  std::vector<uint64_t> sizes = {matmul.m(), matmul.n(), matmul.k()};
  for (uint64_t i = 0; i < batch; ++i) sizes.push_back(matmul.batch_dims()->Get(static_cast<uint32_t>(i)));
  return VerifyWork(sizes);
}

// An operand of the epilogue is apart from what the matmul multiplies and writes.
absl::Status VerifyOther(const Range& range, bool is_written, const std::string& name,
                         const std::vector<Range>& others) {
  if (is_written && range.space == Space::Constant) return Invalid(name + " is in the constants, which are read-only");
  for (const Range& other : others) {
    if (Overlap(range, other)) return Invalid(name + " overlaps another operand");
  }
  return absl::OkStatus();
}

// The operands of the epilogue, which are there exactly where its steps need them. `others`: A, B and C.
absl::Status VerifyEpilogueOperands(const VerifyContext& context, const Matmul& matmul,
                                    const std::vector<StridedDim>& c_dims, const std::vector<Range>& others) {
  const library::Epilogue epilogue = EpilogueOf(matmul.epilogue());
  const ElementType element = ResultElementOf(matmul);
  if (matmul.bias() != nullptr) {
    absl::StatusOr<Range> bias = Fit(context, matmul.bias(), matmul.n(), element, "bias");
    if (!bias.ok()) return bias.status();
    if (Overlap(others.back(), *bias)) return Invalid("C overlaps the bias");
  }
  if (matmul.aux() != nullptr) {
    absl::StatusOr<Range> aux = FitOperand(context, matmul.aux(), element, c_dims, "aux");
    if (!aux.ok()) return aux.status();
    const bool is_written = epilogue.Has(library::EpilogueStep::kGelu);
    if (absl::Status status = VerifyOther(*aux, is_written, "aux", others); !status.ok()) return status;
  }
  if (matmul.reduction() == nullptr) return absl::OkStatus();
  const uint64_t elements = epilogue.Has(library::EpilogueStep::kLhsReduction) ? matmul.m() : matmul.n();
  absl::StatusOr<Range> reduction = Fit(context, matmul.reduction(), elements, element, "reduction");
  if (!reduction.ok()) return reduction.status();
  return VerifyOther(*reduction, /*is_written=*/true, "reduction", others);
}

// C and the workspace do not share bytes with anything else that the instruction touches.
absl::Status VerifyApart(const Range& c, const Matmul& matmul, const VerifyContext& context, const Range& a,
                         const Range& b) {
  if (Overlap(c, a) || Overlap(c, b)) return Invalid("C overlaps A or B");
  if (matmul.workspace() == nullptr) return absl::OkStatus();
  if (absl::Status status = VerifyWritable(context, matmul.workspace(), "workspace"); !status.ok()) return status;
  const Range workspace = RangeOf(*matmul.workspace());
  for (const Range& other : {a, b, c}) {
    if (Overlap(workspace, other)) return Invalid("the workspace overlaps an operand");
  }
  for (const Slice* other : {matmul.bias(), matmul.aux(), matmul.reduction()}) {
    if (other != nullptr && Overlap(workspace, RangeOf(*other))) return Invalid("the workspace overlaps an operand");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyMatmul(const VerifyContext& context, const Matmul& matmul) {
  if (absl::Status status = VerifyMatmulSizes(matmul); !status.ok()) return status;
  if (absl::Status status = VerifyEpilogue(matmul); !status.ok()) return status;
  const auto a_dims = DimsOf(matmul, matmul.a_batch(), {matmul.m(), matmul.a_m()}, {matmul.k(), matmul.a_k()});
  const auto b_dims = DimsOf(matmul, matmul.b_batch(), {matmul.k(), matmul.b_k()}, {matmul.n(), matmul.b_n()});
  const auto c_dims = DimsOf(matmul, matmul.c_batch(), {matmul.m(), matmul.c_m()}, {matmul.n(), matmul.c_n()});
  absl::StatusOr<Range> a = FitOperand(context, matmul.a(), matmul.element(), a_dims, "A");
  if (!a.ok()) return a.status();
  absl::StatusOr<Range> b = FitOperand(context, matmul.b(), RhsElementOf(matmul), b_dims, "B");
  if (!b.ok()) return b.status();
  absl::StatusOr<Range> c = FitOperand(context, matmul.c(), ResultElementOf(matmul), c_dims, "C");
  if (!c.ok()) return c.status();
  if (c->space == Space::Constant) return Invalid("C is in the constants, which are read-only");
  if (!IsInjective(c_dims)) return Invalid("the strides of C let two elements share one address");
  if (absl::Status status = VerifyEpilogueOperands(context, matmul, c_dims, {*a, *b, *c}); !status.ok()) return status;
  return VerifyApart(*c, matmul, context, *a, *b);
}

}  // namespace sgd::artifact
