// Element types of PJRT: their sizes, and those of artifacts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/artifact/program_generated.h"
#include "third_party/pjrt/pjrt_c_api.h"

namespace sgd::pjrt {

// Bytes of an element in a dense host array, where elements below 8 bits take a byte each; nothing for types without
// elements.
std::optional<size_t> ElementBytes(PJRT_Buffer_Type type);

// The type that a tensor of an artifact has.
PJRT_Buffer_Type TypeOf(artifact::ElementType element);

// The type that MLIR writes this way, say `ui8` or `complex<f32>`; nothing for others.
std::optional<PJRT_Buffer_Type> TypeNamed(std::string_view name);

}  // namespace sgd::pjrt
