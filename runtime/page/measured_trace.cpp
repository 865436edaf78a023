// Of the Trace Event Format only what runtime/trace/chrome_trace.h writes; anything else in a file is an error or is
// passed over.
#include "runtime/page/measured_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/json/parse_json.h"
#include "runtime/text/text_file.h"

namespace sgd::page {
namespace {

constexpr double kTick = 1e-10;
constexpr double kMostMicroseconds = 1e13;

struct Bar {
  int64_t begin = 0, end = 0;
  uint32_t instruction = 0;
};

struct Row {
  std::string name;
  std::vector<Bar> bars;
};

using Rows = std::map<std::pair<uint32_t, uint32_t>, Row>;  // by rank and stream

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : std::string();
}

// The field as a number in [0, most]; nothing where it is none.
std::optional<double> NumberOf(const nlohmann::json& object, const char* key, double most) {
  const auto field = object.find(key);
  if (field == object.end() || !field->is_number()) return std::nullopt;
  const double number = field->get<double>();
  return number >= 0 && number <= most ? std::optional(number) : std::nullopt;
}

class TraceReader {
 public:
  TraceReader(const std::string& path, const artifact::ArtifactFile& plan) : path_(path), plan_(plan) {}

  absl::StatusOr<nlohmann::json> Read() {
    std::string text;
    if (const auto fault = text::ReadTextFile(path_, text))
      return absl::NotFoundError(absl::StrCat("cannot read trace '", absl::CEscape(path_), "': ", *fault));
    const absl::StatusOr<nlohmann::json> trace = json::ParseJson(text);
    if (!trace.ok()) return Invalid(std::string(trace.status().message()));
    if (!trace->is_object() || !trace->contains("traceEvents") || !(*trace)["traceEvents"].is_array())
      return Invalid("has no list 'traceEvents'");
    if (absl::Status status = ReadOrigin(*trace); !status.ok()) return status;
    for (const nlohmann::json& event : (*trace)["traceEvents"]) {
      if (absl::Status status = Take(event); !status.ok()) return status;
    }
    if (rows_.empty()) return Invalid("has no instruction of a step");
    return ToJson();
  }

 private:
  absl::Status Invalid(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat("trace '", absl::CEscape(path_), "': ", what,
                                                   "; expected what sgdrun --trace writes for this artifact"));
  }

  // Reads which artifact, plan and program the steps are of; traces that do not say are of the first program.
  absl::Status ReadOrigin(const nlohmann::json& trace) {
    const auto found = trace.find("otherData");
    const nlohmann::json data = found != trace.end() && found->is_object() ? *found : nlohmann::json::object();
    const std::string hash = TextOf(data, "artifact"), plan = TextOf(data, "plan");
    if (!hash.empty() && hash != artifact::HexHash(plan_.hash())) return Invalid("was measured with another artifact");
    if (!plan.empty() && plan != plan_.plan())
      return Invalid(absl::StrCat("was measured with the plan '", absl::CEscape(plan), "', and this is '",
                                  absl::CEscape(plan_.plan()), "'"));
    program_ = TextOf(data, "program");
    if (program_.empty() && artifact::Size(plan_.root().programs()) != 0)
      program_ = plan_.root().programs()->Get(0)->name()->str();
    if (!plan_.FindProgram(program_).ok()) return Invalid(absl::StrCat("has no program of the artifact"));
    return absl::OkStatus();
  }

  absl::Status Take(const nlohmann::json& event) {
    if (!event.is_object()) return Invalid("has an event that is no object");
    const std::string kind = TextOf(event, "ph");
    const std::optional<double> rank = NumberOf(event, "pid", static_cast<double>(plan_.ranks()) - 1);
    const std::optional<double> stream = NumberOf(event, "tid", UINT32_MAX);
    const auto args = event.find("args");
    if (args == event.end() || !args->is_object()) return absl::OkStatus();
    if (kind == "M" && TextOf(event, "name") == "thread_name" && rank && stream)
      names_[{static_cast<uint32_t>(*rank), static_cast<uint32_t>(*stream)}] = TextOf(*args, "name");
    if (kind != "X" || !args->contains("instruction")) return absl::OkStatus();
    const std::optional<double> begin = NumberOf(event, "ts", kMostMicroseconds);
    const std::optional<double> length = NumberOf(event, "dur", kMostMicroseconds);
    if (!rank || !stream || !begin || !length) return Invalid("has an event without rank, stream or times");
    const absl::StatusOr<const artifact::Program*> program =
        plan_.FindProgram(program_, plan_.StageOf(static_cast<uint64_t>(*rank)));
    if (!program.ok()) return program.status();
    const uint64_t count = artifact::Size((*program)->instructions());
    const std::optional<double> instruction = NumberOf(*args, "instruction", static_cast<double>(count) - 1);
    if (!instruction) return Invalid("has an instruction that the program has not");
    rows_[{static_cast<uint32_t>(*rank), static_cast<uint32_t>(*stream)}].bars.push_back(
        {std::llround(*begin * 1e-6 / kTick), std::llround((*begin + *length) * 1e-6 / kTick),
         static_cast<uint32_t>(*instruction)});
    return absl::OkStatus();
  }

  static nlohmann::json RowJson(uint32_t stream, const std::string& name, std::vector<Bar> bars) {
    std::ranges::sort(bars, {}, [](const Bar& bar) { return std::pair(bar.begin, bar.end); });
    nlohmann::json gaps = nlohmann::json::array(), lengths = gaps, instructions = gaps;
    int64_t before = 0;
    for (const Bar& bar : bars) {
      gaps.push_back(bar.begin - before);
      lengths.push_back(bar.end - bar.begin);
      instructions.push_back(bar.instruction);
      before = bar.end;
    }
    return {{"stream", stream},
            {"name", name},
            {"gap", std::move(gaps)},
            {"length", std::move(lengths)},
            {"instruction", std::move(instructions)}};
  }

  nlohmann::json ToJson() {
    nlohmann::json ranks = nlohmann::json::array();
    for (auto& [place, row] : rows_) {
      const auto [rank, stream] = place;
      if (ranks.empty() || ranks.back()["rank"] != rank)
        ranks.push_back({{"rank", rank}, {"stage", plan_.StageOf(rank)}, {"rows", nlohmann::json::array()}});
      ranks.back()["rows"].push_back(RowJson(stream, names_[place], std::move(row.bars)));
    }
    return {{"program", program_}, {"plan", plan_.plan()}, {"tick", kTick}, {"ranks", std::move(ranks)}};
  }

  const std::string& path_;
  const artifact::ArtifactFile& plan_;
  std::string program_;
  Rows rows_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> names_;
};

}  // namespace

absl::StatusOr<nlohmann::json> ReadMeasuredTrace(const std::string& path, const artifact::ArtifactFile& plan) {
  return TraceReader(path, plan).Read();
}

}  // namespace sgd::page
