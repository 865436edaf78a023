// Names and type checks that all feeds share.
#include "runtime/data/feed.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/element_type.h"
#include "runtime/text/nearest_name.h"

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

std::string NameTable::Advice(std::string_view name) const {
  constexpr size_t kListed = 8;
  std::vector<std::string_view> names;
  for (const auto& [known, index] : by_name_) names.push_back(known);
  if (names.empty()) return "; there are none";
  const std::string_view nearest = text::NearestName(name, names);
  if (!nearest.empty()) return absl::StrCat("; did you mean ", QuotedName(nearest), "?");
  const size_t listed = std::min(names.size(), kListed);
  const std::string more = names.size() > listed ? absl::StrCat(" and ", names.size() - listed, " more") : "";
  return absl::StrCat("; there are ",
                      absl::StrJoin(names.begin(), names.begin() + listed, ", ",
                                    [](std::string* text, std::string_view known) { text->append(QuotedName(known)); }),
                      more);
}

std::string NameTable::Position(size_t index) const { return absl::StrCat(prefix_, index); }

size_t NameTable::longest_name() const {
  size_t longest = Position(size_).size();
  for (const auto& [name, index] : by_name_) longest = std::max(longest, name.size());
  return longest;
}

std::string IndexText(uint64_t position, std::span<const uint64_t> dims) {
  std::vector<uint64_t> index(dims.size());
  for (size_t dim = dims.size(); dim-- > 0; position /= dims[dim]) index[dim] = position % dims[dim];
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

std::string ValueFault(const Conversion& conversion, const std::string& index, const std::byte* element,
                       const InputType& input) {
  const std::string type = conversion.narrow_bits != 0
                               ? absl::StrCat(" has integers of ", conversion.narrow_bits, " bits")
                               : absl::StrCat(" is ", FileTypeText(input.type.element, input.type.global_dims));
  return absl::StrCat("element ", index, " is ", ElementText(conversion.from, element), "; expected ",
                      conversion.ExpectedText(), ", since input ", QuotedName(input.name), type);
}

Conversion ConversionTo(const InputType& input, ElementType from) {
  // Pairs of F32 are C64 as they are.
  const ElementType to = input.type.element == ElementType::C64 ? from : input.type.element;
  return {from, to, input.narrow_bits};
}

namespace {

// InvalidArgument for the first value that the input cannot hold.
absl::Status CheckValues(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  const Conversion conversion = ConversionTo(input, entry.element);
  if (!conversion.may_fail()) return absl::OkStatus();
  constexpr uint64_t kElements = 4096;
  std::vector<std::byte> converted(kElements * artifact::ElementSize(conversion.to));
  const uint64_t size = artifact::ElementSize(entry.element);
  const std::byte* const bytes = file.Bytes(entry).data();
  for (uint64_t begin = 0; begin < entry.size / size; begin += kElements) {
    const uint64_t count = std::min(kElements, entry.size / size - begin);
    const std::optional<uint64_t> fault = Convert(conversion, bytes + begin * size, count, converted.data());
    if (!fault) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        file.path(), ": tensor ", QuotedName(entry.name), ": ",
        ValueFault(conversion, IndexText(begin + *fault, entry.dims), bytes + (begin + *fault) * size, input)));
  }
  file.Release(entry);
  return absl::OkStatus();
}

// The first thing that keeps a tensor of a file from being the input.
std::string Difference(const TensorEntry& entry, const InputType& input) {
  const Dims &has = entry.dims, &wants = input.type.global_dims;
  if (has == wants) return absl::StrCat("cast it to ", artifact::SafetensorsName(input.type.element));
  if (has.size() != wants.size())
    return absl::StrCat("it has ", has.size(), has.size() == 1 ? " dimension" : " dimensions", " and not ",
                        wants.size(), "; reshape it", wants.empty() ? " to a scalar" : "");
  if (has.size() == 2 && has[0] == wants[1] && has[1] == wants[0])
    return "these are the dimensions of its transpose; transpose it";
  const size_t dim = std::ranges::mismatch(has, wants).in1 - has.begin();
  return absl::StrCat("dimension ", dim, " is ", has[dim], " and not ", wants[dim],
                      "; give a tensor of this shape, or compile the model for that one");
}

}  // namespace

absl::Status CheckTensor(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  if (DimsAs(entry, input.type.element) == input.type.global_dims) return CheckValues(file, entry, input);
  const bool is_other_width = input.narrow_bits == 0 && AreOtherIntegers(entry.element, input.type.element);
  if (is_other_width && entry.dims == input.type.global_dims) return CheckValues(file, entry, input);
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": tensor ", QuotedName(entry.name), ": is ", FileTypeText(entry.element, entry.dims),
                   ", but input ", QuotedName(input.name), " is ",
                   FileTypeText(input.type.element, input.type.global_dims), ": ", Difference(entry, input)));
}

}  // namespace sgd::data
