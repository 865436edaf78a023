// A table of two executions for each program.
#include "tools/sgd-inspect/check_streams.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/data/safetensors.h"
#include "runtime/device/check_streams.h"

namespace sgd::inspect {
namespace {

void Add(const artifact::Program& program, const char* how, const device::StreamPlan& plan, StreamsReport& report) {
  const std::vector<device::StreamProblem> problems = device::CheckStreams(program, plan);
  absl::StrAppend(&report.text, "program ", data::QuotedName(program.name()->str()), ", ", how, ": ", plan.streams(),
                  " streams, ", plan.events, " events, ",
                  problems.empty() ? "no problem" : absl::StrCat(problems.size(), " problems"), "\n");
  for (const device::StreamProblem& problem : problems) absl::StrAppend(&report.text, "  ", problem.text, "\n");
  report.is_clean = report.is_clean && problems.empty();
}

}  // namespace

StreamsReport CheckStreams(const artifact::ArtifactFile& file) {
  StreamsReport report;
  for (const artifact::Program* program : *file.root().programs()) {
    Add(*program, "on a device with streams", device::PlanStreams(*program), report);
    Add(*program, "on threads of a host", device::PlanHostThreads(*program), report);
  }
  return report;
}

}  // namespace sgd::inspect
