// Names and type checks that all feeds share.
#include "runtime/data/feed.h"

#include <charconv>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sgd::data {

NameTable::NameTable(std::string prefix, const std::vector<std::string>& names)
    : prefix_(std::move(prefix)), size_(names.size()) {
  for (size_t i = 0; i < names.size(); ++i) {
    auto [at, inserted] = by_name_.try_emplace(names[i], i);
    if (!inserted) at->second.reset();
  }
}

std::optional<size_t> NameTable::Find(std::string_view name) const {
  if (name.starts_with(prefix_)) {
    const char* first = name.data() + prefix_.size();
    const char* last = name.data() + name.size();
    size_t index = 0;
    auto [end, error] = std::from_chars(first, last, index);
    const bool is_plain = last - first == 1 || (last > first && *first != '0');
    const auto namesake = by_name_.find(name);
    const bool is_unique = namesake == by_name_.end() || namesake->second == index;
    if (error == std::errc() && end == last && is_plain && index < size_)
      return is_unique ? std::optional(index) : std::nullopt;
  }
  auto at = by_name_.find(name);
  return at == by_name_.end() ? std::nullopt : at->second;
}

std::string NameTable::Position(size_t index) const { return absl::StrCat(prefix_, index); }

absl::Status CheckType(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  if (DimsAs(entry, input.type.element) == input.type.global_dims) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      file.path(), ": tensor ", QuotedName(entry.name), ": is ", FileTypeText(entry.element, entry.dims),
      ", but input ", QuotedName(input.name), " is ", FileTypeText(input.type.element, input.type.global_dims)));
}

}  // namespace sgd::data
