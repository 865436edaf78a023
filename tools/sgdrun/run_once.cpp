// A single run of the program.
#include <cstdio>

#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/scalars.h"

namespace sgd::sgdrun {

absl::Status RunOnce(Session& session) {
  session.FillInputs(0);
  if (absl::Status status = session.Run(0); !status.ok()) return status;
  if (!session.job().options.outputs.empty()) {
    if (absl::Status status = session.WriteOutputs(); !status.ok()) return status;
  }
  if (!session.is_first_rank()) return absl::OkStatus();
  for (const auto& [name, scalar] : ReadScalars(session.executor(), session.job().output_names)) {
    std::printf("%s  %s\n", name.c_str(), trace::ScalarText(scalar).c_str());
  }
  return FlushResults();
}

absl::Status FlushResults() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return absl::OkStatus();
  return absl::UnavailableError("cannot write results to standard output");
}

}  // namespace sgd::sgdrun
