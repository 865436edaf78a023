// One gathering of two bytes each.
#include "runtime/launch/comm_thread.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

namespace sgd::launch {

absl::StatusOr<CommThreadChoice> AgreeOnCommThread(comm::Control& control, CommThread choice, bool has_spare_core,
                                                   absl::Duration timeout) {
  if (control.size() == 1) return CommThreadChoice{};
  const char mine[] = {static_cast<char>(choice), static_cast<char>(has_spare_core)};
  absl::StatusOr<std::vector<std::string>> all = control.AllGatherBytes(std::string_view(mine, sizeof(mine)), timeout);
  if (!all.ok()) return all.status();
  CommThreadChoice result{.has_own_core = true};
  for (size_t rank = 0; rank < all->size(); ++rank) {
    if ((*all)[rank].size() != sizeof(mine) || (*all)[rank][0] != mine[0]) {
      return absl::FailedPreconditionError(
          absl::StrCat("rank ", rank, " was started with another choice of a communication thread (--comm-thread)"));
    }
    result.has_own_core = result.has_own_core && (*all)[rank][1] != 0;
  }
  const bool is_worth_it = result.has_own_core || control.spans_hosts();
  result.starts = choice == CommThread::kOn || (choice == CommThread::kAuto && is_worth_it);
  return result;
}

}  // namespace sgd::launch
