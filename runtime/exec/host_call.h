// Calls of functions of the process within a step, such as the Python functions of jax.debug.print. The process gives
// executors a handler, which finds the function by its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/device/device.h"

namespace sgd::exec {

// A dense row-major tensor. Integers of the artifact have no sign: the function knows its own.
struct HostTensor {
  artifact::ElementType element;
  std::vector<uint64_t> dims;
  std::span<std::byte> bytes;  // inputs must only be read
};

struct HostCall {
  uint64_t id;       // of the function
  std::string name;  // for people
  uint32_t rank;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;  // to be filled
};

// Called on the rank's thread, once for each execution. An error ends the step, and the job of all ranks. Valid only
// during the call: the memory of all tensors.
using HostCallHandler = std::function<absl::Status(const HostCall& call)>;

// FailedPrecondition without a handler. Borrows the handler and the memory.
device::PreparedThunk PrepareHostCall(const artifact::HostCall& call, const device::MemoryMap& memory, uint32_t rank,
                                      const HostCallHandler* handler);

// The functions that programs of the artifact call, each once.
std::set<uint64_t> HostFunctionsOf(const artifact::Artifact& root);

}  // namespace sgd::exec
