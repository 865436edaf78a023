// A table of two executions for each program.
#include "tools/sgd-inspect/check_streams.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/data/safetensors.h"
#include "runtime/device/check_messages.h"
#include "runtime/device/check_streams.h"

namespace sgd::inspect {
namespace {

void Add(const artifact::Program& program, const char* how, const device::StreamPlan& plan, StreamsReport& report) {
  const std::vector<device::StreamProblem> problems = device::CheckStreams(program, plan);
  absl::StrAppend(&report.text, "program ", data::QuotedName(program.name()->str()),
                  program.stage() < 0 ? "" : absl::StrCat(" of stage ", program.stage()), ", ", how, ": ",
                  plan.streams(), " streams, ", plan.events, " events, ",
                  problems.empty() ? "no problem" : absl::StrCat(problems.size(), " problems"), "\n");
  for (const device::StreamProblem& problem : problems) absl::StrAppend(&report.text, "  ", problem.text, "\n");
  report.is_clean = report.is_clean && problems.empty();
}

// Says "no problem" or what it is.
void AddText(const std::string& what, const absl::Status& status, StreamsReport& report) {
  absl::StrAppend(&report.text, what, ": ", status.ok() ? "no problem" : status.message(), "\n");
  report.is_clean = report.is_clean && status.ok();
}

// The stages of a pipeline, whose streams send each other messages.
void AddStages(const std::vector<const artifact::Program*>& stages, const std::vector<device::StreamPlan>& plans,
               StreamsReport& report) {
  std::vector<device::StageStreams> streams;
  for (size_t i = 0; i < stages.size(); ++i) streams.push_back({stages[i], &plans[i]});
  AddText(
      absl::StrCat("program ", data::QuotedName(stages.front()->name()->str()), ", messages of all stages together"),
      device::CheckMessages(streams), report);
}

}  // namespace

StreamsReport CheckStreams(const artifact::ArtifactFile& file) {
  StreamsReport report;
  for (const auto& [name, stages] : artifact::StagesByName(file.root())) {
    std::vector<device::StreamPlan> plans;
    for (const artifact::Program* program : stages) {
      absl::StatusOr<device::StreamPlan> plan = device::PlanStreams(file.root(), *program);
      if (plan.ok()) {
        plans.push_back(*std::move(plan));
        Add(*program, "on a device with streams", plans.back(), report);
      } else {
        AddText("on a device with streams", plan.status(), report);
      }
      Add(*program, "on threads of a host", device::PlanHostThreads(*program), report);
    }
    if (plans.size() > 1 && plans.size() == stages.size()) AddStages(stages, plans, report);
  }
  return report;
}

}  // namespace sgd::inspect
