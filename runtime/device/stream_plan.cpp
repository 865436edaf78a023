// One walk over each segment of a block. The bytes that an instruction touches decide what it waits for; waits that
// follow from earlier ones are left out.
#include "runtime/device/stream_plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/device/byte_history.h"

namespace sgd::device {
namespace {

using artifact::Accesses;
using artifact::Block;
using artifact::Instruction;
using artifact::InstructionAt;
using Kind = StreamAction::Kind;

bool SameAxes(const std::vector<comm::AxisRef>& a, const std::vector<comm::AxisRef>& b) {
  return std::ranges::equal(a, b, [](const comm::AxisRef& x, const comm::AxisRef& y) {
    return x.axis == y.axis && x.pre_size == y.pre_size && x.size == y.size;
  });
}

// Everything that the instruction and what it runs touch.
Accesses AllAccesses(const artifact::Program& program, uint64_t index) {
  Accesses all;
  for (uint64_t i = index; i < artifact::Next(program, index); ++i) {
    const Accesses one = artifact::AccessesOf(InstructionAt(program, i));
    all.reads.insert(all.reads.end(), one.reads.begin(), one.reads.end());
    all.writes.insert(all.writes.end(), one.writes.begin(), one.writes.end());
  }
  return all;
}

// Loops that would be more instructions than this when unrolled are walked by the host, which replays one trip.
constexpr uint64_t kMaxUnrolled = 20000;

// Instructions that one execution of the instruction gives to streams; kMaxUnrolled + 1 for more, and where the host
// has to look.
uint64_t UnrolledSize(const artifact::Program& program, uint64_t index) {
  const std::vector<Block> blocks = artifact::BlocksOf(program, index);
  if (blocks.empty()) return 1;
  const artifact::Loop* loop = InstructionAt(program, index).op_as_Loop();
  if (loop == nullptr || loop->predicate() != nullptr) return kMaxUnrolled + 1;
  uint64_t size = 0;
  for (uint64_t i = blocks[1].begin; i < blocks[1].end && size <= kMaxUnrolled; i = artifact::Next(program, i)) {
    size += UnrolledSize(program, i);
  }
  if (loop->trips() == 0 || size == 0) return size;
  return std::min(size, kMaxUnrolled / loop->trips() + 1) * loop->trips() > kMaxUnrolled ? kMaxUnrolled + 1
                                                                                         : size * loop->trips();
}

bool IsWalkedByHost(const artifact::Program& program, uint64_t index) {
  return UnrolledSize(program, index) > kMaxUnrolled;
}

// Actions of a program whose loops are unrolled.
constexpr size_t kMaxActions = size_t{1} << 20;

// Places instructions of all blocks and numbers events over the whole program.
class Planner {
 public:
  explicit Planner(const artifact::Program& program)
      : program_(program),
        stream_of_(artifact::Size(program.instructions())),
        holds_messages_(stream_of_.size()),
        first_block_(stream_of_.size()) {
    for (uint64_t i = 0; i < stream_of_.size(); ++i) {
      if (const artifact::Collective* collective = InstructionAt(program, i).op_as_Collective())
        stream_of_[i] = StreamOf(*collective);
    }
    PlaceHostCopies();
  }

  StreamPlan Plan() && {
    plan_.blocks.emplace_back();
    PlanBlock({0, stream_of_.size()}, 0);
    return std::move(plan_);
  }

  // Of a program with messages.
  absl::StatusOr<StreamPlan> Plan(MessagePosts messages) && {
    messages_ = std::move(messages);
    holds_messages_ = FindMessages(program_);
    plan_.links = messages_->links();
    plan_.places = messages_->places();
    for (uint64_t i = 0; i < stream_of_.size(); ++i) {
      if (const artifact::Send* send = InstructionAt(program_, i).op_as_Send())
        stream_of_[i] = plan_.first_link() + messages_->LinkOf(send->channel());
    }
    plan_.blocks.emplace_back();
    if (absl::Status status = PlanUnrolled(); !status.ok()) return status;
    return std::move(plan_);
  }

 private:
  // A segment in flight: what is enqueued on each stream and what each stream knows to be complete.
  struct State {
    explicit State(uint32_t streams)
        : history(streams), given(streams, 0), known(streams, Progress(streams, 0)), known_after(streams) {}
    ByteHistory history;
    Progress given;               // instructions so far, by stream
    std::vector<Progress> known;  // by stream: what of the others it has waited for
    std::vector<std::vector<Progress>>
        known_after;  // by stream: `known` behind each of its instructions, itself included
    std::vector<StreamAction> actions;
    // Instructions that others wait for, as (stream, number), and their events.
    std::map<std::pair<uint32_t, uint64_t>, uint32_t> events;
    std::vector<std::pair<uint32_t, uint64_t>> numbers;  // of each action that runs something; else 0
  };

  uint32_t StreamOf(const artifact::Collective& collective) {
    const std::vector<comm::AxisRef> axes = artifact::AxesOf(collective.axes());
    const auto found =
        std::ranges::find_if(plan_.communicators, [&](const auto& other) { return SameAxes(other, axes); });
    if (found == plan_.communicators.end()) {
      plan_.communicators.push_back(axes);
      return static_cast<uint32_t>(plan_.communicators.size());
    }
    return static_cast<uint32_t>(found - plan_.communicators.begin()) + 1;
  }

  // Behind all communicators, whose number is known by now.
  void PlaceHostCopies() {
    for (uint64_t i = 0; i < stream_of_.size(); ++i) {
      const artifact::Copy* copy = InstructionAt(program_, i).op_as_Copy();
      if (copy == nullptr) continue;
      if (copy->target()->space() == artifact::Space::Host) stream_of_[i] = plan_.to_host();
      if (copy->source()->space() == artifact::Space::Host) stream_of_[i] = plan_.from_host();
      plan_.copies_to_host = plan_.copies_to_host || stream_of_[i] != StreamPlan::kCompute;
    }
  }

  // Streams beside kCompute that instructions [begin, end) use.
  std::set<uint32_t> StreamsOf(uint64_t begin, uint64_t end) const {
    std::set<uint32_t> streams(stream_of_.begin() + static_cast<std::ptrdiff_t>(begin),
                               stream_of_.begin() + static_cast<std::ptrdiff_t>(end));
    streams.erase(StreamPlan::kCompute);
    return streams;
  }

  // Those that the range itself uses, without what loops in it run.
  std::set<uint32_t> StreamsRunBy(const Block& range) const {
    std::set<uint32_t> streams;
    for (uint64_t i = range.begin; i < range.end; i = artifact::Next(program_, i)) streams.insert(stream_of_[i]);
    streams.erase(StreamPlan::kCompute);
    return streams;
  }

  void Push(State& state, StreamAction action, std::pair<uint32_t, uint64_t> number = {}) {
    state.actions.push_back(action);
    state.numbers.push_back(number);
  }

  // Lets `stream` wait until the others are where `needed` says; it then knows what they knew there.
  void WaitFor(State& state, uint32_t stream, const Progress& needed) {
    const auto is_behind = [&](uint32_t other) {
      return other != stream && needed[other] > state.known[stream][other];
    };
    for (uint32_t other = 0; other < needed.size(); ++other) {
      if (!is_behind(other)) continue;
      // Waiting for a third one may be enough.
      bool follows = false;
      for (uint32_t third = 0; third < needed.size(); ++third) {
        if (third == other || !is_behind(third)) continue;
        follows = follows || state.known_after[third][needed[third] - 1][other] >= needed[other];
      }
      if (follows) continue;
      const auto [event, is_new] = state.events.emplace(std::pair(other, needed[other]), plan_.events);
      if (is_new) ++plan_.events;
      Push(state, {.kind = Kind::kWait, .stream = stream, .event = event->second});
      Raise(state.known[stream], state.known_after[other][needed[other] - 1]);
    }
  }

  void Run(State& state, uint64_t index) {
    StreamAction action{.kind = Kind::kRun, .stream = stream_of_[index], .instruction = static_cast<uint32_t>(index)};
    RunAction(state, action, AllAccesses(program_, index));
  }

  // An action that runs or walks an instruction, which touches `accesses`, or a post.
  void RunAction(State& state, StreamAction action, const Accesses& accesses) {
    const uint32_t index = action.instruction, stream = action.stream;
    const bool is_collective = InstructionAt(program_, index).op_type() == artifact::Operation::Collective;
    const std::set<uint32_t> inside = is_collective || plan_.IsLink(stream)
                                          ? std::set<uint32_t>{}
                                          : StreamsOf(index, artifact::Next(program_, index));
    Progress needed(plan_.streams(), 0);
    for (const artifact::Slice& slice : accesses.reads) state.history.Before(slice, false, needed);
    for (const artifact::Slice& slice : accesses.writes) state.history.Before(slice, true, needed);
    if (is_collective || !inside.empty())
      needed[last_collective_.first] = std::max(needed[last_collective_.first], last_collective_.second);
    WaitFor(state, stream, needed);
    const uint64_t number = ++state.given[stream];
    action.first_block = PlanInner(index);
    Push(state, action, {stream, number});
    for (const artifact::Slice& slice : accesses.reads) state.history.Add(slice, false, stream, number);
    for (const artifact::Slice& slice : accesses.writes) state.history.Add(slice, true, stream, number);
    // The work of the blocks on other streams was joined, so the stream that ran the whole knows it.
    for (uint32_t other : inside) state.known[stream][other] = std::max(state.known[stream][other], state.given[other]);
    state.known[stream][stream] = number;
    state.known_after[stream].push_back(state.known[stream]);
    if (is_collective || !inside.empty()) last_collective_ = {stream, number};
  }

  // Plans what a loop or case runs, unless that was done, and returns the number of its first block.
  uint32_t PlanInner(uint64_t index) {
    const std::vector<Block> inner = artifact::BlocksOf(program_, index);
    if (inner.empty() || first_block_[index] != 0) return first_block_[index];
    first_block_[index] = static_cast<uint32_t>(plan_.blocks.size());
    plan_.blocks.resize(plan_.blocks.size() + inner.size());
    for (uint32_t i = 0; i < inner.size(); ++i) PlanBlock(inner[i], first_block_[index] + i);
    return first_block_[index];
  }

  void PlanBlock(const Block& block, uint32_t number) {
    StreamBlock actions;
    uint64_t begin = block.begin;
    for (uint64_t i = block.begin; i < block.end; i = artifact::Next(program_, i)) {
      if (!IsWalkedByHost(program_, i)) continue;
      PlanSegment({begin, i}, actions);
      StreamAction action{.kind = Kind::kHost, .instruction = static_cast<uint32_t>(i)};
      action.first_block = PlanInner(i);
      actions.push_back(action);
      begin = artifact::Next(program_, i);
    }
    PlanSegment({begin, block.end}, actions);
    plan_.blocks[number] = std::move(actions);
  }

  void PlanSegment(const Block& range, StreamBlock& actions) {
    const std::set<uint32_t> used = StreamsRunBy(range);
    const std::pair<uint32_t, uint64_t> outer_collective = std::exchange(last_collective_, {StreamPlan::kCompute, 0});
    State state(plan_.streams());
    Fork(state, used);
    for (uint64_t i = range.begin; i < range.end; i = artifact::Next(program_, i)) {
      // Whoever touches the bytes of a collective waits for it: nothing is left to do where it is done.
      if (InstructionAt(program_, i).op_type() != artifact::Operation::Done) Run(state, i);
    }
    Progress all(plan_.streams(), 0);
    for (uint32_t stream : used) all[stream] = state.given[stream];
    WaitFor(state, StreamPlan::kCompute, all);
    AppendWithRecords(state, actions);
    last_collective_ = outer_collective;
  }

  // blocks[0] of a program with messages: one segment, in which the host may walk loops while messages go on.
  absl::Status PlanUnrolled() {
    State state(plan_.streams());
    std::set<uint32_t> used;
    for (uint32_t stream = plan_.first_link(); stream < plan_.streams(); ++stream) used.insert(stream);
    AddUnrolledStreams({0, stream_of_.size()}, used);
    Fork(state, used);
    PostAll(state);
    if (absl::Status status = RunRange(state, {0, stream_of_.size()}); !status.ok()) return status;
    WaitFor(state, StreamPlan::kCompute, state.given);
    AppendWithRecords(state, plan_.blocks[0]);
    return absl::OkStatus();
  }

  // Adds those of StreamsRunBy, in loops that are unrolled as well.
  void AddUnrolledStreams(const Block& range, std::set<uint32_t>& streams) const {
    streams.merge(StreamsRunBy(range));
    for (uint64_t i = range.begin; i < range.end; i = artifact::Next(program_, i)) {
      const artifact::Loop* loop = holds_messages_[i] ? InstructionAt(program_, i).op_as_Loop() : nullptr;
      if (loop != nullptr && loop->trips() > 0) AddUnrolledStreams(artifact::BlocksOf(program_, i)[1], streams);
    }
  }

  absl::Status RunRange(State& state, const Block& range) {
    for (uint64_t i = range.begin; i < range.end; i = artifact::Next(program_, i)) {
      const artifact::Instruction& instruction = InstructionAt(program_, i);
      const artifact::Loop* loop = holds_messages_[i] ? instruction.op_as_Loop() : nullptr;
      absl::Status status;
      if (loop != nullptr) {
        const Block body = artifact::BlocksOf(program_, i)[1];
        for (uint64_t trip = 0; trip < loop->trips() && status.ok(); ++trip) status = RunRange(state, body);
      } else if (const artifact::Receive* receive = instruction.op_as_Receive()) {
        status = RunReceive(state, i, receive->channel());
      } else if (instruction.op_type() != artifact::Operation::Done) {
        IsWalkedByHost(program_, i) ? Walk(state, i) : Run(state, i);
      }
      if (!status.ok()) return status;
      if (state.actions.size() > kMaxActions)
        return absl::ResourceExhaustedError(absl::StrCat(
            "program '", program_.name()->str(), "': a step of stage ", program_.stage(), " is more than ", kMaxActions,
            " instructions; expected no more on a device with streams; cut the batch into "
            "fewer parts"));
    }
    return absl::OkStatus();
  }

  void PostAll(State& state) {
    while (const std::optional<MessagePosts::Post> post = messages_->Next()) {
      Accesses accesses;
      accesses.writes.push_back(plan_.places[post->place]);
      RunAction(state,
                {.kind = Kind::kPost,
                 .stream = plan_.first_link() + post->link,
                 .instruction = post->instruction,
                 .place = post->place},
                accesses);
    }
  }

  absl::Status RunReceive(State& state, uint64_t index, uint32_t channel) {
    const absl::StatusOr<uint32_t> place = messages_->Take(channel);
    if (!place.ok()) return place.status();
    Accesses accesses = AllAccesses(program_, index);
    accesses.reads.push_back(plan_.places[*place]);
    RunAction(state,
              {.kind = Kind::kRun,
               .stream = StreamPlan::kCompute,
               .instruction = static_cast<uint32_t>(index),
               .place = *place},
              accesses);
    PostAll(state);
    return absl::OkStatus();
  }

  // The host walks a loop or case, and finds what it reads complete: collectives are joined, messages where bytes
  // demand it.
  void Walk(State& state, uint64_t index) {
    Progress joined = state.given;
    for (uint32_t stream = plan_.first_link(); stream < plan_.streams(); ++stream) joined[stream] = 0;
    WaitFor(state, StreamPlan::kCompute, joined);
    RunAction(state, {.kind = Kind::kHost, .stream = StreamPlan::kCompute, .instruction = static_cast<uint32_t>(index)},
              AllAccesses(program_, index));
  }

  // The streams that a segment uses begin where kCompute is.
  void Fork(State& state, const std::set<uint32_t>& used) {
    if (used.empty()) return;
    const uint32_t event = plan_.events++;
    Push(state, {.kind = Kind::kRecord, .stream = StreamPlan::kCompute, .event = event});
    for (uint32_t stream : used) Push(state, {.kind = Kind::kWait, .stream = stream, .event = event});
  }

  // The actions, with events recorded behind what is waited for.
  static void AppendWithRecords(const State& state, StreamBlock& block) {
    for (size_t i = 0; i < state.actions.size(); ++i) {
      block.push_back(state.actions[i]);
      const auto event = state.events.find(state.numbers[i]);
      if (state.numbers[i].second == 0 || event == state.events.end()) continue;
      block.push_back({.kind = Kind::kRecord, .stream = state.actions[i].stream, .event = event->second});
    }
  }

  const artifact::Program& program_;
  std::vector<uint32_t> stream_of_;    // by instruction
  std::vector<bool> holds_messages_;   // by instruction
  std::vector<uint32_t> first_block_;  // by instruction, of loops and cases that were planned; else 0
  std::optional<MessagePosts> messages_;
  StreamPlan plan_;
  // In the segment that is planned: the last collective, or what held one, as (stream, number).
  std::pair<uint32_t, uint64_t> last_collective_{StreamPlan::kCompute, 0};
};

}  // namespace

size_t SegmentEnd(const StreamBlock& block, size_t begin) {
  const auto host = std::find_if(block.begin() + static_cast<std::ptrdiff_t>(begin), block.end(),
                                 [](const StreamAction& action) { return action.kind == Kind::kHost; });
  return static_cast<size_t>(host - block.begin());
}

StreamPlan PlanStreams(const artifact::Program& program) { return Planner(program).Plan(); }

absl::StatusOr<StreamPlan> PlanStreams(const artifact::Artifact& root, const artifact::Program& program) {
  if (program.stage() < 0 || std::ranges::count(FindMessages(program), true) == 0) return PlanStreams(program);
  absl::StatusOr<MessagePosts> messages = MessagePosts::Create(root, program);
  if (!messages.ok()) return messages.status();
  return Planner(program).Plan(*std::move(messages));
}

}  // namespace sgd::device
