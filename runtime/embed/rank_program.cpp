// Libraries, context, executor.
#include "runtime/embed/rank_program.h"

#include <utility>

namespace sgd::embed {

absl::Status RankProgram::Prepare(std::shared_ptr<const artifact::ArtifactFile> artifact, const Rank& rank,
                                  const std::string& program, absl::Duration timeout, exec::HostCallHandler calls) {
  file = std::move(artifact);
  device = rank.device;
  host_calls = std::move(calls);
  if (absl::Status status = device->OpenLibraries(*file); !status.ok()) return status;
  auto prepared = exec::ExecutionContext::Create(*file, *device, *rank.communicator);
  if (!prepared.ok()) return prepared.status();
  context = *std::move(prepared);
  auto created = exec::Executor::Create(*context, program, {.timeout = timeout, .host_calls = &host_calls});
  if (!created.ok()) return created.status();
  executor = *std::move(created);
  return absl::OkStatus();
}

}  // namespace sgd::embed
