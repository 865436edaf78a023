// The additional interface of a device with streams: several streams, events between them, and captures of
// enqueued work that can be replayed at once.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/device/device.h"

namespace sgd::device {

// A point in a stream that other streams and the host can wait for. Must not outlive its Streams.
class Event {
 public:
  virtual ~Event() = default;
  virtual absl::Status Record(uint32_t stream) = 0;
  // Later work on `stream` runs after the work before the last Record.
  virtual absl::Status Wait(uint32_t stream) = 0;
  // Whether what came before the last Record is complete; the first error of a stream otherwise.
  virtual absl::StatusOr<bool> IsReached() = 0;
  // Returns the device's time from the last Record of `begin` to that of this event; both are timed and reached.
  virtual absl::StatusOr<absl::Duration> Since(const Event& begin) const = 0;
};

// Streams and events are numbered as in StreamPlan; stream 0 is there from the start and is used at first.
class Streams {
 public:
  // The stream of copies between host and device that run beside everything else; there from the start, never recorded.
  static constexpr uint32_t kCopies = ~uint32_t{0};

  virtual ~Streams() = default;

  // Makes sure that there are streams [0, streams) and events [0, events).
  virtual absl::Status Reserve(uint32_t streams, uint32_t events) = 0;

  // From now on thunks, and collectives of a communicator on this device, go to this stream.
  virtual void Use(uint32_t stream) = 0;
  virtual absl::Status Record(uint32_t stream, uint32_t event) = 0;
  virtual absl::Status Wait(uint32_t stream, uint32_t event) = 0;

  // An event beside the numbered ones, which is its holder's alone. Those that are `timed` cost a little more.
  virtual absl::StatusOr<std::unique_ptr<Event>> MakeEvent(bool timed = false) = 0;

  // Work enqueued between the two has this name in the device's profilers, also where it is captured. Ranges may
  // nest. `name` is used in the call alone.
  virtual void BeginRange(const char* name) {}
  virtual void EndRange() {}

  // Between the two, enqueued work is captured and not run: on stream 0, and on streams that wait for events recorded
  // on it, directly or not. All of that must be joined to stream 0 at the end. The thunk runs the capture on stream 0.
  virtual absl::Status BeginRecording() = 0;
  virtual PreparedThunk EndRecording() = 0;

  // Whether everything given so far is complete; the first error of a stream otherwise. DataLoss, here and of every
  // other call, is of anything given before, and final.
  virtual absl::StatusOr<bool> IsIdle() = 0;
};

}  // namespace sgd::device
