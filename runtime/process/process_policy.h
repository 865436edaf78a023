// The failure policy of a program that is nothing but a rank or the launcher of ranks: what the runtime cannot return
// ends the process, as do signals.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/launch/failure_policy.h"
#include "runtime/process/supervisor.h"

namespace sgd::process {

class ProcessPolicy final : public launch::FailurePolicy {
 public:
  struct Options {
    // Whether the first SIGINT or SIGTERM to the launcher or to any rank makes Control::BeginStep end the loop of all
    // ranks after the same step, else it ends the job at once, as the second one does anyway.
    bool stops_between_steps = false;
    // Called before this process ends at once, by a signal or because a peer has died: removes unfinished files. May be
    // empty; runs on any thread, and once.
    std::function<void()> clean_up = nullptr;
    // In the launcher, as of SupervisorOptions. May be empty.
    std::function<bool()> hang_up = nullptr;
    // Called in the launcher when the job of its ranks has failed, which may be started again then: a single rank is a
    // process of its own too where this is set, and whoever set it cleans up. May be empty.
    std::function<void(const Failure& failure)> failed = nullptr;
    // Called with notes. May be empty; any thread.
    std::function<void(const std::string& text)> note = nullptr;
  };

  explicit ProcessPolicy(Options options) : options_(std::move(options)) {}

  const Options& options() const { return options_; }
  // In a process that a Supervisor of this host watches: ends without a word, since that tells the user and cleans up.
  void set_supervised() { is_supervised_ = true; }

  // Takes SIGINT and SIGTERM while the watch lives. One job at a time.
  absl::StatusOr<std::unique_ptr<Watch>> Enter(launch::JobHandle& job) override;
  void GiveUp(const absl::Status& cause) override;
  void Note(const std::string& text) override;
  std::string Where() override;
  void SetPosition(std::function<launch::RankPosition()> position) override;

 private:
  const Options options_;
  bool is_supervised_ = false;
  std::atomic<pid_t> rank_thread_ = 0;  // that has entered the job
  std::mutex position_mutex_;
  std::function<launch::RankPosition()> position_;
};

}  // namespace sgd::process
