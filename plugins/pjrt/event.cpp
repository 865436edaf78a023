// Events are a status behind a mutex. Callbacks run on the thread that sets the event, or at once.
#include "plugins/pjrt/event.h"

#include <utility>

namespace sgd::pjrt {

absl::Status DestroyEvent(PJRT_Event_Destroy_Args& args) {
  delete args.event;
  return absl::OkStatus();
}

absl::Status IsEventReady(PJRT_Event_IsReady_Args& args) {
  const std::lock_guard lock(args.event->mutex);
  args.is_ready = args.event->outcome.has_value();
  return absl::OkStatus();
}

absl::Status GetEventError(PJRT_Event_Error_Args& args) {
  const std::lock_guard lock(args.event->mutex);
  return args.event->outcome.value_or(absl::FailedPreconditionError("the event is not ready"));
}

absl::Status AwaitEvent(PJRT_Event_Await_Args& args) {
  std::unique_lock lock(args.event->mutex);
  args.event->is_set.wait(lock, [&] { return args.event->outcome.has_value(); });
  return *args.event->outcome;
}

absl::Status OnEventReady(PJRT_Event_OnReady_Args& args) {
  std::unique_lock lock(args.event->mutex);
  if (!args.event->outcome) {
    args.event->callbacks.push_back({args.callback, args.user_arg});
    return absl::OkStatus();
  }
  const absl::Status outcome = *args.event->outcome;
  lock.unlock();
  args.callback(ErrorOf(outcome), args.user_arg);
  return absl::OkStatus();
}

absl::Status CreateEvent(PJRT_Event_Create_Args& args) {
  args.event = new PJRT_Event();
  return absl::OkStatus();
}

absl::Status SetEvent(PJRT_Event_Set_Args& args) {
  std::unique_lock lock(args.event->mutex);
  if (args.event->outcome) return absl::FailedPreconditionError("the event has been set before");
  const absl::Status outcome = StatusOf(args.error_code, args.error_message, args.error_message_size);
  args.event->outcome = outcome;
  std::vector<PJRT_Event::Callback> callbacks = std::exchange(args.event->callbacks, {});
  args.event->is_set.notify_all();
  lock.unlock();
  for (const PJRT_Event::Callback& callback : callbacks) callback.function(ErrorOf(outcome), callback.user_arg);
  return absl::OkStatus();
}

}  // namespace sgd::pjrt
