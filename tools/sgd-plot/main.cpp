// sgd-plot: draws the logs of runs.
#include <signal.h>

#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/watch/log_file.h"
#include "runtime/watch/plot.h"
#include "tools/sgd-plot/options.h"

namespace sgd::plot {
namespace {

absl::Status Run(const Options& options) {
  std::vector<watch::PlottedRun> runs;
  for (const std::string& path : options.logs) {
    absl::StatusOr<watch::LogContent> log = watch::ReadLog(path);
    if (!log.ok()) return log.status();
    runs.push_back({path, *std::move(log)});
  }
  absl::StatusOr<std::string> drawing = watch::DrawRuns(runs);
  if (!drawing.ok()) return drawing.status();
  const absl::StatusOr<std::string> target = artifact::ResolveLinks(options.output);
  return target.ok() ? artifact::ReplaceFile(*target, *drawing, 0644) : target.status();
}

}  // namespace
}  // namespace sgd::plot

int main(int argc, char** argv) {
  using namespace sgd;
  artifact::ReserveStandardDescriptors();
  signal(SIGXFSZ, SIG_IGN);
  const std::variant<plot::Options, tools::Leave> parsed = plot::ParseOptions(argc, argv);
  if (const auto* leave = std::get_if<tools::Leave>(&parsed)) {
    std::fputs(leave->text.c_str(), leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const absl::Status status = plot::Run(std::get<plot::Options>(parsed));
  if (status.ok()) return 0;
  std::fprintf(stderr, "sgd-plot: %s\n",
               artifact::ShortMessage({status.message().data(), status.message().size()}).c_str());
  return 1;
}
