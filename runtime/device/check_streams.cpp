// Vector clocks: an access is ordered before a stream's next instruction when the stream's clock has reached it. The
// planner's own book-keeping is not used.
#include "runtime/device/check_streams.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/device/defined_bytes.h"

namespace sgd::device {
namespace {

using artifact::Instruction;
using artifact::Slice;
using Clock = std::vector<uint64_t>;

// How decisions of the host fall in one execution.
struct Choice {
  uint64_t branch;  // of every case, modulo its branches
  uint64_t trips;   // of loops that the host decides
};

struct Access {
  Slice slice;
  bool is_write;
  uint32_t stream;
  uint64_t time;  // of its stream
  uint32_t instruction;
};

std::string SliceText(const Slice& slice) {
  return absl::StrCat(artifact::EnumNameSpace(slice.space()), " bytes ", slice.offset(), " to ",
                      slice.offset() + slice.size());
}

class Checker {
 public:
  Checker(const artifact::Program& program, const StreamPlan& plan)
      : program_(program), plan_(plan), has_run_(artifact::Size(program.instructions())) {
    // Loops that are unrolled are no actions themselves.
    const std::vector<bool> holds_messages = FindMessages(program);
    for (uint32_t i = 0; i < has_run_.size() && !plan.links.empty(); ++i)
      has_run_[i] = holds_messages[i] && At(i).op_type() == artifact::Operation::Loop;
  }

  void Execute(const Choice& choice) {
    if (is_too_long_) return;
    choice_ = choice;
    clocks_.assign(plan_.streams(), Clock(plan_.streams(), 0));
    recorded_.assign(plan_.events, std::nullopt);
    accesses_.clear();
    defined_ = {};
    last_collective_.reset();
    for (uint32_t i = 0; i < artifact::Size(program_.inputs()); ++i) defined_.Add(*program_.inputs()->Get(i)->slice());
    RunBlock(0);
    if (!is_too_long_) CheckEnd();
  }

  std::vector<StreamProblem> Problems() && {
    for (uint32_t i = 0; i < has_run_.size() && !is_too_long_; ++i) {
      if (!has_run_[i] && At(i).op_type() != artifact::Operation::Done)
        Report(StreamProblem::Kind::kMissing, i, i, "is never run");
    }
    std::ranges::sort(problems_, {},
                      [](const StreamProblem& problem) { return std::pair(problem.instruction, problem.text); });
    return std::move(problems_);
  }

 private:
  const Instruction& At(uint32_t index) const { return *program_.instructions()->Get(index); }

  std::string StreamText(uint32_t stream) const {
    if (stream == StreamPlan::kCompute) return "compute";
    if (stream < plan_.to_host()) return absl::StrCat("communicator ", stream);
    if (!plan_.IsLink(stream)) return stream == plan_.to_host() ? "copies to the host" : "copies from the host";
    const MessageLink& link = plan_.links[stream - plan_.first_link()];
    return absl::StrCat("the link ", link.sends ? "to" : "from", " stage ", link.peer);
  }

  std::string Name(uint32_t index) const {
    return absl::StrCat("instruction ", index, " (", artifact::OperationName(At(index)), ")");
  }

  void Report(StreamProblem::Kind kind, uint32_t instruction, uint32_t other, const std::string& what) {
    if (!reported_.insert({kind, instruction, other}).second) return;
    problems_.push_back({kind, instruction, absl::StrCat(Name(instruction), ": ", what)});
  }

  void RunBlock(uint32_t block) {
    for (const StreamAction& action : plan_.blocks[block]) {
      if (is_too_long_) return;
      switch (action.kind) {
        case StreamAction::Kind::kRun:
        case StreamAction::Kind::kHost:
          Run(action);
          break;
        case StreamAction::Kind::kPost:
          if (CountExecution(action))
            Touch(action, {.reads = {}, .writes = {plan_.places[action.place]}, .updates = {}});
          break;
        case StreamAction::Kind::kRecord:
          recorded_[action.event] = clocks_[action.stream];
          break;
        case StreamAction::Kind::kWait:
          Wait(action);
          break;
      }
    }
  }

  void Wait(const StreamAction& action) {
    if (!recorded_[action.event]) {
      problems_.push_back(
          {StreamProblem::Kind::kUnrecordedEvent, 0,
           absl::StrCat(StreamText(action.stream), " waits for event ", action.event, ", which nobody has recorded")});
      return;
    }
    Clock& clock = clocks_[action.stream];
    for (size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], (*recorded_[action.event])[i]);
  }

  // False when it is one too many.
  bool CountExecution(const StreamAction& action) {
    if (++executions_ <= kMostExecutions) return true;
    is_too_long_ = true;
    Report(StreamProblem::Kind::kTooLong, action.instruction, 0,
           absl::StrCat("the check ends here, after ", kMostExecutions, " instructions"));
    return false;
  }

  void Run(const StreamAction& action) {
    if (!CountExecution(action)) return;
    has_run_[action.instruction] = true;
    const Instruction& instruction = At(action.instruction);
    if (const artifact::Loop* loop = instruction.op_as_Loop()) return RunLoop(action, *loop);
    artifact::Accesses accesses = artifact::AccessesOf(instruction);
    if (instruction.op_type() == artifact::Operation::Receive && !plan_.places.empty())
      accesses.reads.push_back(plan_.places[action.place]);
    Touch(action, accesses);
    if (instruction.op_type() == artifact::Operation::Collective) CheckOrder(action);
    if (const artifact::Case* branches = instruction.op_as_Case()) {
      RunBlock(action.first_block + static_cast<uint32_t>(choice_.branch % artifact::Size(branches->branches())));
    }
  }

  void RunLoop(const StreamAction& action, const artifact::Loop& loop) {
    const bool is_known = loop.predicate() == nullptr;
    const uint64_t trips = is_known ? std::min<uint64_t>(loop.trips(), 2) : choice_.trips;
    for (uint64_t trip = 0; trip < trips && !is_too_long_; ++trip) {
      RunCondition(action, is_known);
      RunBlock(action.first_block + 1);
    }
    if (!is_known) RunCondition(action, is_known);
  }

  void RunCondition(const StreamAction& action, bool is_known) {
    if (is_known) return;
    RunBlock(action.first_block);
    Touch(action, artifact::AccessesOf(At(action.instruction)));
  }

  // Records the bytes that an action reads and writes at the stream's next point in time.
  void Touch(const StreamAction& action, const artifact::Accesses& accesses) {
    const uint64_t time = ++clocks_[action.stream][action.stream];
    std::vector<Access> own;
    for (const Slice& slice : accesses.reads) own.push_back({slice, false, action.stream, time, action.instruction});
    for (const Slice& slice : accesses.writes) own.push_back({slice, true, action.stream, time, action.instruction});
    for (const Access& access : own) CheckOrdered(access);
    for (const std::vector<Slice>* reads : {&accesses.reads, &accesses.updates}) {
      for (const Slice& slice : *reads) CheckDefined(action.instruction, slice);
    }
    for (const Slice& slice : accesses.writes) defined_.Add(slice);
    accesses_.insert(accesses_.end(), own.begin(), own.end());
    if (accesses_.size() > prune_at_) Prune();
  }

  void CheckOrdered(const Access& access) {
    const Clock& clock = clocks_[access.stream];
    for (const Access& earlier : accesses_) {
      if (earlier.time <= clock[earlier.stream] || !(earlier.is_write || access.is_write)) continue;
      if (!artifact::Overlap(earlier.slice, access.slice)) continue;
      Report(StreamProblem::Kind::kRace, access.instruction, earlier.instruction,
             absl::StrCat(access.is_write ? "writes " : "reads ", SliceText(access.slice), " on ",
                          StreamText(access.stream), " while ", Name(earlier.instruction), " on ",
                          StreamText(earlier.stream), " may still ", earlier.is_write ? "write " : "read ",
                          SliceText(earlier.slice)));
    }
  }

  void CheckDefined(uint32_t instruction, const Slice& slice) {
    if (slice.space() == artifact::Space::Constant) return;
    const uint64_t missing = defined_.Missing(slice);
    if (missing == 0) return;
    Report(StreamProblem::Kind::kUndefined, instruction, 0,
           absl::StrCat("reads ", SliceText(slice), ", of which ", missing, " have not been written"));
  }

  void CheckOrder(const StreamAction& action) {
    if (last_collective_ && clocks_[action.stream][last_collective_->stream] < last_collective_->time) {
      Report(StreamProblem::Kind::kUnorderedCollectives, action.instruction, last_collective_->instruction,
             absl::StrCat("on ", StreamText(action.stream), " may run before or after ",
                          Name(last_collective_->instruction), " on ", StreamText(last_collective_->stream),
                          ", which another rank may do the other way round"));
    }
    last_collective_ = {{}, false, action.stream, clocks_[action.stream][action.stream], action.instruction};
  }

  void CheckEnd() {
    for (uint32_t stream = 1; stream < plan_.streams(); ++stream) {
      if (clocks_[StreamPlan::kCompute][stream] >= clocks_[stream][stream]) continue;
      problems_.push_back({StreamProblem::Kind::kUnjoined, static_cast<uint32_t>(has_run_.size()),
                           absl::StrCat(StreamText(stream), " may still work when the step ends")});
    }
    for (uint32_t i = 0; i < artifact::Size(program_.outputs()); ++i) {
      const Slice& slice = *program_.outputs()->Get(i)->slice();
      if (slice.space() == artifact::Space::Constant || defined_.Missing(slice) == 0) continue;
      problems_.push_back({StreamProblem::Kind::kUndefined, static_cast<uint32_t>(has_run_.size()),
                           absl::StrCat("output ", i, ": ", defined_.Missing(slice), " of ", SliceText(slice),
                                        " have not been written")});
    }
  }

  // Forgets accesses that all streams know to be complete.
  void Prune() {
    std::erase_if(accesses_, [&](const Access& access) {
      return std::ranges::all_of(clocks_, [&](const Clock& clock) { return clock[access.stream] >= access.time; });
    });
    prune_at_ = std::max(kPruneAt, accesses_.size() * 2);
  }

  static constexpr size_t kPruneAt = 4096;
  static constexpr uint64_t kMostExecutions = uint64_t{1} << 20;

  const artifact::Program& program_;
  const StreamPlan& plan_;
  Choice choice_{0, 0};
  std::vector<Clock> clocks_;                   // by stream
  std::vector<std::optional<Clock>> recorded_;  // by event
  std::vector<Access> accesses_;                // that some stream may not know to be complete
  size_t prune_at_ = kPruneAt;
  DefinedBytes defined_;
  std::optional<Access> last_collective_;
  std::vector<bool> has_run_;
  uint64_t executions_ = 0;
  bool is_too_long_ = false;
  std::set<std::tuple<StreamProblem::Kind, uint32_t, uint32_t>> reported_;
  std::vector<StreamProblem> problems_;
};

}  // namespace

std::vector<StreamProblem> CheckStreams(const artifact::Program& program, const StreamPlan& plan) {
  uint64_t executions = 1;
  for (uint32_t i = 0; i < artifact::Size(program.instructions()); ++i) {
    const Instruction& instruction = *program.instructions()->Get(i);
    if (const artifact::Case* branches = instruction.op_as_Case())
      executions = std::max(executions, artifact::Size(branches->branches()));
    const artifact::Loop* loop = instruction.op_as_Loop();
    if (loop != nullptr && loop->predicate() != nullptr) executions = std::max<uint64_t>(executions, 2);
  }
  Checker checker(program, plan);
  for (uint64_t i = 0; i < executions; ++i) checker.Execute({i, i % 2 == 0 ? uint64_t{2} : 0});
  return std::move(checker).Problems();
}

}  // namespace sgd::device
