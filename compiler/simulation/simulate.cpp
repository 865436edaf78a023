// Each stream of each stage has a cursor. Of those that can go on, the one goes whose clock is behind all others', so
// that links are given to who asks first.
#include "compiler/simulation/simulate.h"

#include <deque>
#include <set>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;
using Kind = TimedEvent::Kind;

static constexpr uint64_t kMostEvents = uint64_t(1) << 27;

double SimulatedStep::getBubble() const {
  double waits = 0;
  for (const StageTimes& stage : stages) waits += seconds - stage.compute - stage.exposed;
  return seconds > 0 ? std::max(0.0, waits / (seconds * static_cast<double>(stages.size()))) : 0;
}

namespace {
/// A channel while it is executed: what one side has done that the other has not met, as times.
struct Queue {
  std::deque<double> arrived;  // messages that are not received
  std::deque<double> freed;    // places that no later message has taken
  std::deque<double> posted;   // receives for which nothing is sent yet
};

/// What the streams of a stage share.
struct StageState {
  std::vector<std::vector<double>> records;  // by event: the time of each record, so far
  std::vector<double> linkIsFree;            // by links
  StageTimes times;
};

class Cursor {
 public:
  Cursor(const Machine& machine, const TimedProgram& program, uint32_t stream, StageState& stage,
         std::vector<Queue>& queues, bool keepsIntervals)
      : machine(machine),
        program(program),
        stream(stream),
        stage(stage),
        queues(queues),
        keepsIntervals(keepsIntervals),
        numRecords(program.eventStream.size()) {
    isCpu = machine.getFile().root().target()->string_view() == "cpu";
    skipOthers();
  }

  /// Does the next event of the stream. False where it needs what has not been done.
  bool step();
  bool isDone() const { return next == program.events.size(); }
  double getNow() const { return now; }
  uint64_t getNumEvents() const { return numEvents; }
  /// After a step that was not done: the channel whose other side it needs; nothing where it waits for an event of its
  /// stage.
  std::optional<uint32_t> getChannel() const;
  /// What others may wait for, since it was last forgotten: channels, and whether events of the stage.
  llvm::ArrayRef<uint32_t> getChangedChannels() const { return changedChannels; }
  bool hasRecorded() const { return recorded; }
  void forgetChanges() { changedChannels.clear(), recorded = false; }

 private:
  bool execute(const TimedEvent& event);
  void skipOthers();
  void enterLoop(const TimedEvent& event);
  void closeLoops();
  double transfer(const TimedEvent& event);
  bool send(const TimedEvent& event);
  bool receive(const TimedEvent& event);
  bool sendPosted(const TimedEvent& event);
  bool post(const TimedEvent& event);
  bool waitForEvent(const TimedEvent& event);
  void wait(double until, double StageTimes::* counter);
  void compute(const TimedEvent& event, double seconds);
  double getCopySeconds(const TimedEvent& event) const;

  /// A loop that is being executed.
  struct OpenLoop {
    size_t begin, end;
    uint64_t tripsLeft;
  };

  const Machine& machine;
  const TimedProgram& program;
  uint32_t stream;
  StageState& stage;
  std::vector<Queue>& queues;
  bool keepsIntervals, isCpu = true;
  std::vector<size_t> numRecords;  // by event, in what the cursor has passed
  double now = 0;
  size_t next = 0;
  uint64_t numEvents = 0;
  llvm::SmallVector<uint32_t> changedChannels;
  bool recorded = false;
  bool hasPosted = false;  // the post that is next
  llvm::SmallVector<OpenLoop> open;
};
}  // namespace

void Cursor::wait(double until, double StageTimes::* counter) {
  if (until <= now) return;
  if (stream == 0) stage.times.*counter += until - now;
  now = until;
}

void Cursor::compute(const TimedEvent& event, double seconds) {
  if (keepsIntervals && seconds > 0)
    stage.times.intervals.push_back({now, now + seconds, Interval::Lane::Compute, event.index});
  if (stream == 0) stage.times.compute += seconds;
  now += seconds;
}

/// When it ends that begins as soon as the links are free.
double Cursor::transfer(const TimedEvent& event) {
  double& linkIsFree = stage.linkIsFree[event.link];
  double begin = std::max(now, linkIsFree), end = begin + event.seconds;
  linkIsFree = end;
  stage.times.communication += event.seconds;
  stage.times.sentBytes[event.link] += event.sentBytes;
  bool isCollective = event.kind == Kind::Collective;
  if (keepsIntervals && event.seconds > 0)
    stage.times.intervals.push_back(
        {begin, end, isCollective ? Interval::Lane::Collective : Interval::Lane::Message, event.index});
  return end;
}

/// Ranks of a host copy messages themselves.
double Cursor::getCopySeconds(const TimedEvent& event) const {
  const ::sgd::artifact::Channel& channel = *machine.getFile().root().channels()->Get(event.number);
  return machine.getCost().getOpSeconds(0, 2 * static_cast<double>(channel.slot_bytes()));
}

bool Cursor::send(const TimedEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.freed.empty()) return false;
  wait(queue.freed.front(), &StageTimes::messageWaits);
  queue.freed.pop_front();
  if (isCpu) compute(event, getCopySeconds(event));
  queue.arrived.push_back(transfer(event));
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::receive(const TimedEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.arrived.empty()) return false;
  wait(queue.arrived.front(), &StageTimes::messageWaits);
  queue.arrived.pop_front();
  if (isCpu) compute(event, getCopySeconds(event));
  queue.freed.push_back(now);
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::sendPosted(const TimedEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.posted.empty()) return false;
  now = std::max(now, queue.posted.front());
  queue.posted.pop_front();
  now = transfer(event);
  queue.arrived.push_back(now);
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::post(const TimedEvent& event) {
  Queue& queue = queues[event.number];
  if (!hasPosted) {
    queue.posted.push_back(now);
    hasPosted = true;
    changedChannels.push_back(event.number);
  }
  if (queue.arrived.empty()) return false;
  now = std::max(now, queue.arrived.front());
  queue.arrived.pop_front();
  hasPosted = false;
  return true;
}

bool Cursor::waitForEvent(const TimedEvent& event) {
  size_t number = numRecords[event.number];
  if (number == 0) return true;
  const std::vector<double>& records = stage.records[event.number];
  if (records.size() < number) return false;
  bool isOfMessage = program.eventStream[event.number] >= program.firstLink;
  wait(records[number - 1], isOfMessage ? &StageTimes::messageWaits : &StageTimes::exposed);
  return true;
}

bool Cursor::execute(const TimedEvent& event) {
  switch (event.kind) {
    case Kind::Compute:
      compute(event, event.seconds);
      return true;
    case Kind::Collective:
      wait(transfer(event), &StageTimes::exposed);
      return true;
    case Kind::Send:
      return send(event);
    case Kind::Receive:
      return receive(event);
    case Kind::SendPosted:
      return sendPosted(event);
    case Kind::Post:
      return post(event);
    case Kind::Record:
      stage.records[event.number].push_back(now);
      ++numRecords[event.number];
      recorded = true;
      return true;
    case Kind::Wait:
      return waitForEvent(event);
    case Kind::Loop:
      break;
  }
  llvm_unreachable("loops are entered where they are met");
}

/// `next` goes on behind the event.
void Cursor::enterLoop(const TimedEvent& event) {
  if (event.trips == 0)
    next += event.body;
  else
    open.push_back({next + 1, next + 1 + event.body, event.trips - 1});
}

void Cursor::closeLoops() {
  while (!open.empty() && next == open.back().end) {
    if (open.back().tripsLeft == 0) {
      open.pop_back();
    } else {
      --open.back().tripsLeft;
      next = open.back().begin;
    }
  }
}

/// Goes to the stream's next event, into loops on the way.
void Cursor::skipOthers() {
  while (!isDone() && numEvents < kMostEvents) {
    const TimedEvent& event = program.events[next];
    if (event.kind == Kind::Loop)
      enterLoop(event);
    else if (event.stream == stream)
      return;
    else if (event.kind == Kind::Record)
      ++numRecords[event.number];
    ++next;
    ++numEvents;
    closeLoops();
  }
}

std::optional<uint32_t> Cursor::getChannel() const {
  const TimedEvent& event = program.events[next];
  return event.kind == Kind::Wait ? std::nullopt : std::optional(event.number);
}

bool Cursor::step() {
  if (!execute(program.events[next])) return false;
  ++next;
  ++numEvents;
  closeLoops();
  skipOthers();
  return true;
}

namespace {
/// Of all stages.
class Simulation {
 public:
  Simulation(const Machine& machine, llvm::ArrayRef<TimedProgram> programs, bool keepsIntervals);
  /// False where there are too many events.
  bool run();
  llvm::Expected<SimulatedStep> finish();

 private:
  void wake(std::vector<size_t>& waiting);

  std::vector<Queue> queues;
  std::deque<StageState> stages;
  std::vector<Cursor> cursors;
  std::vector<size_t> stageOf;                                    // by cursor
  std::set<std::pair<double, size_t>> ready;                      // cursors that may go on, by their clocks
  std::vector<std::vector<size_t>> waitForChannel, waitForStage;  // cursors that wait for what others do
};
}  // namespace

Simulation::Simulation(const Machine& machine, llvm::ArrayRef<TimedProgram> programs, bool keepsIntervals) {
  const auto* channels = machine.getFile().root().channels();
  queues.resize(::sgd::artifact::Size(channels));
  waitForChannel.resize(queues.size());
  waitForStage.resize(programs.size());
  for (size_t i = 0; i < queues.size(); ++i) queues[i].freed.assign(channels->Get(i)->depth(), 0.0);
  size_t numLinks = machine.getCost().getTopology().links.size();
  for (const TimedProgram& program : programs) {
    StageState& stage = stages.emplace_back();
    stage.records.resize(program.eventStream.size());
    stage.linkIsFree.resize(numLinks);
    stage.times.sentBytes.resize(numLinks);
    for (uint32_t stream = 0; stream < program.numStreams; ++stream) {
      cursors.emplace_back(machine, program, stream, stage, queues, keepsIntervals);
      stageOf.push_back(stages.size() - 1);
    }
  }
}

void Simulation::wake(std::vector<size_t>& waiting) {
  for (size_t index : waiting) ready.insert({cursors[index].getNow(), index});
  waiting.clear();
}

bool Simulation::run() {
  for (size_t i = 0; i < cursors.size(); ++i) ready.insert({cursors[i].getNow(), i});
  while (!ready.empty()) {
    size_t index = ready.begin()->second;
    ready.erase(ready.begin());
    Cursor& cursor = cursors[index];
    bool isBlocked = false;
    while (!cursor.isDone() && !isBlocked) {
      if (cursor.getNumEvents() >= kMostEvents) return false;
      isBlocked = !cursor.step();
      for (uint32_t channel : cursor.getChangedChannels()) wake(waitForChannel[channel]);
      if (cursor.hasRecorded()) wake(waitForStage[stageOf[index]]);
      cursor.forgetChanges();
      if (!ready.empty() && cursor.getNow() > ready.begin()->first) break;
    }
    if (!isBlocked) {
      if (!cursor.isDone()) ready.insert({cursor.getNow(), index});
      continue;
    }
    std::optional<uint32_t> channel = cursor.getChannel();
    (channel ? waitForChannel[*channel] : waitForStage[stageOf[index]]).push_back(index);
  }
  return true;
}

llvm::Expected<SimulatedStep> Simulation::finish() {
  SimulatedStep step;
  for (auto [cursor, number] : llvm::zip(cursors, stageOf)) {
    if (!cursor.isDone()) return llvm::createStringError("stages wait for each other's messages forever");
    double& end = stages[number].times.end;
    end = std::max(end, cursor.getNow());
  }
  for (StageState& stage : stages) {
    step.seconds = std::max(step.seconds, stage.times.end);
    step.stages.push_back(std::move(stage.times));
  }
  return step;
}

llvm::Expected<SimulatedStep> mlir::sgd::simulateStep(const Machine& machine, llvm::ArrayRef<TimedProgram> programs,
                                                      bool keepsIntervals) {
  Simulation simulation(machine, programs, keepsIntervals);
  if (simulation.run()) return simulation.finish();
  return llvm::createStringError(
      "a step has more than 2^27 events; expected fewer trips of loops that communicate; "
      "simulate a smaller one");
}
