#include "runtime/watch/log_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/replace_file.h"

namespace sgd::watch {
namespace {

using Json = nlohmann::json;

constexpr size_t kLastSteps = 128;

std::optional<double> NumberAt(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::optional<uint64_t> StepAt(const Json& line) {
  const auto found = line.find("step");
  return found != line.end() && found->is_number_unsigned() ? std::optional(found->get<uint64_t>()) : std::nullopt;
}

// Whether the line is one of a log.
bool Add(const Json& line, LogContent& content) {
  if (!line.is_object()) return false;
  const std::optional<uint64_t> step = StepAt(line);
  const auto event = line.find("event");
  if (event != line.end() && event->is_string()) {
    const uint64_t next = content.steps.empty() ? 0 : content.steps.back().step + 1;
    content.events.push_back({event->get<std::string>(), step.value_or(next)});
    return true;
  }
  const std::optional<double> seconds = NumberAt(line, "seconds");
  if (!step || !seconds) return false;
  content.steps.push_back({*step, *seconds, NumberAt(line, "loss")});
  return true;
}

}  // namespace

absl::Status LogFollower::Advance() {
  struct stat info = {};
  if (stat(path_.c_str(), &info) != 0) return artifact::SystemError("read", path_);
  if (!S_ISREG(info.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path_, ": is no regular file; expected a log of --log-json"));
  if (info.st_size < offset_) *this = LogFollower(path_);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(offset_);
  for (std::string text; std::getline(file, text);) {
    offset_ += static_cast<int64_t>(text.size());
    unfinished_ += text;
    if (file.eof()) break;  // no line end: more of the line may come
    ++offset_;
    has_lines_ = true;
    is_log_ |= Add(Json::parse(std::exchange(unfinished_, ""), nullptr, /*allow_exceptions=*/false), content_);
  }
  if (!file.eof()) return artifact::SystemError("read", path_);
  if (is_log_ || (!has_lines_ && unfinished_.empty())) return absl::OkStatus();
  if (!has_lines_ && unfinished_.starts_with('{')) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path_, ": no line of it is one of --log-json; expected such a log"));
}

absl::StatusOr<LogContent> ReadLog(const std::string& path) {
  LogFollower follower(path);
  absl::Status status = follower.Advance();
  if (!status.ok()) return status;
  return follower.content();
}

JobStatus LogContent::Status() const {
  JobStatus status;
  status.run_steps = steps.size();
  for (const LoggedStep& step : steps) status.run_seconds += step.seconds;
  for (const LoggedEvent& event : events) {
    if (event.kind == "straggler") ++status.stragglers;
    if (event.kind == "rank_lost") ++status.restarts;
    if (event.kind == "saved") ++status.checkpoints;
  }
  if (steps.empty()) return status;
  status.steps_done = steps.back().step + 1;
  status.loss = steps.back().loss;
  std::vector<double> last;
  for (size_t i = steps.size() - std::min(steps.size(), kLastSteps); i < steps.size(); ++i)
    last.push_back(steps[i].seconds);
  status.least_seconds = Quantile(last, 0);
  status.slow_seconds = Quantile(last, 0.9);
  status.median_seconds = Quantile(std::move(last), 0.5);
  return status;
}

}  // namespace sgd::watch
