// A status with a mark on it.
#include "runtime/launch/interruption.h"

#include <string.h>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"

namespace sgd::launch {
namespace {

constexpr char kMark[] = "sgd/interrupted";

}  // namespace

absl::Status Interrupted() {
  absl::Status status = absl::CancelledError("stopped between two steps");
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsInterrupted(const absl::Status& status) { return status.GetPayload(kMark).has_value(); }

std::string SignalText(int signal) { return absl::StrCat("signal ", signal, " (", strsignal(signal), ")"); }

}  // namespace sgd::launch
