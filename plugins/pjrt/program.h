// A compiled program on its ranks: executors over memory that inputs are copied into and outputs stay in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/rank_pool.h"
#include "plugins/pjrt/storage.h"
#include "runtime/artifact/reader.h"
#include "runtime/exec/carry.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"

namespace sgd::pjrt {

// All functions under the lock of RankPools.
class Program : public std::enable_shared_from_this<Program> {
 public:
  // Errors are those of the artifact, of the device, and of memory.
  static absl::StatusOr<std::shared_ptr<Program>> Open(std::shared_ptr<RankPools> pools, std::string_view artifact);
  ~Program();

  uint32_t ranks() const { return static_cast<uint32_t>(file_->ranks()); }
  const std::vector<exec::Tensor>& inputs(uint32_t rank) const { return executors_[rank].executor->inputs(); }
  const std::vector<exec::Tensor>& outputs(uint32_t rank) const { return executors_[rank].executor->outputs(); }
  std::span<std::byte> OutputBytes(uint32_t rank, size_t output) const;

  // The values of one run.
  struct Run {
    // By rank and input: what it reads. Not null.
    std::vector<std::vector<std::shared_ptr<Storage>>> inputs;
    // By input: nobody reads its storage after this run.
    std::vector<bool> is_donated;
    // By rank and output.
    std::vector<std::vector<std::shared_ptr<Storage>>> outputs;
  };
  // Outputs of the last run that somebody still holds get memory of their own, unless they are donated inputs of this
  // one: those are carried. After an error the program starts anew, and donated inputs are lost.
  absl::Status Execute(Run& run);

 private:
  struct RankState {
    std::unique_ptr<exec::ExecutionContext> context;
    std::unique_ptr<exec::Executor> executor;
    std::map<exec::CarryPairs, std::unique_ptr<exec::Carry>> carries;
    // By input: whose bytes its memory still holds, where no step overwrites it.
    std::vector<std::weak_ptr<Storage>> held;
  };

  Program(std::shared_ptr<RankPools> pools, std::unique_ptr<artifact::ArtifactFile> file)
      : pools_(std::move(pools)), file_(std::move(file)) {}
  absl::Status Start();
  void Stop();
  absl::Status Prepare(Rank rank);
  // The outputs of the last run that are inputs of this one, in the same place on all ranks.
  exec::CarryPairs CarriedBy(const Run& run) const;
  absl::Status DetachOthers(const Run& run, const exec::CarryPairs& carried);
  absl::Status LoadInputs(uint32_t rank, const Run& run, const exec::CarryPairs& carried);
  absl::Status RunRank(uint32_t rank, const Run& run, const exec::CarryPairs& carried);
  absl::Status TakeOutputs(Run& run);

  const std::shared_ptr<RankPools> pools_;
  const std::unique_ptr<artifact::ArtifactFile> file_;
  std::vector<bool> keeps_input_;  // by input: no step overwrites it
  std::unique_ptr<RankJob> job_;
  std::vector<RankState> executors_;              // by rank
  std::vector<std::weak_ptr<Storage>> resident_;  // outputs of the last run
  uint64_t step_ = 0;
};

}  // namespace sgd::pjrt
