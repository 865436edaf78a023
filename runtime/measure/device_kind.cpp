#include "runtime/measure/device_kind.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/measure/timing.h"

namespace sgd::measure {
namespace {

std::string Describe(const std::string& architecture) { return architecture.empty() ? "a CPU" : architecture; }

}  // namespace

absl::StatusOr<DeviceKind> AgreeOnKind(const DeviceKind& mine, comm::Control& control, absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> all = control.AllGatherBytes(mine.architecture, timeout);
  if (!all.ok()) return all.status();
  for (size_t rank = 1; rank < all->size(); ++rank) {
    if ((*all)[rank] == all->front()) continue;
    return absl::FailedPreconditionError(absl::StrCat("rank 0 has ", Describe(all->front()), ", rank ", rank, " has ",
                                                      Describe((*all)[rank]),
                                                      "; expected devices of one kind, as a topology has them; measure "
                                                      "each kind by itself"));
  }
  absl::StatusOr<uint64_t> memory_bytes = Agreement(control, timeout).Least(mine.memory_bytes);
  if (!memory_bytes.ok()) return memory_bytes.status();
  return DeviceKind{.memory_bytes = *memory_bytes, .architecture = mine.architecture};
}

}  // namespace sgd::measure
