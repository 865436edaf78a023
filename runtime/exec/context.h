// Resources that all programs of one artifact share on one rank: device, communicator, loaded kernels and
// memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"
#include "runtime/comm/collectives/communicator.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/device/device.h"
#include "runtime/exec/algorithm_cache.h"
#include "runtime/exec/caller_buffers.h"

namespace sgd::exec {

// One rank's memory: the private arena, and the one in pinned memory of the host, are the caller's or allocated once,
// the window is the communicator's, constants are the artifact's mapping. Programs of the artifact use the same arenas,
// so state inputs of equal slices are shared by them without copies.
class ExecutionContext {
 public:
  // Borrows all three, which must outlive it. FailedPrecondition when the number of ranks is not
  // the mesh's, the window is too small or not the device's, or the artifact is for another target or CPU;
  // ResourceExhausted when memory is; InvalidArgument for an arena of the caller that is too small or not aligned.
  static absl::StatusOr<std::unique_ptr<ExecutionContext>> Create(const artifact::ArtifactFile& file,
                                                                  device::Device& device,
                                                                  comm::Communicator& communicator,
                                                                  const CallerArenas& arenas = {});

  const artifact::ArtifactFile& file() const { return file_; }
  device::Device& device() const { return device_; }
  comm::Communicator& communicator() const { return communicator_; }
  comm::Control& control() const { return communicator_.control(); }
  const device::KernelLibrary& kernels() const { return *kernels_; }
  const device::MemoryMap& memory() const { return memory_; }
  const comm::Mesh& mesh() const { return mesh_; }
  uint32_t rank() const { return control().rank(); }
  // The stage whose programs this rank runs; -1 without stages.
  int32_t stage() const;

  // Keeps what was chosen since, for the next start; nothing on ranks that do not choose, or for an artifact in memory.
  void SaveAlgorithms();
  // A note on the file of algorithms beside the artifact, for instance that it is damaged; empty for none.
  const std::string& algorithm_note() const { return algorithm_note_; }

  uint64_t private_bytes() const { return private_bytes_; }
  // Bytes of private arena, window and constants as allocated: what the report calls memory.peak.
  uint64_t arena_bytes() const;
  // Bytes of the arena in the host's memory: what the report calls memory.host.
  uint64_t host_bytes() const { return host_bytes_; }

 private:
  ExecutionContext(const artifact::ArtifactFile& file, device::Device& device, comm::Communicator& communicator)
      : file_(file), device_(device), communicator_(communicator) {}
  absl::Status PlacePrivate(std::span<std::byte> arena);
  absl::Status PlaceConstants();
  // Memory of the host beside the device.
  absl::Status PlaceHost(std::span<std::byte> arena);
  void LoadAlgorithms();

  const artifact::ArtifactFile& file_;
  device::Device& device_;
  comm::Communicator& communicator_;
  comm::Mesh mesh_;
  std::unique_ptr<device::Arena> private_arena_, host_arena_;  // null where it is the caller's, or there is none
  uint64_t private_bytes_ = 0, host_bytes_ = 0;
  std::unique_ptr<device::Arena> constants_;  // where the host's mapping is no memory of the device
  std::unique_ptr<device::KernelLibrary> kernels_;
  device::MemoryMap memory_;
  std::unique_ptr<AlgorithmCache> algorithms_;  // on the rank that chooses
  std::string algorithm_note_;
};

}  // namespace sgd::exec
