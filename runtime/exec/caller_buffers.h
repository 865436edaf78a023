// Buffers of the caller that an executor runs on instead of memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"

namespace sgd::exec {

// Memory of the device for the arenas of a rank; empty where the context allocates. Aligned to 4096 bytes and zero at
// the start, as a device::Arena; it outlives the context.
struct CallerArenas {
  std::span<std::byte> private_arena = {};  // ArtifactFile::SpacesOf(rank).private_bytes, at least
  std::span<std::byte> host_arena = {};     // in memory of HostTransfer::AllocateHost, where the artifact needs it
};

// An input or output in memory of the device that the caller owns: this rank's shard. It outlives the executor.
struct CallerTensor {
  static constexpr uint64_t kAlignment = 64;

  size_t position;  // among the inputs or outputs of the whole program
  std::span<std::byte> bytes;
};

// Where a program's tensors are. A tensor whose memory in the plan nothing else uses is in the caller's buffer, and
// instructions work there; any other is copied between its buffer and its place in the plan in every step.
class CallerBuffers {
 public:
  // `memory` is that of the artifact's spaces. Positions are those of `program`'s own inputs and outputs.
  // InvalidArgument, naming the tensor, for buffers of another size, that are not aligned, or that overlap each other
  // or an arena.
  static absl::StatusOr<CallerBuffers> Bind(const artifact::Program& program, const device::MemoryMap& memory,
                                            uint64_t private_bytes, std::span<const CallerTensor> inputs,
                                            std::span<const CallerTensor> outputs);

  // With the buffers that are in place.
  const device::MemoryMap& memory() const { return memory_; }

  struct Copy {
    const std::byte* source;
    std::byte* target;
    uint64_t bytes;
  };
  // Before the first instruction of a step, and behind the last one.
  const std::vector<Copy>& copies_in() const { return copies_in_; }
  const std::vector<Copy>& copies_out() const { return copies_out_; }

 private:
  class Binder;

  device::MemoryMap memory_;
  std::vector<Copy> copies_in_, copies_out_;
};

}  // namespace sgd::exec
