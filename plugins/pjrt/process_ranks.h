// The ranks of a list of devices over several processes. These run the same programs in the same order, and each run
// begins with an agreement between processes on what runs next.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/processes.h"
#include "runtime/embed/rank_pool.h"
#include "runtime/launch/rank_thread.h"
#include "runtime/launch/tcp_rank.h"

namespace sgd::pjrt {

class ProcessRanks {
 public:
  // `process_of` says the process of each rank, this one among them; `name` is equal in all processes, and another for
  // each list of devices. Meets nobody.
  static absl::StatusOr<std::unique_ptr<ProcessRanks>> Create(std::shared_ptr<const Processes> processes,
                                                              std::vector<uint32_t> process_of, std::string name);

  // Held from Agree until the program has run. Taken before the lock of RankPools.
  std::mutex turn;

  // The program that a process is about to run.
  struct Next {
    std::string name;    // of the program
    std::string digest;  // of its code
    uint64_t job = 0;    // number of the job that it runs in, of this era
  };
  // Waits until all processes are about to run the same. FailedPrecondition in all of them where they are not. Other
  // errors name the process that is late or has ended, and begin another era: also Cancelled for a signal of Python.
  absl::Status Agree(const Next& next);

  // After an error all jobs are opened anew: those of earlier eras have ended.
  uint64_t era() const { return era_; }
  // The number of the next job.
  uint64_t next_job() const { return next_job_; }
  // All processes open a job after the same agreement.
  absl::StatusOr<std::unique_ptr<embed::RankJob>> Open(uint64_t window_bytes);
  absl::Status Run(embed::RankJob& job, const embed::RankBody& body);

  // Tells the other processes, which have agreed to run a program, that this one does not.
  void Leave(const absl::Status& cause);

 private:
  ProcessRanks(std::shared_ptr<const Processes> processes, std::vector<uint32_t> process_of, std::string name);
  bool leads() const { return process_of_[0] == processes_->index(); }
  std::string NameOf(std::string_view what) const;
  absl::StatusOr<comm::HostAndPort> Meeting(const std::string& name, std::unique_ptr<comm::TcpAcceptor>* acceptor);

  // On the lead thread.
  absl::Status MeetProcesses();
  absl::Status Compare(const std::vector<std::string>& all) const;

  // Runs `body` on the lead thread while this one looks for signals of Python.
  absl::Status RunOnLead(std::function<absl::Status()> body);
  // Why this process should not wait for others any more.
  absl::Status Interruption();
  // The session has ended. A thread of its own.
  void NoteEnd(const absl::Status& cause);

  const std::shared_ptr<const Processes> processes_;
  const std::vector<uint32_t> process_of_;  // by rank
  const std::string name_;
  std::vector<uint32_t> members_;  // the processes, by their rank in the session; the first has rank 0 of the jobs
  std::vector<uint32_t> own_;      // ranks of this process
  std::unique_ptr<embed::RankPool> pool_;
  uint64_t era_ = 0, next_job_ = 0;

  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;       // the lead thread's function
  bool is_interrupted_ = false;  // by a signal
  absl::Status outcome_;
  absl::Status session_end_;  // its cause
  embed::RankJob* running_ = nullptr;
  std::unique_ptr<launch::TcpRank> session_;  // of this process among the processes
  launch::ReturningPolicy policy_;
  std::unique_ptr<launch::RankThread> lead_;  // destroyed first
};

// Says in a message which process each rank that it names belongs to; of messages about processes by their rank, the
// process alone.
absl::Status NameProcesses(const absl::Status& status, const std::vector<uint32_t>& process_of, bool keeps_ranks);

}  // namespace sgd::pjrt
