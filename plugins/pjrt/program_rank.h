// A program on one rank: its inputs are carried or copied into the plan's memory, then a step runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "plugins/pjrt/rank_pools.h"
#include "plugins/pjrt/storage.h"
#include "runtime/artifact/reader.h"
#include "runtime/embed/rank_program.h"
#include "runtime/exec/carry.h"

namespace sgd::pjrt {

// The values of one run.
struct ProgramRun {
  // By rank of this process and input: what it reads. Not null.
  std::vector<std::vector<std::shared_ptr<Storage>>> inputs;
  // By input: nobody reads its storage after this run.
  std::vector<bool> is_donated;
  // Outputs of the last run that are inputs of this one, in the same place on all ranks.
  exec::CarryPairs carried;
  // By rank of this process and output.
  std::vector<std::vector<std::shared_ptr<Storage>>> outputs;
};

// Belongs to the rank's thread while a job runs, else to the caller. A function of the rank that does not return keeps
// it, so it knows nothing of its program.
class ProgramRank {
 public:
  // `index`: of the rank in a ProgramRun. `device`: its number in the client.
  ProgramRank(size_t index, uint32_t device, std::shared_ptr<RankPools> pools)
      : index_(index), device_(device), pools_(std::move(pools)) {}

  // `timeout` is that of each wait for another rank; `handler` executes calls of functions.
  absl::Status Prepare(const std::shared_ptr<const artifact::ArtifactFile>& file, const embed::Rank& rank,
                       absl::Duration timeout, exec::HostCallHandler handler);
  // Carries or copies the inputs of a run.
  absl::Status Load(const ProgramRun& run);
  absl::Status Run(uint64_t step) { return executor().Run(step); }
  exec::Executor& executor() const { return *program_.executor; }

 private:
  absl::Status LoadInputs(const ProgramRun& run);
  absl::Status LoadInput(size_t input, Storage& storage);
  absl::Status RunCarry(const exec::CarryPairs& carried);

  const size_t index_;
  const uint32_t device_;
  const std::shared_ptr<RankPools> pools_;
  embed::RankProgram program_;
  std::map<exec::CarryPairs, std::unique_ptr<exec::Carry>> carries_;
  std::vector<bool> keeps_input_;             // by input: no step overwrites it
  std::vector<std::weak_ptr<Storage>> held_;  // by input: whose bytes its memory still holds
};

}  // namespace sgd::pjrt
