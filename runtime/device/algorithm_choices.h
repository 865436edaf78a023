// The algorithms by which a device's libraries compute instructions: chosen on one rank, and the same on all, since
// another algorithm gives other bits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::device {

// A choice is bytes that a library's thunk writes and reads, under a key: a text of everything that the choice depends
// on (library and its version, types, sizes, strides, alignments, workspace). Instructions of equal keys share it.
class AlgorithmChoices {
 public:
  // `device_name`: of the hardware, as the library's estimates depend on it.
  explicit AlgorithmChoices(std::string device_name) : device_name_(std::move(device_name)) {}

  const std::string& device_name() const { return device_name_; }

  // Whether this rank chooses, as the first one does, or uses the choices that it received.
  bool decides() const { return decides_; }
  void set_decides(bool decides) { decides_ = decides; }
  // Whether thunks are to time the library's best candidates on the device before they choose, instead of believing its
  // estimate.
  bool times_candidates() const { return times_candidates_; }
  void set_times_candidates(bool times) { times_candidates_ = times; }

  // Makes the choice under `key` the caller's. `use` takes bytes that may come from a file or another rank: it has the
  // library check them before it believes any of them, and does not return OK unless they can be executed. Where there
  // are none, or `use` refuses them, a rank that decides calls `choose`, for bytes that are then given to `use` and
  // kept; another rank fails (FailedPrecondition).
  absl::Status Use(const std::string& key, const std::function<absl::Status(std::string_view)>& use,
                   const std::function<absl::StatusOr<std::string>()>& choose);

  // Everything chosen so far. Restore adds what Save gave: InvalidArgument, and nothing added, for other bytes.
  std::string Save() const;
  absl::Status Restore(std::string_view bytes);
  // How often something was chosen here: whether a saved copy is outdated.
  uint64_t chosen() const { return chosen_; }

 private:
  std::string device_name_;
  bool decides_ = true, times_candidates_ = false;
  std::map<std::string, std::string> choices_;
  uint64_t chosen_ = 0;
};

}  // namespace sgd::device
