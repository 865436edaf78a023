// Sizes first, since what slices must hold follows from them.
#include "runtime/artifact/verify_linear_algebra.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/strides.h"
#include "runtime/linear_algebra/form.h"

namespace sgd::artifact {
namespace {

using linear_algebra::Form;

constexpr uint64_t kWorkspaceAlignment = 64;

static_assert(static_cast<uint8_t>(LinearAlgebraKind::MAX) + 1 == linear_algebra::kNumKinds);

// The bytes of a checked slice and whether they are written.
struct OperandRange {
  Range range;
  std::string name;
  bool is_written;
};

absl::Status VerifyForm(const LinearAlgebra& call, const Form& form) {
  if (call.element() != ElementType::F32 && call.element() != ElementType::F64)
    return Invalid("linear algebra of other elements than f32 and f64");
  if (std::string problem = linear_algebra::WhyNot(form); !problem.empty()) return Invalid(problem);
  if (call.lanes() == 0) return Invalid("linear algebra of no lanes");
  if (call.lanes() > std::max<uint64_t>(call.batch(), 1)) return Invalid("more lanes than matrices");
  return VerifyWork({call.batch(), linear_algebra::FlopsOf(form)});
}

absl::Status AddTensors(const VerifyContext& context, const LinearAlgebra& call,
                        const flatbuffers::Vector<const Slice*>& slices,
                        const std::vector<linear_algebra::Tensor>& tensors, bool is_written,
                        std::vector<OperandRange>& operands) {
  const char* what = is_written ? "results" : "operands";
  if (Size(&slices) != tensors.size())
    return Invalid(absl::StrCat(Size(&slices), " ", what, " where there are ", tensors.size()));
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Slice* slice = slices.Get(i);
    const uint64_t elements = tensors[i].Elements();
    if (elements != 0 && call.batch() > kMaxElements / elements) return Invalid("a tensor of more than 2^48 elements");
    absl::StatusOr<Range> range = Fit(context, slice, call.batch() * elements,
                                      tensors[i].is_integer ? ElementType::I32 : call.element(), tensors[i].name);
    if (!range.ok()) return range.status();
    if (is_written && range->space == Space::Constant)
      return Invalid(absl::StrCat(tensors[i].name, " is in the constants, which are read-only"));
    operands.push_back({*range, tensors[i].name, is_written});
  }
  return absl::OkStatus();
}

absl::Status AddWorkspace(const VerifyContext& context, const LinearAlgebra& call, const Form& form,
                          std::vector<OperandRange>& operands) {
  const uint64_t lane = linear_algebra::WorkspaceOf(form).Bytes(ElementSize(call.element()));
  if (lane != 0 && call.lanes() > kMaxElements / lane) return Invalid("a workspace of more than 2^48 bytes");
  const uint64_t bytes = call.lanes() * lane;
  if (bytes == 0) return absl::OkStatus();
  absl::StatusOr<Range> range = Fit(context, call.workspace(), bytes, ElementType::U8, "the workspace");
  if (!range.ok()) return range.status();
  if (range->space == Space::Constant) return Invalid("the workspace is in the constants, which are read-only");
  if (range->begin % kWorkspaceAlignment != 0) return Invalid("the workspace is not aligned to 64 bytes");
  operands.push_back({*range, "the workspace", true});
  return absl::OkStatus();
}

absl::Status VerifyApart(const std::vector<OperandRange>& operands) {
  for (const OperandRange& written : operands) {
    if (!written.is_written) continue;
    for (const OperandRange& other : operands) {
      if (&other != &written && Overlap(written.range, other.range))
        return Invalid(absl::StrCat(written.name, " overlaps ", other.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyLinearAlgebra(const VerifyContext& context, const LinearAlgebra& call) {
  if (static_cast<uint8_t>(call.kind()) >= linear_algebra::kNumKinds)
    return Invalid("an unknown kind of linear algebra");
  const Form form{static_cast<linear_algebra::Kind>(call.kind()), call.options(), call.m(), call.n(), call.k()};
  if (absl::Status status = VerifyForm(call, form); !status.ok()) return status;
  std::vector<OperandRange> operands;
  absl::Status status =
      AddTensors(context, call, *call.inputs(), linear_algebra::InputsOf(form), /*is_written=*/false, operands);
  if (!status.ok()) return status;
  status = AddTensors(context, call, *call.outputs(), linear_algebra::OutputsOf(form), /*is_written=*/true, operands);
  if (!status.ok()) return status;
  if (status = AddWorkspace(context, call, form, operands); !status.ok()) return status;
  return VerifyApart(operands);
}

}  // namespace sgd::artifact
