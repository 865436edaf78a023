// The encoding of https://protobuf.dev/programming-guides/encoding.
#include "plugins/pjrt/wire.h"

#include <optional>

namespace sgd::pjrt {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5 };

std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

std::optional<uint64_t> TakeFixed(std::string_view& bytes, size_t size) {
  if (bytes.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  bytes.remove_prefix(size);
  return value;
}

// False where the field is not complete, or of a type that is not in use.
bool TakeValue(std::string_view& bytes, uint32_t type, WireField& field) {
  std::optional<uint64_t> value;
  if (type == kVarint || type == kLength) value = TakeVarint(bytes);
  if (type == kFixed64) value = TakeFixed(bytes, 8);
  if (type == kFixed32) value = TakeFixed(bytes, 4);
  if (!value) return false;
  if (type != kLength) {
    field.integer = *value;
    return true;
  }
  if (*value > bytes.size()) return false;
  field.bytes = bytes.substr(0, *value);
  bytes.remove_prefix(*value);
  return true;
}

void AppendVarint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

}  // namespace

absl::Status ReadWire(std::string_view message, const std::function<absl::Status(const WireField& field)>& visit) {
  while (!message.empty()) {
    const std::optional<uint64_t> tag = TakeVarint(message);
    WireField field;
    if (tag) field.number = static_cast<uint32_t>(*tag >> 3);
    if (!tag || !TakeValue(message, *tag & 7, field))
      return absl::InvalidArgumentError("the compile options are no protocol buffer");
    if (absl::Status status = visit(field); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadIntegers(const WireField& field, const std::function<absl::Status(uint64_t value)>& visit) {
  if (field.bytes.empty()) return visit(field.integer);
  for (std::string_view packed = field.bytes; !packed.empty();) {
    const std::optional<uint64_t> value = TakeVarint(packed);
    if (!value) return absl::InvalidArgumentError("the compile options are no protocol buffer");
    if (absl::Status status = visit(*value); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void WriteInteger(std::string& message, uint32_t number, uint64_t value) {
  AppendVarint(message, uint64_t{number} << 3 | kVarint);
  AppendVarint(message, value);
}

void WriteBytes(std::string& message, uint32_t number, std::string_view bytes) {
  AppendVarint(message, uint64_t{number} << 3 | kLength);
  AppendVarint(message, bytes.size());
  message.append(bytes);
}

void WritePacked(std::string& message, uint32_t number, std::span<const int64_t> values) {
  std::string packed;
  for (const int64_t value : values) AppendVarint(packed, static_cast<uint64_t>(value));
  WriteBytes(message, number, packed);
}

}  // namespace sgd::pjrt
