// Records of a dead rank may be anything: positions are checked against the artifact.
#include "runtime/watch/flight_trace.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/trace/chrome_trace.h"
#include "runtime/trace/instruction_time.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"

namespace sgd::watch {
namespace {

constexpr int64_t kShown = 2'000'000'000;  // nanoseconds
constexpr size_t kMostRecords = 20'000;
constexpr size_t kNamedRanks = 8;
constexpr uint32_t kStepRow = 1000;  // of the timeline, below all streams

std::vector<FlightRecord> RecordsOf(const FlightRing& ring) {
  const uint64_t written = ring.written.load(std::memory_order_acquire);
  const uint64_t known = std::min<uint64_t>({written, FlightRing::kRecords, kMostRecords});
  std::vector<FlightRecord> records;
  for (uint64_t i = written - known; i < written; ++i) records.push_back(ring.records[i % FlightRing::kRecords]);
  return records;
}

const artifact::Program* ProgramAt(const artifact::Artifact& root, uint32_t position) {
  return position < artifact::Size(root.programs()) ? root.programs()->Get(position) : nullptr;
}

// The state after the records so far.
struct State {
  std::optional<uint32_t> step;
  uint32_t program_position = 0;
  const artifact::Program* program = nullptr;
  std::optional<uint32_t> instruction;

  void Take(const FlightRecord& record, const artifact::Artifact& root) {
    if (record.kind == FlightKind::kStep) {
      step = record.number;
      program_position = record.program;
      program = ProgramAt(root, record.program);
      instruction.reset();
    }
    if (record.kind == FlightKind::kInstruction) {
      const bool is_known = program != nullptr && record.number < artifact::Size(program->instructions());
      instruction = is_known ? std::optional(record.number) : std::nullopt;
    }
  }
};

std::string InstructionText(const State& state) {
  const artifact::Instruction& instruction = *state.program->instructions()->Get(*state.instruction);
  const std::string location = trace::LocationOf(*state.program, instruction);
  return absl::StrCat("instruction ", *state.instruction, " (", artifact::OperationName(instruction), ")",
                      location.empty() ? "" : absl::StrCat(" at ", location));
}

std::string WhereText(const State& state, const FlightRecord& last, int64_t now) {
  const std::string age = absl::StrFormat(", for %.3g s", static_cast<double>(now - last.nanoseconds) / 1e9);
  const std::string program = state.program == nullptr ? "" : absl::StrCat(" of '", state.program->name()->str(), "'");
  const std::string step = state.step ? absl::StrCat("step ", *state.step, program) : "an unknown step";
  switch (last.kind) {
    case FlightKind::kStep:
      return absl::StrCat(step, ", at its begin", age);
    case FlightKind::kInstruction:
      return state.instruction ? absl::StrCat(step, ", ", InstructionText(state), age) : absl::StrCat(step, age);
    case FlightKind::kWaited:
      return state.instruction ? absl::StrCat(step, ", behind ", InstructionText(state), age) : absl::StrCat(step, age);
    case FlightKind::kStepEnded:
      return absl::StrCat("behind ", step, age);
    case FlightKind::kFills:
      return absl::StrCat("filled the inputs of the step behind ", step, age);
    case FlightKind::kSaves:
      return absl::StrCat("saved behind ", step, age);
  }
  return absl::StrCat(step, age);
}

std::string StepBar(uint32_t rank, const std::string& name, int64_t begin, int64_t end, int64_t first) {
  return absl::StrCat("{\"name\": ", trace::JsonString(name), ", \"ph\": \"X\", \"pid\": ", rank,
                      ", \"tid\": ", kStepRow,
                      ", \"ts\": ", trace::NumberJson(static_cast<double>(begin - first) / 1e3),
                      ", \"dur\": ", trace::NumberJson(static_cast<double>(end - begin) / 1e3), "}");
}

// The bars of a rank, by the programs that it ran.
class Timeline {
 public:
  Timeline(const artifact::Artifact& root, uint32_t rank) : root_(root), rank_(rank) {}

  void Add(const State& state, const FlightRecord& record, int64_t end) {
    const int64_t begin = record.nanoseconds;
    if (record.kind == FlightKind::kInstruction && state.instruction)
      runs_[state.program_position].push_back(
          {*state.instruction, 0, absl::Nanoseconds(begin), absl::Nanoseconds(std::max<int64_t>(0, end - begin))});
    if (record.kind == FlightKind::kFills) bars_.push_back(StepBar(rank_, "inputs", begin, end, 0));
    if (record.kind == FlightKind::kSaves) bars_.push_back(StepBar(rank_, "checkpoint", begin, end, 0));
    if (record.kind == FlightKind::kStep) step_begin_ = begin;
    if (record.kind == FlightKind::kStepEnded && step_begin_) EndStep(record.number, begin);
  }
  void EndStep(uint32_t step, int64_t end) {
    bars_.push_back(StepBar(rank_, absl::StrCat("step ", step), *step_begin_, end, 0));
    step_begin_.reset();
  }
  bool is_in_step() const { return step_begin_.has_value(); }

  std::string Events() const {
    std::string events;
    const auto add = [&](const std::string& event) { absl::StrAppend(&events, events.empty() ? "" : ",\n", event); };
    for (const auto& [position, runs] : runs_)
      add(trace::ChromeTraceEvents(root_, *ProgramAt(root_, position), rank_, runs));
    if (bars_.empty()) return events;
    add(absl::StrCat("{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": ", rank_, ", \"tid\": ", kStepRow,
                     ", \"args\": {\"name\": \"steps\"}}"));
    for (const std::string& bar : bars_) add(bar);
    return events;
  }

 private:
  const artifact::Artifact& root_;
  const uint32_t rank_;
  std::map<uint32_t, std::vector<trace::TracedRun>> runs_;  // by the position of the program
  std::vector<std::string> bars_;
  std::optional<int64_t> step_begin_;
};

}  // namespace

RankFlight ReadFlight(const FlightRing& ring, const artifact::Artifact& root, uint32_t rank, int64_t now) {
  const std::vector<FlightRecord> records = RecordsOf(ring);
  if (records.empty()) return {.where = "had not begun a step", .events = ""};
  const int64_t begin = records.back().nanoseconds - kShown;
  State state;
  Timeline timeline(root, rank);
  for (size_t i = 0; i < records.size(); ++i) {
    state.Take(records[i], root);
    if (records[i].nanoseconds < begin) continue;
    timeline.Add(state, records[i], i + 1 < records.size() ? records[i + 1].nanoseconds : now);
  }
  if (timeline.is_in_step() && state.step) timeline.EndStep(*state.step, now);
  return {.where = WhereText(state, records.back(), now), .events = timeline.Events()};
}

std::string FlightTraceJson(const std::vector<RankFlight>& ranks, uint32_t first_rank, const std::string& cause) {
  std::vector<std::string> events;
  std::vector<std::pair<std::string, std::string>> data = {{"cause", cause}};
  for (size_t i = 0; i < ranks.size(); ++i) {
    events.push_back(ranks[i].events);
    data.emplace_back(absl::StrCat("rank ", first_rank + i), ranks[i].where);
  }
  return trace::ChromeTraceJson(events, data);
}

std::string FlightText(const std::vector<RankFlight>& ranks, uint32_t first_rank) {
  std::string text;
  for (size_t i = 0; i < std::min(ranks.size(), kNamedRanks); ++i)
    absl::StrAppend(&text, i == 0 ? "" : "; ", "rank ", first_rank + i, ": ", ranks[i].where);
  return ranks.size() > kNamedRanks ? absl::StrCat(text, "; and ", ranks.size() - kNamedRanks, " more ranks") : text;
}

}  // namespace sgd::watch
