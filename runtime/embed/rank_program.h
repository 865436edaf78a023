// A program of an artifact, prepared on one rank of a pool.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/artifact/reader.h"
#include "runtime/embed/rank_pool.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"

namespace sgd::embed {

// Members are destroyed in the opposite order: what is prepared before what it was prepared on. The job of the rank
// must outlive it.
struct RankProgram {
  std::shared_ptr<const artifact::ArtifactFile> file;
  std::shared_ptr<device::Device> device;
  exec::HostCallHandler host_calls;
  std::unique_ptr<exec::ExecutionContext> context;
  std::unique_ptr<exec::Executor> executor;

  // Called on the rank's thread, by all ranks of the job. `timeout` is that of each wait for peers; `calls` executes
  // the program's host calls. Errors are those of the device's libraries, of ExecutionContext and of Executor.
  absl::Status Prepare(std::shared_ptr<const artifact::ArtifactFile> artifact, const Rank& rank,
                       const std::string& program, absl::Duration timeout, exec::HostCallHandler calls = nullptr);
};

}  // namespace sgd::embed
