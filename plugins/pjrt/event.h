// Events: what the caller waits for. Work of this plugin is done when its functions return, so most are ready from the
// start; those that the caller creates are set by it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "plugins/pjrt/errors.h"

struct PJRT_Event {
  PJRT_Event() = default;
  explicit PJRT_Event(absl::Status status) : outcome(std::move(status)) {}

  std::mutex mutex;
  std::condition_variable is_set;
  std::optional<absl::Status> outcome;  // nothing until the event is ready
  struct Callback {
    PJRT_Event_OnReadyCallback function;
    void* user_arg;
  };
  std::vector<Callback> callbacks;  // of those who asked before
};

namespace sgd::pjrt {

inline PJRT_Event* ReadyEvent() { return new PJRT_Event(absl::OkStatus()); }

absl::Status DestroyEvent(PJRT_Event_Destroy_Args& args);
absl::Status IsEventReady(PJRT_Event_IsReady_Args& args);
absl::Status GetEventError(PJRT_Event_Error_Args& args);
absl::Status AwaitEvent(PJRT_Event_Await_Args& args);
absl::Status OnEventReady(PJRT_Event_OnReady_Args& args);
absl::Status CreateEvent(PJRT_Event_Create_Args& args);
absl::Status SetEvent(PJRT_Event_Set_Args& args);

}  // namespace sgd::pjrt
