// Moves outputs of a step into inputs of the next one, also between programs: after it, the inputs
// hold what the outputs held.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"

namespace sgd::exec {

// (output, input) positions.
using CarryPairs = std::vector<std::pair<size_t, size_t>>;

// The artifact's pairs: Output.carry_input of every output.
CarryPairs RecordedCarry(const Executor& executor);

// A set of copies that behaves as if all were made at once. Pairs in the same place cost nothing.
class Carry {
 public:
  // Outputs of `from` into inputs of `to`, two programs of the context's artifact or the same one.
  // InvalidArgument, with names, when a pair differs in type, shape or sharding, does not exist, or
  // an input is filled twice.
  static absl::StatusOr<std::unique_ptr<Carry>> Create(ExecutionContext& context, const Executor& from,
                                                       const Executor& to, const CarryPairs& pairs);

  // After Run of `from`, when its outputs have been read: outputs' bytes may be overwritten.
  absl::Status Run();
  // Whether there is nothing to copy.
  bool is_empty() const { return copies_.empty(); }

 private:
  std::vector<std::unique_ptr<device::Thunk>> copies_;
  std::unique_ptr<device::Arena> staging_;  // for copies that overlap in a circle; mostly null
};

}  // namespace sgd::exec
