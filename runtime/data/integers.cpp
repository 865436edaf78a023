// Every value goes through 64 bits, with the sign of its type.
#include "runtime/data/integers.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::data {
namespace {

// Calls `f` with a zero of the type; false for others than integers.
template <typename F>
bool WithInteger(ElementType type, const F& f) {
  switch (type) {
    case ElementType::I8:
      return f(int8_t{}), true;
    case ElementType::I16:
      return f(int16_t{}), true;
    case ElementType::I32:
      return f(int32_t{}), true;
    case ElementType::I64:
      return f(int64_t{}), true;
    case ElementType::U8:
      return f(uint8_t{}), true;
    case ElementType::U16:
      return f(uint16_t{}), true;
    case ElementType::U32:
      return f(uint32_t{}), true;
    case ElementType::U64:
      return f(uint64_t{}), true;
    default:
      return false;
  }
}

template <typename T>
T Load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

bool AreOtherIntegers(ElementType from, ElementType to) {
  const auto is_integer = [](ElementType type) { return WithInteger(type, [](auto) {}); };
  return from != to && is_integer(from) && is_integer(to);
}

absl::Status CheckFits(const SafetensorsFile& file, const TensorEntry& entry, const InputType& input) {
  absl::Status status;
  const std::byte* bytes = file.Bytes(entry).data();
  WithInteger(entry.element, [&](auto from) {
    using From = decltype(from);
    WithInteger(input.type.element, [&](auto to) {
      using To = decltype(to);
      for (uint64_t i = 0; i < entry.size / sizeof(From); ++i) {
        const From value = Load<From>(bytes + i * sizeof(From));
        if (std::in_range<To>(value)) continue;
        status = absl::InvalidArgumentError(absl::StrCat(
            file.path(), ": tensor ", QuotedName(entry.name), ": element ", IndexText(i, entry.dims), " is ", value,
            "; expected ", std::numeric_limits<To>::min(), " to ", std::numeric_limits<To>::max(), ", since input ",
            QuotedName(input.name), " is ", FileTypeText(input.type.element, input.type.global_dims)));
        return;
      }
    });
  });
  file.Release(entry);
  return status;
}

void ConvertIntegers(ElementType from_type, const std::byte* source, ElementType to_type, std::byte* target,
                     uint64_t count) {
  WithInteger(from_type, [&](auto from) {
    WithInteger(to_type, [&](auto to) {
      for (uint64_t i = 0; i < count; ++i) {
        to = static_cast<decltype(to)>(Load<decltype(from)>(source + i * sizeof(from)));
        std::memcpy(target + i * sizeof(to), &to, sizeof(to));
      }
    });
  });
}

}  // namespace sgd::data
