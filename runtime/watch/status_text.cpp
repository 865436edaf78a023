// Numbers in three digits with the unit that suits them; unknown ones are left out.
#include "runtime/watch/status_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/text/amounts.h"
#include "runtime/trace/progress.h"

namespace sgd::watch {
namespace {

using text::BytesText, text::CountText, text::SecondsText;

constexpr size_t kBarWidth = 32;
constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

uint64_t StepsLeft(const JobStatus& status) {
  return status.steps_planned > status.steps_done ? status.steps_planned - status.steps_done : 0;
}

std::string StepsText(const JobStatus& status) {
  return status.steps_planned == 0 ? absl::StrCat("step ", status.steps_done)
                                   : absl::StrCat("step ", status.steps_done, "/", status.steps_planned);
}

std::string Bar(const JobStatus& status) {
  if (status.steps_planned == 0) return "";
  const double share =
      std::min(1.0, static_cast<double>(status.steps_done) / static_cast<double>(status.steps_planned));
  const auto filled = static_cast<size_t>(share * kBarWidth);
  return absl::StrCat("[", std::string(filled, '='), std::string(kBarWidth - filled, ' '), "]");
}

std::vector<std::string> Rates(const JobStatus& status) {
  std::vector<std::string> parts;
  if (status.rows_per_second) parts.push_back(absl::StrCat(CountText(*status.rows_per_second), " rows/s"));
  if (status.tokens_per_second) parts.push_back(absl::StrCat(CountText(*status.tokens_per_second), " tokens/s"));
  return parts;
}

// Parts that are there, with two spaces between them.
std::string Join(const std::vector<std::string>& parts) {
  std::vector<std::string> there;
  std::ranges::copy_if(parts, std::back_inserter(there), [](const std::string& part) { return !part.empty(); });
  return absl::StrJoin(there, "  ");
}

std::string TimeLine(const JobStatus& status) {
  if (!status.median_seconds) return "";
  std::vector<std::string> parts = {absl::StrCat("time    ", SecondsText(*status.median_seconds), " median, ",
                                                 SecondsText(status.least_seconds.value_or(*status.median_seconds)),
                                                 " least")};
  for (const std::string& rate : Rates(status)) parts.push_back(rate);
  if (status.utilization) parts.push_back(absl::StrFormat("MFU %.1f %%", *status.utilization * 100));
  return Join(parts);
}

std::string WaitLine(const JobStatus& status) {
  if (!status.exposed_seconds) return "";
  std::string line = absl::StrCat("waits   ", SecondsText(*status.exposed_seconds), " of a step in collectives");
  if (status.slowest_rank && status.slowest_lead)
    absl::StrAppend(&line, "; rank ", *status.slowest_rank, " is slowest, by ", SecondsText(*status.slowest_lead));
  if (status.stragglers > 0) absl::StrAppend(&line, "; stragglers named: ", status.stragglers);
  return line;
}

std::string MemoryLine(const JobStatus& status) {
  if (status.resident_bytes.empty()) return "";
  const auto largest = std::ranges::max_element(status.resident_bytes, {}, [](const auto& one) { return one.second; });
  return absl::StrCat("memory  ", BytesText(largest->second), " in rank ", largest->first, ", the largest of ",
                      status.resident_bytes.size());
}

std::string StateLine(const JobStatus& status) {
  std::vector<std::string> parts;
  if (status.checkpoints > 0)
    parts.push_back(absl::StrCat("saves   ", status.checkpoints, ", which held up steps for ",
                                 SecondsText(status.stalled_seconds)));
  if (status.restarts > 0) parts.push_back(absl::StrCat("restarts ", status.restarts));
  return Join(parts);
}

}  // namespace

void LossHistory::Add(uint64_t steps_done, std::optional<double> loss) {
  if (!loss || steps_done <= steps_done_) return;
  steps_done_ = steps_done;
  if (points_.empty() || points_.back().count >= per_point_) {
    if (points_.size() == kPoints) Halve();
    points_.push_back({});
  }
  points_.back().sum += *loss;
  ++points_.back().count;
}

void LossHistory::Halve() {
  for (size_t i = 0; i < kPoints / 2; ++i) {
    const Point& first = points_[2 * i];
    const Point& second = points_[2 * i + 1];
    points_[i] = {first.sum + second.sum, first.count + second.count};
  }
  points_.resize(kPoints / 2);
  per_point_ *= 2;
}

std::string LossHistory::Sparkline() const {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const Point& point : points_) {
    if (!std::isfinite(point.mean())) continue;
    least = std::min(least, point.mean());
    most = std::max(most, point.mean());
  }
  std::string line;
  for (const Point& point : points_) {
    if (!std::isfinite(point.mean())) {
      line += '!';
      continue;
    }
    const double height = most > least ? (point.mean() - least) / (most - least) : 0;
    line += kBlocks[static_cast<size_t>(std::lround(height * 7))];
  }
  return line;
}

std::vector<std::string> StatusLines(const JobStatus& status, const LossHistory& losses) {
  std::vector<std::string> lines = {
      Join({StepsText(status), Bar(status), LeftText(status)}),
      TimeLine(status),
      status.loss ? Join({absl::StrFormat("loss    %.6g", *status.loss), losses.Sparkline()}) : std::string(),
      WaitLine(status),
      MemoryLine(status),
      StateLine(status)};
  std::erase(lines, "");
  return lines;
}

std::string LeftText(const JobStatus& status) {
  if (!status.median_seconds || StepsLeft(status) == 0) return "";
  return absl::StrCat("left ",
                      trace::ClockText(absl::Seconds(*status.median_seconds * static_cast<double>(StepsLeft(status)))));
}

std::string RatesText(const JobStatus& status) { return Join(Rates(status)); }

std::string StatusLine(const JobStatus& status) {
  std::vector<std::string> parts;
  if (status.median_seconds) parts.push_back(SecondsText(*status.median_seconds));
  for (const std::string& rate : Rates(status)) parts.push_back(rate);
  if (status.loss) parts.push_back(absl::StrFormat("loss %.6g", *status.loss));
  parts.push_back(LeftText(status));
  return Join(parts);
}

}  // namespace sgd::watch
