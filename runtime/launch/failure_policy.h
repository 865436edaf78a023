// The decisions about failures that no call can return, of the program that the runtime runs in. The runtime itself
// ends no process, handles no signal and prints nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::launch {

// This rank's job, for any thread: one that handles signals, or one that has met an error that its caller cannot have.
class JobHandle {
 public:
  virtual ~JobHandle() = default;

  // Ends the job with this cause unless it has ended. Returns when the other ranks know, or after half a second.
  virtual void Abort(const absl::Status& cause) = 0;

  // The message of this rank about the end of the job by `cause`. Of ranks that were started one by one on a host, one
  // names the cause, and the others refer to it.
  virtual absl::Status MessageOf(const absl::Status& cause) = 0;

  // As of comm::Control. Once the state is kept it stops nothing, but ranks of one host that give way to others pass
  // the signal on to these.
  virtual void RequestStop(int signal) = 0;
  virtual bool is_state_kept() const = 0;
};

// The position of a rank in the run.
struct RankPosition {
  std::string instruction;  // "program 'main' instruction 4 (launch) at gpt.py:3:1"; empty between steps
  std::string location;     // "gpt.py:3:1"
};

class FailurePolicy {
 public:
  // Reactions of the program to one job. Ends with the object.
  class Watch {
   public:
    virtual ~Watch() = default;
  };

  virtual ~FailurePolicy() = default;

  // This rank has met the others. `job` lives until the watch is destroyed, which may be null. An error ends the job.
  virtual absl::StatusOr<std::unique_ptr<Watch>> Enter(JobHandle& job) = 0;

  // The job has ended with `cause`, the others know it, and this rank has not returned within the grace: it computes,
  // or waits for a device. Called on threads of the runtime, also before Enter, and maybe by several. Either ends the
  // process, as that of sgdrun does, or returns soon: then the rank ends at its next wait.
  virtual void GiveUp(const absl::Status& cause) = 0;

  // Worth telling, no error: whom a meeting has turned away. Any thread.
  virtual void Note(const std::string& text) = 0;

  // Where this rank is, for a message that it makes no progress: its position and its threads, in one line. Empty where
  // the program does not tell. Called on threads of the runtime beside the rank's own; takes half a second at most.
  virtual std::string Where() { return {}; }
  // How Where() finds the position from now on; null: not at all. Any thread.
  virtual void SetPosition(std::function<RankPosition()> /*position*/) {}
};

// As options of meetings have it. Borrows the policy.
inline std::function<void(const std::string& text)> NotesTo(FailurePolicy& policy) {
  return [&policy](const std::string& text) { policy.Note(text); };
}

// The policy of a program that goes on: rank functions return their errors, and nothing else happens.
class ReturningPolicy : public FailurePolicy {
 public:
  absl::StatusOr<std::unique_ptr<Watch>> Enter(JobHandle&) override { return nullptr; }
  void GiveUp(const absl::Status&) override {}
  void Note(const std::string&) override {}
};

}  // namespace sgd::launch
