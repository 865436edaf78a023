// Printing of a single run.
#include <cstdio>

#include "runtime/train/run_modes.h"
#include "tools/command_line/standard_output.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {

absl::Status RunAndPrint(train::Session& session) {
  if (absl::Status status = train::RunOnce(session); !status.ok()) return status;
  if (!session.is_first_rank()) return absl::OkStatus();
  for (const auto& [name, scalar] : session.ReadScalars().outputs) {
    std::printf("%s  %s\n", name.c_str(), trace::ScalarText(scalar).c_str());
  }
  return FlushResults();
}

absl::Status FlushResults() { return tools::FlushOutput() ? absl::OkStatus() : FlushProgress(); }

absl::Status FlushProgress() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError(
      "cannot write results to standard output; expected a file or pipe that takes them; give --outputs FILE");
}

}  // namespace sgd::sgdrun
