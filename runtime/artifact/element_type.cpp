// One table row per element type, in the order of the schema's enum.
#include "runtime/artifact/element_type.h"

#include <iterator>

namespace sgd::artifact {
namespace {

struct Row {
  uint64_t size;
  const char* name;
  const char* safetensors;
};

constexpr Row kRows[] = {
    {1, "bool", "BOOL"}, {1, "i8", "I8"},   {2, "i16", "I16"}, {4, "i32", "I32"},          {8, "i64", "I64"},
    {1, "u8", "U8"},     {2, "u16", "U16"}, {4, "u32", "U32"}, {8, "u64", "U64"},          {2, "f16", "F16"},
    {2, "bf16", "BF16"}, {4, "f32", "F32"}, {8, "f64", "F64"}, {1, "f8e4m3fn", "F8_E4M3"}, {1, "f8e5m2", "F8_E5M2"},
    {8, "c64", "C64"},
};
static_assert(std::size(kRows) == static_cast<size_t>(ElementType::MAX) + 1);

const Row& RowOf(ElementType type) { return kRows[static_cast<size_t>(type)]; }

std::optional<ElementType> Find(const char* Row::* column, std::string_view name) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (name == kRows[i].*column) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

}  // namespace

uint64_t ElementSize(ElementType type) { return RowOf(type).size; }
ElementType AccumulatorElement(ElementType type) {
  switch (type) {
    case ElementType::F16:
    case ElementType::BF16:
    case ElementType::F8E4M3FN:
    case ElementType::F8E5M2:
      return ElementType::F32;
    case ElementType::I8:
    case ElementType::I16:
      return ElementType::I32;
    case ElementType::U8:
    case ElementType::U16:
      return ElementType::U32;
    default:
      return type;
  }
}

ElementType RhsElementOf(const Matmul& matmul) { return matmul.b_element().value_or(matmul.element()); }

ElementType ResultElementOf(const Matmul& matmul) { return matmul.c_element().value_or(matmul.element()); }

const char* ElementName(ElementType type) { return RowOf(type).name; }
const char* SafetensorsName(ElementType type) { return RowOf(type).safetensors; }
std::optional<ElementType> ElementFromName(std::string_view name) { return Find(&Row::name, name); }
std::optional<ElementType> ElementFromSafetensors(std::string_view name) { return Find(&Row::safetensors, name); }

bool IsFloat(ElementType type) { return type >= ElementType::F16 && type != ElementType::C64; }

bool IsOfInstructions(ElementType type) { return type <= ElementType::MAX && type != ElementType::C64; }

bool IsFloat8(ElementType type) { return type == ElementType::F8E4M3FN || type == ElementType::F8E5M2; }

}  // namespace sgd::artifact
