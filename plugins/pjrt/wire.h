// Protocol buffers on the wire, as far as the C API needs them: reading fields, and writing messages.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sgd::pjrt {

struct WireField {
  uint32_t number = 0;
  uint64_t integer = 0;    // of a varint or a fixed-width field
  std::string_view bytes;  // of a field with a length: a message, a string, or packed integers
};

// Calls `visit` for each field, in order. InvalidArgument for bytes that are no message, and errors of `visit`.
absl::Status ReadWire(std::string_view message, const std::function<absl::Status(const WireField& field)>& visit);

// Calls `visit` for each integer of a repeated field, which may be packed.
absl::Status ReadIntegers(const WireField& field, const std::function<absl::Status(uint64_t value)>& visit);

void WriteInteger(std::string& message, uint32_t number, uint64_t value);
void WriteBytes(std::string& message, uint32_t number, std::string_view bytes);
void WritePacked(std::string& message, uint32_t number, std::span<const int64_t> values);

}  // namespace sgd::pjrt
