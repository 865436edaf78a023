// One table.
#include "plugins/pjrt/element_type.h"

namespace sgd::pjrt {
namespace {

struct Row {
  PJRT_Buffer_Type type;
  size_t bytes;
  std::string_view name;
  std::optional<artifact::ElementType> element = std::nullopt;
};

using E = artifact::ElementType;

constexpr Row kRows[] = {
    {PJRT_Buffer_Type_PRED, 1, "i1", E::Bool},
    {PJRT_Buffer_Type_S8, 1, "i8", E::I8},
    {PJRT_Buffer_Type_S16, 2, "i16", E::I16},
    {PJRT_Buffer_Type_S32, 4, "i32", E::I32},
    {PJRT_Buffer_Type_S64, 8, "i64", E::I64},
    {PJRT_Buffer_Type_U8, 1, "ui8", E::U8},
    {PJRT_Buffer_Type_U16, 2, "ui16", E::U16},
    {PJRT_Buffer_Type_U32, 4, "ui32", E::U32},
    {PJRT_Buffer_Type_U64, 8, "ui64", E::U64},
    {PJRT_Buffer_Type_F16, 2, "f16", E::F16},
    {PJRT_Buffer_Type_BF16, 2, "bf16", E::BF16},
    {PJRT_Buffer_Type_F32, 4, "f32", E::F32},
    {PJRT_Buffer_Type_F64, 8, "f64", E::F64},
    {PJRT_Buffer_Type_C64, 8, "complex<f32>", E::C64},
    {PJRT_Buffer_Type_C128, 16, "complex<f64>"},  // two f64 in artifacts
    {PJRT_Buffer_Type_F8E5M2, 1, "f8E5M2", E::F8E5M2},
    {PJRT_Buffer_Type_F8E4M3FN, 1, "f8E4M3FN", E::F8E4M3FN},
    {PJRT_Buffer_Type_F8E4M3B11FNUZ, 1, "f8E4M3B11FNUZ"},
    {PJRT_Buffer_Type_F8E5M2FNUZ, 1, "f8E5M2FNUZ"},
    {PJRT_Buffer_Type_F8E4M3FNUZ, 1, "f8E4M3FNUZ"},
    {PJRT_Buffer_Type_F8E4M3, 1, "f8E4M3"},
    {PJRT_Buffer_Type_F8E3M4, 1, "f8E3M4"},
    {PJRT_Buffer_Type_F8E8M0FNU, 1, "f8E8M0FNU"},
    {PJRT_Buffer_Type_F4E2M1FN, 1, "f4E2M1FN"},
    {PJRT_Buffer_Type_S4, 1, "i4"},
    {PJRT_Buffer_Type_U4, 1, "ui4"},
    {PJRT_Buffer_Type_S2, 1, "i2"},
    {PJRT_Buffer_Type_U2, 1, "ui2"},
};

}  // namespace

std::optional<size_t> ElementBytes(PJRT_Buffer_Type type) {
  for (const Row& row : kRows) {
    if (row.type == type) return row.bytes;
  }
  return std::nullopt;
}

PJRT_Buffer_Type TypeOf(artifact::ElementType element) {
  for (const Row& row : kRows) {
    if (row.element == element) return row.type;
  }
  return PJRT_Buffer_Type_INVALID;
}

std::optional<PJRT_Buffer_Type> TypeNamed(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

}  // namespace sgd::pjrt
