// Tensors first, since what overlaps follows from their sizes.
#include "runtime/artifact/verify_host_call.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/saturating.h"
#include "runtime/artifact/strides.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxRank = 64;  // as of NumPy's arrays

absl::StatusOr<Range> VerifyTensor(const VerifyContext& context, const HostTensor& tensor, const std::string& what) {
  if (!IsOfInstructions(tensor.element()))
    return Invalid(absl::StrCat(what, " has an element type that a function of the host cannot get"));
  if (Size(tensor.dims()) > kMaxRank) return Invalid(absl::StrCat(what, " has more than ", kMaxRank, " dimensions"));
  uint64_t elements = 1;
  bool is_empty = false;
  for (uint32_t dim = 0; dim < Size(tensor.dims()); ++dim) {
    is_empty = is_empty || tensor.dims()->Get(dim) == 0;
    elements = SaturatingProduct({elements, tensor.dims()->Get(dim)});
  }
  if (!is_empty && elements > kMaxElements) return Invalid(absl::StrCat(what, " has more than 2^48 elements"));
  return Fit(context, tensor.slice(), is_empty ? 0 : elements, tensor.element(), what);
}

using Tensors = flatbuffers::Vector<flatbuffers::Offset<HostTensor>>;

absl::Status AddTensors(const VerifyContext& context, const Tensors* tensors, const char* what,
                        std::vector<std::pair<std::string, Range>>& ranges) {
  for (uint32_t i = 0; i < Size(tensors); ++i) {
    std::string name = absl::StrCat(what, " ", i);
    absl::StatusOr<Range> range = VerifyTensor(context, *tensors->Get(i), name);
    if (!range.ok()) return range.status();
    ranges.emplace_back(std::move(name), *range);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyHostCall(const VerifyContext& context, const HostCall& call) {
  std::vector<std::pair<std::string, Range>> read, written;
  if (call.when() != nullptr) {
    absl::StatusOr<Range> range = Fit(context, call.when(), 1, ElementType::Bool, "the condition");
    if (!range.ok()) return range.status();
    if (!call.each_rank()) return Invalid("a condition of a call that rank 0 makes for all ranks");
    read.emplace_back("the condition", *range);
  }
  if (absl::Status status = AddTensors(context, call.inputs(), "input", read); !status.ok()) return status;
  if (absl::Status status = AddTensors(context, call.outputs(), "output", written); !status.ok()) return status;
  for (size_t i = 0; i < written.size(); ++i) {
    for (const auto& [name, range] : read)
      if (Overlap(written[i].second, range)) return Invalid(absl::StrCat(written[i].first, " overlaps ", name));
    for (size_t other = i + 1; other < written.size(); ++other)
      if (Overlap(written[i].second, written[other].second))
        return Invalid(absl::StrCat(written[i].first, " overlaps ", written[other].first));
  }
  return absl::OkStatus();
}

}  // namespace sgd::artifact
