// Sizes and names of the artifact's element types; pure functions, total on every enumerator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Bytes of one element in memory; Bool takes one byte, 0 or 1.
uint64_t ElementSize(ElementType type);

// The accumulator type of reductions of such elements: f32 for f8, f16 and bf16, i32 or u32 for narrower integers, the
// same type for others.
ElementType AccumulatorElement(ElementType type);

// The type of B.
ElementType RhsElementOf(const Matmul& matmul);

// The type of C, the bias, aux and the reduction.
ElementType ResultElementOf(const Matmul& matmul);

// "f32", "i64", "u8", "bool", ...
const char* ElementName(ElementType type);

// The type's name in a safetensors header: "F32", "I64", "U8", "BOOL", ...
const char* SafetensorsName(ElementType type);

// Inverses; nothing for a name that no element type has.
std::optional<ElementType> ElementFromName(std::string_view name);
std::optional<ElementType> ElementFromSafetensors(std::string_view name);

// f8 of both kinds, f16, bf16, f32 and f64.
bool IsFloat(ElementType type);

// Whether instructions may name it: a known type, and not C64, of which they see the parts.
bool IsOfInstructions(ElementType type);

// Floats of 8 bits: F8E4M3FN and F8E5M2.
bool IsFloat8(ElementType type);

}  // namespace sgd::artifact
