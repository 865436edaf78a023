// Builds an .sgda file from the schema's object form, the kernels' ELF object and constants; the
// same calls give the same bytes.
//
//   ArtifactWriter writer;
//   writer.artifact().target = "cpu";
//   Slice weights = writer.AddConstant(bytes);
//   writer.SetKernels(elf);
//   absl::Status status = writer.WriteFile("model.sgda");
//
// Compiles without RTTI and exceptions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

class ArtifactWriter {
 public:
  // The program section in the object form that flatc generates (ArtifactT, ProgramT, InstructionT,
  // ...): fill it in place. constant_bytes and every collective_hash are set by the writer.
  ArtifactT& artifact() { return artifact_; }

  // Appends to the constants section and returns the slice that holds the bytes, aligned to
  // `alignment` (a power of two, at most a page). Equal contents share one slice.
  Slice AddConstant(std::string_view bytes, uint64_t alignment = 64);

  // The kernels section, which defines every symbol of ArtifactT.kernels: what the target says it
  // is (see Kernel in program.fbs). May be left out when there are none.
  void SetKernels(std::string section) { kernels_ = std::move(section); }

  uint64_t constant_bytes() const { return constants_.size(); }

  // The whole file's bytes. InvalidArgument when the reader would refuse them, with the reader's
  // message.
  absl::StatusOr<std::string> Serialize();

  // The same without the kernels section, of which the reader takes FromBytesWithoutCode, alone: that checks it.
  absl::StatusOr<std::string> SerializeWithoutCode();

  // Writes beside `path`, syncs and renames: `path` is either untouched or complete. Errors name
  // the path and the system's reason.
  absl::Status WriteFile(const std::string& path);

 private:
  absl::StatusOr<std::string> Build(std::string_view kernels);
  absl::Status SetCollectiveHashes();

  ArtifactT artifact_;
  std::string kernels_;
  std::string constants_;
  std::map<Hash, Slice> constant_slices_;
};

// Whether WriteFileAtomically may write to `path`, without a change of it.
absl::Status CheckWritable(const std::string& path);

// Writes `bytes` to `path` as WriteFile does. Symbolic links are followed; a device or a pipe is
// written to directly.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes);

}  // namespace sgd::artifact
