// One table of metrics serves both directions.
#include "runtime/watch/exposition.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/trace/scalar.h"

namespace sgd::watch {
namespace {

using Get = std::function<std::optional<double>(const JobStatus&)>;
using Set = std::function<void(JobStatus&, double)>;

// A sample of a metric: its name and labels as written, and where the value is.
struct Sample {
  const char* name;
  Get get;
  Set set;
};
struct Metric {
  const char* name;
  const char* kind;
  const char* help;
  std::vector<Sample> samples;
};

// Not-a-number, and what no count is, become zero.
uint64_t Count(double value) { return value >= 0 && value < 0x1p63 ? static_cast<uint64_t>(value) : 0; }

Sample Number(const char* name, std::optional<double> JobStatus::* field) {
  return {name, [field](const JobStatus& status) { return status.*field; },
          [field](JobStatus& status, double value) { status.*field = value; }};
}
Sample Number(const char* name, double JobStatus::* field) {
  return {name, [field](const JobStatus& status) { return std::optional<double>(status.*field); },
          [field](JobStatus& status, double value) { status.*field = value; }};
}
Sample Number(const char* name, uint64_t JobStatus::* field) {
  return {name, [field](const JobStatus& status) { return std::optional<double>(static_cast<double>(status.*field)); },
          [field](JobStatus& status, double value) { status.*field = Count(value); }};
}
Sample SlowestRank(const char* name) {
  return {name,
          [](const JobStatus& status) {
            return status.slowest_rank ? std::optional<double>(*status.slowest_rank) : std::nullopt;
          },
          [](JobStatus& status, double value) { status.slowest_rank = static_cast<uint32_t>(Count(value)); }};
}

template <typename Field>
Metric Simple(const char* name, const char* kind, const char* help, Field JobStatus::* field) {
  return {name, kind, help, {Number(name, field)}};
}

std::vector<Metric> Metrics() {
  using S = JobStatus;
  return {
      Simple("sgd_steps_done", "gauge", "Steps done by this run and those that it resumes.", &S::steps_done),
      Simple("sgd_steps_planned", "gauge", "Steps after which this run ends.", &S::steps_planned),
      {"sgd_step_seconds",
       "summary",
       "Duration of steps; quantiles are of the last 128 steps.",
       {Number("sgd_step_seconds{quantile=\"0\"}", &S::least_seconds),
        Number("sgd_step_seconds{quantile=\"0.5\"}", &S::median_seconds),
        Number("sgd_step_seconds{quantile=\"0.9\"}", &S::slow_seconds), Number("sgd_step_seconds_sum", &S::run_seconds),
        Number("sgd_step_seconds_count", &S::run_steps)}},
      Simple("sgd_loss", "gauge", "Loss of the last step.", &S::loss),
      Simple("sgd_rows_per_second", "gauge", "Rows of data per second, by the median step.", &S::rows_per_second),
      Simple("sgd_tokens_per_second", "gauge", "Tokens per second, by the median step.", &S::tokens_per_second),
      Simple("sgd_flops_utilization", "gauge",
             "Share of the rate of operations that the artifact's topology says the device has, by the median step.",
             &S::utilization),
      Simple("sgd_exposed_communication_seconds", "gauge",
             "Time of a step in which ranks wait for collectives and messages, mean of the ranks.",
             &S::exposed_seconds),
      {"sgd_slowest_rank",
       "gauge",
       "The rank that takes longest for its own part of a step.",
       {SlowestRank("sgd_slowest_rank")}},
      Simple("sgd_slowest_rank_lead_seconds", "gauge", "How much longer it takes than the median rank.",
             &S::slowest_lead),
      Simple("sgd_stragglers_total", "counter", "Ranks that were named as slow.", &S::stragglers),
      Simple("sgd_restarts_total", "counter", "Restarts of the job after the loss of a rank.", &S::restarts),
      Simple("sgd_checkpoints_total", "counter", "Checkpoints saved by this run.", &S::checkpoints),
      Simple("sgd_checkpoint_stall_seconds_total", "counter", "Time in which steps waited for checkpoints.",
             &S::stalled_seconds),
  };
}

constexpr char kResident[] = "sgd_resident_bytes";
constexpr std::string_view kResidentLabel = "sgd_resident_bytes{rank=\"";

std::string Header(const char* name, const char* kind, const char* help) {
  return absl::StrCat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", kind, "\n");
}

// "NaN" and infinities as Prometheus has them.
std::string ValueText(double value) {
  if (value != value) return "NaN";
  const std::string text = trace::NumberJson(value);
  return text == "null" ? (value > 0 ? "+Inf" : "-Inf") : text;
}

// The rank in the labels of a resident size, if the name is one.
std::optional<uint32_t> RankOf(std::string_view name) {
  uint32_t rank = 0;
  if (!name.starts_with(kResidentLabel) || !name.ends_with("\"}")) return std::nullopt;
  name.remove_prefix(kResidentLabel.size());
  name.remove_suffix(2);
  return absl::SimpleAtoi(std::string(name), &rank) ? std::optional(rank) : std::nullopt;
}

}  // namespace

std::string ExpositionText(const JobStatus& status) {
  std::string text;
  for (const Metric& metric : Metrics()) {
    std::string lines;
    for (const Sample& sample : metric.samples) {
      if (const std::optional<double> value = sample.get(status))
        absl::StrAppend(&lines, sample.name, " ", ValueText(*value), "\n");
    }
    if (!lines.empty()) absl::StrAppend(&text, Header(metric.name, metric.kind, metric.help), lines);
  }
  if (!status.resident_bytes.empty())
    absl::StrAppend(&text, Header(kResident, "gauge", "Resident memory of a rank's process."));
  for (const auto& [rank, bytes] : status.resident_bytes)
    absl::StrAppend(&text, std::string(kResidentLabel), rank, "\"} ", bytes, "\n");
  return text;
}

absl::StatusOr<JobStatus> ParseExposition(std::string_view text) {
  std::map<std::string_view, Set> setters;
  const std::vector<Metric> metrics = Metrics();
  for (const Metric& metric : metrics) {
    for (const Sample& sample : metric.samples) setters[sample.name] = sample.set;
  }
  JobStatus status;
  bool is_job = false;
  const std::vector<std::string> lines = absl::StrSplit(std::string(text), '\n');
  for (const std::string_view line : lines) {
    if (line.empty() || line.front() == '#') continue;
    const size_t space = line.rfind(' ');
    double value = 0;
    if (space == std::string_view::npos || !absl::SimpleAtod(std::string(line.substr(space + 1)), &value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", std::string(line.substr(0, 80)), "' is no metric; expected NAME VALUE"));
    }
    const std::string_view name = line.substr(0, space);
    if (const auto setter = setters.find(name); setter != setters.end()) {
      setter->second(status, value);
      is_job = true;
    } else if (const std::optional<uint32_t> rank = RankOf(name)) {
      status.resident_bytes[*rank] = Count(value);
    }
  }
  if (!is_job) return absl::InvalidArgumentError("no metric of a job in it; expected names that begin with sgd_");
  return status;
}

}  // namespace sgd::watch
