// By the names of inputs.
#include "runtime/train/checkpoint_difference.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/compression_state.h"
#include "runtime/data/feed.h"
#include "runtime/train/self_started.h"

namespace sgd::train {
namespace {

// Names of tensors, the first few in full: "'a', 'b', 'c' and 5 more".
std::string NamesText(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 3;
  const size_t named = std::min(names.size(), kNamed);
  const std::string more = names.size() > named ? absl::StrCat(" and ", names.size() - named, " more") : "";
  return absl::StrCat(absl::StrJoin(names.begin(), names.begin() + named, ", "), more);
}

}  // namespace

std::string CheckpointDifference::Text() const {
  std::vector<std::string> parts;
  if (!missing.empty()) parts.push_back(absl::StrCat("it lacks ", NamesText(missing)));
  if (!extra.empty()) parts.push_back(absl::StrCat("the program lacks ", NamesText(extra)));
  if (!reshaped.empty()) parts.push_back(NamesText(reshaped));
  return absl::StrJoin(parts, "; ");
}

CheckpointDifference FindDifference(const data::SafetensorsFile& state, const Job& job) {
  CheckpointDifference difference;
  std::map<std::string_view, const data::TensorEntry*> saved;
  for (const data::TensorEntry& entry : state.tensors()) saved.emplace(entry.name, &entry);
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const data::InputType& input = job.program.inputs[i];
    const auto at = saved.find(input.name);
    if (at == saved.end()) {
      if (job.IsCarried(i) && !StartsByItself(input)) difference.missing.push_back(data::QuotedName(input.name));
      continue;
    }
    const data::TensorEntry& entry = *at->second;
    if (data::DimsAs(entry, input.type.element) != input.type.global_dims && !StartsByItself(input))
      difference.reshaped.push_back(absl::StrCat(data::QuotedName(input.name), " is ",
                                                 data::FileTypeText(entry.element, entry.dims), " and not ",
                                                 data::FileTypeText(input.type.element, input.type.global_dims)));
    saved.erase(at);
  }
  for (const data::TensorEntry& entry : state.tensors())
    if (saved.contains(entry.name) && !artifact::IsCompressionState(entry.name))
      difference.extra.push_back(data::QuotedName(entry.name));
  return difference;
}

}  // namespace sgd::train
