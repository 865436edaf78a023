// The interface of what computes for a rank: memory, kernels, and instructions prepared before the
// first step. One device belongs to one rank, and one thread uses it at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/reader.h"
#include "runtime/comm/collectives/mesh.h"

namespace sgd::device {

class AlgorithmChoices;  // algorithm_choices.h
class HostTransfer;      // host_transfer.h
class Streams;           // streams.h

// Memory that a device allocated; freed with the object. Aligned to at least 4096 bytes and zero at
// the start.
class Arena {
 public:
  virtual ~Arena() = default;
  virtual std::byte* data() const = 0;
  // As asked for, not rounded.
  virtual uint64_t size() const = 0;
};

// The addresses of the artifact's spaces on this rank. Owns nothing; the memory must outlive
// every prepared thunk.
struct MemoryMap {
  std::byte* private_base = nullptr;
  std::byte* window_base = nullptr;
  const std::byte* constant_base = nullptr;
  std::byte* host_base = nullptr;

  // A range of a space that is elsewhere than the rest of it: in a buffer of the caller.
  struct BoundRange {
    artifact::Slice range;
    std::byte* data;
  };
  std::vector<BoundRange> bound = {};  // disjoint, in rising order of space and offset

  // Slices are from now on in the range or outside of it.
  void Bind(const artifact::Slice& range, std::byte* data);
  bool IsBound(const artifact::Slice& slice) const { return Find(slice) != nullptr; }

  // Address of a verified slice. Slices of the constant space must only be read; scratch memory is the device's own and
  // has no address here.
  std::byte* Address(const artifact::Slice& slice) const;

 private:
  const BoundRange* Find(const artifact::Slice& slice) const;
};

// The kernels of one artifact, loaded. Must outlive the thunks made from it.
class KernelLibrary {
 public:
  virtual ~KernelLibrary() = default;
};

// One instruction, ready to run any number of times over the same memory. Execute neither allocates
// nor locks, and on a device with a stream it only enqueues; errors are of the environment, not of
// the program.
class Thunk {
 public:
  virtual ~Thunk() = default;
  virtual absl::Status Execute() = 0;
};

// Or why the instruction cannot be prepared.
using PreparedThunk = absl::StatusOr<std::unique_ptr<Thunk>>;

// A launch with its coordinates for this rank.
struct GroupedLaunch {
  const artifact::Launch* launch;
  std::vector<int64_t> coordinates;
};

// Launches of a group that one kernel does.
struct CombinedLaunches {
  uint32_t kernel;
  std::vector<uint32_t> launches;  // positions in the group
};

// The environment in which a rank's instructions are prepared. Borrows everything.
struct RankContext {
  const KernelLibrary& kernels;
  const MemoryMap& memory;
  const comm::Mesh& mesh;
  uint32_t rank;
};

class Device {
 public:
  virtual ~Device() = default;

  // "cpu", ...: the value of Artifact.target that this device executes.
  virtual const char* target() const = 0;

  // Everything that influences bits: CPU features used, library versions. Ranks whose texts differ
  // must not run together.
  virtual std::string fingerprint() const = 0;

  // Cores of the host that are near this device, as a list of the system's ("0-15,64-79"); empty where all are or it is
  // not known.
  virtual std::string near_cores() const { return ""; }

  // Opens the libraries that the artifact's programs need beside the device; from then on fingerprint() names their
  // versions. FailedPrecondition when one is missing or too old.
  virtual absl::Status OpenLibraries(const artifact::ArtifactFile& file) { return absl::OkStatus(); }

  // Takes memory at once for the arenas that are allocated from then on. ResourceExhausted when there is not that much.
  virtual absl::Status Reserve(uint64_t bytes) { return absl::OkStatus(); }

  // Bytes of the device's memory that are in use, by any process; nullopt where it has none of its own.
  virtual std::optional<uint64_t> used_bytes() const { return std::nullopt; }

  // ResourceExhausted when there is not that much memory.
  virtual absl::StatusOr<std::unique_ptr<Arena>> Allocate(uint64_t bytes) = 0;

  // Checks that this device can run the artifact (FailedPrecondition saying which feature or
  // version is missing), then loads its kernels. An artifact without kernels gives an empty
  // library.
  virtual absl::StatusOr<std::unique_ptr<KernelLibrary>> LoadKernels(const artifact::ArtifactFile& file) = 0;
  // Those that the programs of one stage run; the others as well where that costs nothing. -1: all.
  virtual absl::StatusOr<std::unique_ptr<KernelLibrary>> LoadKernelsOf(const artifact::ArtifactFile& file,
                                                                       int32_t stage) {
    return LoadKernels(file);
  }

  // The one below for the kind of the instruction. A device that executes other kinds as well prepares them here;
  // Unimplemented, naming the kind, for what it does not execute.
  virtual PreparedThunk Prepare(const artifact::Instruction& instruction, const RankContext& rank);

  // Each makes an instruction of a verified artifact executable: choices, primitives and scratch
  // memory are made here, none later. Unimplemented says what the device cannot do. `coordinates`
  // are Launch.coordinates evaluated for this rank; thunks keep no reference to the artifact.
  virtual PreparedThunk PrepareLaunch(const artifact::Launch& launch, const KernelLibrary& library,
                                      const MemoryMap& memory, std::span<const int64_t> coordinates) = 0;
  // Launches that are independent of each other, as one thunk: they may run at the same time. Kernels for some of them
  // together may be used or not.
  virtual PreparedThunk PrepareLaunchGroup(std::span<const GroupedLaunch> launches,
                                           std::span<const CombinedLaunches> combined, const KernelLibrary& library,
                                           const MemoryMap& memory) = 0;
  virtual PreparedThunk PrepareMatmul(const artifact::Matmul& matmul, const MemoryMap& memory) = 0;
  virtual PreparedThunk PrepareConvolution(const artifact::Convolution& convolution, const MemoryMap& memory) = 0;
  // Unimplemented where no library of the device has it.
  virtual PreparedThunk PrepareAttention(const artifact::Attention& attention, const MemoryMap& memory);
  // Likewise.
  virtual PreparedThunk PrepareLinearAlgebra(const artifact::LinearAlgebra& call, const MemoryMap& memory);
  virtual PreparedThunk PrepareTiled(const artifact::Tiled& tiled, const KernelLibrary& library,
                                     const MemoryMap& memory) = 0;
  // Copies `bytes` bytes between addresses of this device's memory, which may overlap.
  virtual PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) = 0;
  // Repeats the pattern of 1 to 16 bytes over `bytes` bytes, a multiple of its length.
  virtual PreparedThunk PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) = 0;

  // Returns when everything executed so far is complete, with the first error of a stream.
  virtual absl::Status Synchronize() = 0;

  // Calls `body(i)` for each i in [0, count) on the compute threads of this host, in any order, and
  // returns when all have returned: for work of the host on memory that the device uses.
  virtual void RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) = 0;

  // Compute threads, including the caller's.
  virtual uint32_t threads() const = 0;

  // A number that changes when a part of a thunk is finished, from any thread: of a device whose thunks can take long.
  virtual uint64_t progress() const { return 0; }

  // How the host reaches this device's memory; null where it may use addresses of it as its own.
  virtual HostTransfer* host_transfer() { return nullptr; }

  // The streams of a device that executes thunks asynchronously; null where Execute returns after execution.
  virtual Streams* streams() { return nullptr; }

  // The algorithms that a device chooses while it prepares instructions, where its libraries have several;
  // null where there is nothing to choose.
  virtual AlgorithmChoices* algorithm_choices() { return nullptr; }
};

}  // namespace sgd::device
