// A compiled program on its ranks: executors over memory that inputs are copied into and outputs stay in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/host_calls.h"
#include "plugins/pjrt/program_rank.h"
#include "plugins/pjrt/rank_pools.h"
#include "plugins/pjrt/storage.h"
#include "runtime/artifact/reader.h"
#include "runtime/data/shard.h"

namespace sgd::pjrt {

// All functions but Agree and spread under the lock of RankPools.
class Program : public std::enable_shared_from_this<Program> {
 public:
  // Rank r runs on device r of the list; a program of one rank runs in each process by itself. Errors are those of the
  // artifact, of the device, and of memory. Over several processes ranks are prepared by the first run.
  static absl::StatusOr<std::shared_ptr<Program>> Open(std::shared_ptr<RankPools> pools, std::string_view artifact,
                                                       std::string name, const DeviceList& devices);
  ~Program();

  uint32_t ranks() const { return static_cast<uint32_t>(file_->ranks()); }
  // The ranks of this process, in the order of a ProgramRun.
  const std::vector<uint32_t>& own_ranks() const { return own_ranks_; }
  // By position and rank.
  const std::vector<std::vector<data::Shard>>& inputs() const { return inputs_; }
  const std::vector<std::vector<data::Shard>>& outputs() const { return outputs_; }
  // Of the rank at `index` in own_ranks.
  std::span<std::byte> OutputBytes(size_t index, size_t output) const;

  // Null where all ranks are in this process. Else each run begins with Agree, under the turn of these.
  ProcessRanks* spread() const { return spread_; }
  absl::Status Agree();

  // Runs a step, and fills the run's outputs. The lock is free while functions of the process are called;
  // FailedPrecondition where one of them runs this program again. Outputs of the last run that somebody still holds get
  // memory of their own, unless they are donated inputs of this one: those are carried. After an error the program
  // starts anew, and donated inputs are lost.
  absl::Status Execute(const std::shared_ptr<ProgramRun>& run);

 private:
  Program(std::shared_ptr<RankPools> pools, std::shared_ptr<const artifact::ArtifactFile> file, std::string name);
  void FindShards();
  absl::StatusOr<std::unique_ptr<embed::RankJob>> OpenJob();
  absl::Status RunJob(const embed::RankBody& body);
  // Whether the job goes on.
  bool is_open() const;
  // Whether the only rank runs on the thread that calls.
  bool is_on_caller() const;
  // Identifies the threads that ranks run on; null on the thread that calls.
  absl::StatusOr<const void*> Threads();
  // Of calls of functions by a rank.
  exec::HostCallHandler Handler() const;
  // Calls `body` while no other program uses the threads, and this one does not run.
  absl::Status UseThreads(absl::FunctionRef<absl::Status()> body);
  absl::Status Start();
  void Stop();
  exec::CarryPairs CarriedBy(const ProgramRun& run) const;
  absl::Status DetachOthers(const ProgramRun& run);
  absl::Status DetachOnGpus(const std::vector<std::shared_ptr<Storage>>& storages);
  absl::Status RunStep(const std::shared_ptr<ProgramRun>& run);
  absl::Status RunServing(const embed::RankBody& body);
  absl::Status ExecuteOnRanks(const std::shared_ptr<ProgramRun>& run);
  absl::Status TakeOutputs(ProgramRun& run);
  absl::StatusOr<std::shared_ptr<Storage>> TakeOutput(size_t index, size_t output);

  const std::shared_ptr<RankPools> pools_;
  const std::shared_ptr<const artifact::ArtifactFile> file_;
  const std::string name_;
  const FunctionReferences functions_;  // that it calls
  std::vector<std::vector<data::Shard>> inputs_, outputs_;
  std::vector<uint32_t> own_ranks_;
  std::vector<uint32_t> devices_;    // by rank
  embed::RankPool* pool_ = nullptr;  // of the job, where all ranks are in this process
  ProcessRanks* spread_ = nullptr;
  uint64_t era_ = 0, job_number_ = 0;  // of the job, among those of spread_
  std::unique_ptr<embed::RankJob> job_;
  std::shared_ptr<HostCallQueue> calls_;  // of the ranks of the job, unless the only one runs on the calling thread
  std::vector<std::shared_ptr<ProgramRank>> ranks_;  // own; a lost function of a failed run shares its own
  std::vector<std::weak_ptr<Storage>> resident_;     // outputs of the last run
  uint64_t step_ = 0;
};

}  // namespace sgd::pjrt
