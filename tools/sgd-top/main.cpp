// sgd-top: shows a training run from another terminal: by its log, or by its metrics in a file or on a port.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/trace/progress.h"
#include "runtime/watch/exposition.h"
#include "runtime/watch/live_block.h"
#include "runtime/watch/log_file.h"
#include "runtime/watch/metrics_publisher.h"
#include "runtime/watch/status_text.h"
#include "tools/command_line/standard_output.h"
#include "tools/sgd-top/options.h"

namespace sgd::top {
namespace {

constexpr size_t kMostMetrics = 1 << 20;
constexpr int64_t kOldSeconds = 10;

// "9100", ":9100", "localhost:9100" or "127.0.0.1:9100"; nothing for what is a file's name.
std::optional<uint32_t> PortOf(const std::string& job) {
  absl::string_view text = job;
  if (!absl::ConsumePrefix(&text, "localhost:") && !absl::ConsumePrefix(&text, "127.0.0.1:"))
    absl::ConsumePrefix(&text, ":");
  uint32_t port = 0;
  if (!absl::SimpleAtoi(text, &port) || port == 0 || port > 65535) return std::nullopt;
  return port;
}

// The first byte that is no space; 0 in an empty file.
char FirstByte(const std::string& path) {
  std::ifstream file(path);
  char first = 0;
  file >> first;
  return file ? first : '\0';
}

std::string ReadAtMost(const std::string& path, size_t bytes) {
  std::ifstream file(path);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// A run as it is seen now.
struct View {
  watch::JobStatus status;
  watch::LossHistory losses;
  std::string note;                       // may be empty
  std::optional<watch::LogFollower> log;  // where it is one
};

// How long a file has not been written, where that is worth a word.
std::string AgeNote(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return "";
  const int64_t age = std::time(nullptr) - info.st_mtime;
  return age < kOldSeconds ? "" : absl::StrCat("not written for ", trace::ClockText(absl::Seconds(age)));
}

absl::Status LookAtMetrics(const std::string& text, const std::string& name, View& view) {
  absl::StatusOr<watch::JobStatus> status = watch::ParseExposition(text);
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(name, ": ", status.status().message()));
  view.status = *std::move(status);
  view.losses.Add(view.status.steps_done, view.status.loss);
  return absl::OkStatus();
}

absl::Status LookAtFile(const std::string& path, View& view) {
  const char first = FirstByte(path);
  view.note = AgeNote(path);
  if (first != '{' && first != '\0') return LookAtMetrics(ReadAtMost(path, kMostMetrics), path, view);
  if (!view.log) view.log.emplace(path);
  if (absl::Status status = view.log->Advance(); !status.ok()) return status;
  view.status = view.log->content().Status();
  for (const watch::LoggedStep& step : view.log->content().steps) view.losses.Add(step.step + 1, step.loss);
  return absl::OkStatus();
}

absl::Status Look(const std::string& job, View& view) {
  if (access(job.c_str(), F_OK) == 0) return LookAtFile(job, view);
  const std::optional<uint32_t> port = PortOf(job);
  if (!port) {
    return absl::NotFoundError(absl::StrCat(
        job, ": no such file; expected a log of --log-json, a file of --metrics, or the port of --metrics-port"));
  }
  absl::StatusOr<std::string> text = watch::FetchMetrics(*port);
  return text.ok() ? LookAtMetrics(*text, job, view) : text.status();
}

std::vector<std::string> LinesOf(const View& view) {
  std::vector<std::string> lines = watch::StatusLines(view.status, view.losses);
  if (!view.note.empty()) lines.push_back(view.note);
  return lines;
}

absl::Status PrintOnce(const View& view) {
  for (const std::string& line : LinesOf(view)) std::printf("%s\n", line.c_str());
  if (tools::FlushOutput()) return absl::OkStatus();
  return absl::UnavailableError("cannot write to standard output");
}

absl::Status Run(const Options& options) {
  View view;
  if (absl::Status status = Look(options.job, view); !status.ok()) return status;
  if (options.once || isatty(STDOUT_FILENO) != 1) return PrintOnce(view);
  watch::LiveBlock block(stdout);
  while (true) {
    block.Draw(LinesOf(view));
    absl::SleepFor(absl::Seconds(options.every));
    // A run that has ended serves no port any more.
    if (!Look(options.job, view).ok()) return absl::OkStatus();
  }
}

}  // namespace
}  // namespace sgd::top

int main(int argc, char** argv) {
  using namespace sgd;
  artifact::ReserveStandardDescriptors();
  signal(SIGPIPE, SIG_IGN);
  const std::variant<top::Options, tools::Leave> parsed = top::ParseOptions(argc, argv);
  if (const auto* leave = std::get_if<tools::Leave>(&parsed)) {
    std::fputs(leave->text.c_str(), leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const absl::Status status = top::Run(std::get<top::Options>(parsed));
  if (status.ok()) return 0;
  std::fprintf(stderr, "sgd-top: %s\n",
               artifact::ShortMessage({status.message().data(), status.message().size()}).c_str());
  return 1;
}
