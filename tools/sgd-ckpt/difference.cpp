// Bits decide whether elements differ; numbers say by how much.
#include "tools/sgd-ckpt/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "runtime/trace/scalar.h"

namespace sgd::ckpt {
namespace {

std::string TypeOf(const data::TensorEntry& entry) { return data::FileTypeText(entry.element, entry.dims); }

std::optional<double> NumberOf(data::ElementType element, std::span<const std::byte> bytes) {
  const double number = trace::AsDouble(trace::ReadScalar(element, bytes));
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

Difference ValuesOf(const data::TensorEntry& entry, std::span<const std::byte> a, std::span<const std::byte> b) {
  Difference difference;
  difference.name = entry.name;
  const uint64_t size = artifact::ElementSize(entry.element);
  difference.size = entry.size / size;
  for (uint64_t at = 0; at + size <= entry.size; at += size) {
    if (std::memcmp(a.data() + at, b.data() + at, size) == 0) continue;
    ++difference.elements;
    const std::optional<double> x = NumberOf(entry.element, a.subspan(at, size)),
                                y = NumberOf(entry.element, b.subspan(at, size));
    if (x && y) difference.by_most = std::max(difference.by_most.value_or(0), std::abs(*x - *y));
  }
  return difference;
}

Difference Missing(const std::string& name, Difference::Kind kind) {
  Difference difference;
  difference.name = name;
  difference.kind = kind;
  return difference;
}

}  // namespace

std::vector<Difference> Compare(const data::SafetensorsFile& first, const data::SafetensorsFile& second) {
  std::vector<Difference> differences;
  for (const data::TensorEntry& entry : first.tensors()) {
    const data::TensorEntry* other = second.Find(entry.name);
    if (other == nullptr) {
      differences.push_back(Missing(entry.name, Difference::Kind::kOnlyInFirst));
    } else if (other->element != entry.element || other->dims != entry.dims) {
      differences.push_back(Missing(entry.name, Difference::Kind::kType));
      differences.back().types = absl::StrCat(TypeOf(entry), " and ", TypeOf(*other));
    } else if (!std::ranges::equal(first.Bytes(entry), second.Bytes(*other))) {
      differences.push_back(ValuesOf(entry, first.Bytes(entry), second.Bytes(*other)));
    }
  }
  for (const data::TensorEntry& entry : second.tensors()) {
    if (first.Find(entry.name) == nullptr) differences.push_back(Missing(entry.name, Difference::Kind::kOnlyInSecond));
  }
  return differences;
}

}  // namespace sgd::ckpt
