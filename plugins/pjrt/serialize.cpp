// An executable as bytes: a protocol buffer of its own, behind a line that names its version.
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/executable.h"
#include "plugins/pjrt/wire.h"

namespace sgd::pjrt {
namespace {

constexpr std::string_view kHeader = "sgd executable 3, sgd " SGD_VERSION "\n";

enum FieldNumber : uint32_t {
  kName = 1,
  kOptions,
  kResultType,
  kDonated,
  kArtifact,
  kFlops,
  kArguments,
  kOutputs,
  kAliased,
  kTemporaries,
  kPeak,
  kArgumentType,
  kArgumentMemory,
  kResultMemory,
  kProgramText
};

void ReadField(const WireField& field, Compiled& compiled, CompiledText& text) {
  switch (field.number) {
    case kName:
      compiled.name = field.bytes;
      break;
    case kOptions:
      compiled.options_proto = field.bytes;
      break;
    case kArgumentType:
      compiled.argument_types.emplace_back(field.bytes);
      break;
    case kResultType:
      compiled.result_types.emplace_back(field.bytes);
      break;
    case kArgumentMemory:
      compiled.argument_memories.emplace_back(field.bytes);
      break;
    case kResultMemory:
      compiled.result_memories.emplace_back(field.bytes);
      break;
    case kDonated:
      compiled.is_donated.push_back(field.integer != 0);
      break;
    case kArtifact:
      text.artifact = field.bytes;
      break;
    case kProgramText:
      text.text = field.bytes;
      break;
    case kFlops:
      text.metrics.flops = std::bit_cast<double>(field.integer);
      break;
    case kArguments:
      text.metrics.arguments = field.integer;
      break;
    case kOutputs:
      text.metrics.outputs = field.integer;
      break;
    case kAliased:
      text.metrics.aliased = field.integer;
      break;
    case kTemporaries:
      text.metrics.temporaries = field.integer;
      break;
    case kPeak:
      text.metrics.peak = field.integer;
      break;
    default:
      break;
  }
}

}  // namespace

std::string Serialize(const Compiled& compiled) {
  std::string bytes(kHeader);
  WriteBytes(bytes, kName, compiled.name);
  WriteBytes(bytes, kOptions, compiled.options_proto);
  for (const std::string& type : compiled.argument_types) WriteBytes(bytes, kArgumentType, type);
  for (const std::string& type : compiled.result_types) WriteBytes(bytes, kResultType, type);
  for (const std::string& kind : compiled.argument_memories) WriteBytes(bytes, kArgumentMemory, kind);
  for (const std::string& kind : compiled.result_memories) WriteBytes(bytes, kResultMemory, kind);
  for (const bool is_donated : compiled.is_donated) WriteInteger(bytes, kDonated, is_donated ? 1 : 0);
  const CompiledText& text = *compiled.text;
  WriteInteger(bytes, kFlops, std::bit_cast<uint64_t>(text.metrics.flops));
  WriteInteger(bytes, kArguments, text.metrics.arguments);
  WriteInteger(bytes, kOutputs, text.metrics.outputs);
  WriteInteger(bytes, kAliased, text.metrics.aliased);
  WriteInteger(bytes, kTemporaries, text.metrics.temporaries);
  WriteInteger(bytes, kPeak, text.metrics.peak);
  WriteBytes(bytes, kProgramText, text.text);
  WriteBytes(bytes, kArtifact, text.artifact);
  return bytes;
}

absl::StatusOr<Compiled> Deserialize(std::string_view bytes) {
  if (!bytes.starts_with(kHeader))
    return absl::InvalidArgumentError(
        absl::StrCat("the bytes are no executable of sgd ", SGD_VERSION, "; compile the program anew"));
  Compiled compiled;
  auto text = std::make_shared<CompiledText>();
  absl::Status status = ReadWire(bytes.substr(kHeader.size()), [&](const WireField& field) {
    ReadField(field, compiled, *text);
    return absl::OkStatus();
  });
  if (!status.ok()) return absl::InvalidArgumentError("the serialized executable is damaged; compile the program anew");
  compiled.text = std::move(text);
  return compiled;
}

}  // namespace sgd::pjrt
