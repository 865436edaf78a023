// Names and type checks that all feeds share.
#include "runtime/data/feed.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "runtime/data/integers.h"
#include "absl/strings/str_join.h"

namespace sgd::data {
namespace {

// "[2, 0]" for the `position`th element of a row-major tensor.
std::string IndexText(uint64_t position, const Dims& dims) {
  std::vector<uint64_t> index(dims.size());
  for (size_t dim = dims.size(); dim-- > 0; position /= dims[dim]) index[dim] = position % dims[dim];
  return absl::StrCat("[", absl::StrJoin(index, ", "), "]");
}

}  // namespace

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

size_t NameTable::longest_name() const {
  size_t longest = Position(size_).size();
  for (const auto& [name, index] : by_name_) longest = std::max(longest, name.size());
  return longest;
}

absl::Status CheckRange(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  if (input.narrow_bits == 0) return absl::OkStatus();
  const bool is_signed = entry.element == ElementType::I8;
  const int least = is_signed ? -(1 << (input.narrow_bits - 1)) : 0;
  const int greatest = (1 << (is_signed ? input.narrow_bits - 1 : input.narrow_bits)) - 1;
  const std::span<const std::byte> bytes = file.Bytes(entry);
  const auto value = [&](std::byte byte) {
    return is_signed ? static_cast<int>(static_cast<int8_t>(byte)) : static_cast<int>(byte);
  };
  const auto at =
      std::ranges::find_if(bytes, [&](std::byte byte) { return value(byte) < least || value(byte) > greatest; });
  if (at == bytes.end()) {
    file.Release(entry);
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      file.path(), ": tensor ", QuotedName(entry.name), ": element ",
      IndexText(static_cast<uint64_t>(at - bytes.begin()), entry.dims), " is ", value(*at), "; expected ", least,
      " to ", greatest, ", since input ", QuotedName(input.name), " has integers of ", input.narrow_bits, " bits"));
}

absl::Status CheckTensor(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  if (DimsAs(entry, input.type.element) == input.type.global_dims) return CheckRange(file, entry, input);
  const bool is_other_width = input.narrow_bits == 0 && AreOtherIntegers(entry.element, input.type.element);
  if (is_other_width && entry.dims == input.type.global_dims) return CheckFits(file, entry, input);
  return absl::InvalidArgumentError(absl::StrCat(
      file.path(), ": tensor ", QuotedName(entry.name), ": is ", FileTypeText(entry.element, entry.dims),
      ", but input ", QuotedName(input.name), " is ", FileTypeText(input.type.element, input.type.global_dims)));
}

}  // namespace sgd::data
