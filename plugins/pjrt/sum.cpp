// One loop for each representation.
#include "plugins/pjrt/sum.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::pjrt {
namespace {

template <typename Element, typename Add>
absl::Status AddEach(std::span<const std::byte> from, std::span<std::byte> to, Add add) {
  for (size_t at = 0; at + sizeof(Element) <= to.size(); at += sizeof(Element)) {
    Element a, b;
    std::memcpy(&a, to.data() + at, sizeof(Element));
    std::memcpy(&b, from.data() + at, sizeof(Element));
    a = add(a, b);
    std::memcpy(to.data() + at, &a, sizeof(Element));
  }
  return absl::OkStatus();
}

template <typename Element>
absl::Status AddPlain(std::span<const std::byte> from, std::span<std::byte> to) {
  return AddEach<Element>(from, to, [](Element a, Element b) { return static_cast<Element>(a + b); });
}

float FromBf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// To the nearest, ties to even.
uint16_t ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace

absl::Status AddTo(PJRT_Buffer_Type type, std::span<const std::byte> from, std::span<std::byte> to) {
  switch (type) {
    case PJRT_Buffer_Type_S8:
    case PJRT_Buffer_Type_U8:
      return AddPlain<uint8_t>(from, to);
    case PJRT_Buffer_Type_S16:
    case PJRT_Buffer_Type_U16:
      return AddPlain<uint16_t>(from, to);
    case PJRT_Buffer_Type_S32:
    case PJRT_Buffer_Type_U32:
      return AddPlain<uint32_t>(from, to);
    case PJRT_Buffer_Type_S64:
    case PJRT_Buffer_Type_U64:
      return AddPlain<uint64_t>(from, to);
    case PJRT_Buffer_Type_F32:
    case PJRT_Buffer_Type_C64:
      return AddPlain<float>(from, to);
    case PJRT_Buffer_Type_F64:
    case PJRT_Buffer_Type_C128:
      return AddPlain<double>(from, to);
    case PJRT_Buffer_Type_F16:
      return AddPlain<_Float16>(from, to);
    case PJRT_Buffer_Type_BF16:
      return AddEach<uint16_t>(from, to, [](uint16_t a, uint16_t b) { return ToBf16(FromBf16(a) + FromBf16(b)); });
    default:
      return absl::UnimplementedError(absl::StrCat("arguments of PJRT's element type ", static_cast<int>(type),
                                                   " cannot be unreduced; reduce them before"));
  }
}

}  // namespace sgd::pjrt
