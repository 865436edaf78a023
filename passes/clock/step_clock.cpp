// Each stream of each stage has a cursor. Of those that can go on, the one goes whose clock is behind all others', so
// that links go to the first that asks.
#include "passes/clock/step_clock.h"

#include <deque>
#include <set>

#include "llvm/ADT/STLExtras.h"
#include "passes/clock/rank_clock.h"

using namespace mlir::sgd;
using Kind = StepEvent::Kind;

static constexpr uint64_t kMostEvents = uint64_t(1) << 27;

double StepTimes::getBubble() const {
  if (stages.size() < 2) return 0;
  double waits = 0;
  for (const StageTimes& stage : stages) waits += seconds - stage.getBusy();
  return seconds > 0 ? std::max(0.0, waits / (seconds * static_cast<double>(stages.size()))) : 0;
}

namespace {
/// A channel while it is executed: what one side has done that the other has not met, as times.
struct Queue {
  std::deque<double> arrived;  // messages that are not received
  std::deque<double> freed;    // places that no later message has taken
  std::deque<double> posted;   // receives for which nothing is sent yet
};

/// State that the streams of a stage share.
struct StageState {
  StageState(const StageProgram& program, unsigned numLinks)
      : clock(program.streams.size(), numLinks), records(program.eventStream.size()) {
    times.sentBytes.resize(numLinks);
  }

  RankClock clock;
  std::vector<std::vector<double>> records;  // by event: the time of each record, so far
  StageTimes times;
};

class Cursor {
 public:
  Cursor(const StageProgram& program, uint32_t stream, StageState& stage, std::vector<Queue>& queues,
         bool keepsIntervals)
      : program(program),
        stream(stream),
        stage(stage),
        queues(queues),
        keepsIntervals(keepsIntervals),
        numRecords(program.eventStream.size()) {
    skipOthers();
  }

  /// Does the next event of the stream. False where it needs what has not been done.
  bool step();
  bool isDone() const { return next == program.events.size(); }
  double getNow() const { return stage.clock.getNow(stream); }
  uint64_t getNumEvents() const { return numEvents; }
  /// After a step that was not done: the channel whose other side it needs; nothing where it waits for an event of its
  /// stage.
  std::optional<uint32_t> getChannel() const;
  /// Changes since the last reset that other streams may wait for: channels, and whether events of the stage changed.
  llvm::ArrayRef<uint32_t> getChangedChannels() const { return changedChannels; }
  bool hasRecorded() const { return recorded; }
  void forgetChanges() { changedChannels.clear(), recorded = false; }

 private:
  bool execute(const StepEvent& event);
  void skipOthers();
  void enterLoop(const StepEvent& event);
  void closeLoops();
  double transfer(const StepEvent& event);
  bool send(const StepEvent& event);
  bool receive(const StepEvent& event);
  bool sendPosted(const StepEvent& event);
  bool post(const StepEvent& event);
  bool waitForEvent(const StepEvent& event);
  void wait(double until, double StageTimes::* counter);
  void compute(const StepEvent& event, double seconds);

  /// A loop that is being executed.
  struct OpenLoop {
    size_t begin, end;
    uint64_t tripsLeft;
  };

  const StageProgram& program;
  uint32_t stream;
  StageState& stage;
  std::vector<Queue>& queues;
  bool keepsIntervals;
  std::vector<size_t> numRecords;  // by event, in what the cursor has passed
  size_t next = 0;
  uint64_t numEvents = 0;
  llvm::SmallVector<uint32_t> changedChannels;
  bool recorded = false;
  bool hasPosted = false;  // the post that is next
  llvm::SmallVector<OpenLoop> open;
};
}  // namespace

void Cursor::wait(double until, double StageTimes::* counter) {
  double waited = stage.clock.waitUntil(until, stream);
  if (stream == 0) stage.times.*counter += waited;
}

void Cursor::compute(const StepEvent& event, double seconds) {
  if (keepsIntervals)
    stage.times.intervals.push_back({getNow(), getNow() + seconds, Interval::Lane::Compute, event.index, stream});
  if (stream == 0) stage.times.compute += seconds;
  stage.clock.run(seconds, stream);
}

/// When it ends that begins as soon as the link is free.
double Cursor::transfer(const StepEvent& event) {
  auto [begin, end] = stage.clock.start(event.seconds, event.link, stream);
  stage.times.communication += event.seconds;
  stage.times.sentBytes[event.link] += event.sentBytes;
  bool isCollective = event.kind == Kind::Collective;
  if (keepsIntervals)
    stage.times.intervals.push_back(
        {begin, end, isCollective ? Interval::Lane::Collective : Interval::Lane::Message, event.index, stream});
  return end;
}

bool Cursor::send(const StepEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.freed.empty()) return false;
  wait(queue.freed.front(), &StageTimes::messageWaits);
  queue.freed.pop_front();
  if (event.copySeconds > 0) compute(event, event.copySeconds);
  queue.arrived.push_back(transfer(event));
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::receive(const StepEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.arrived.empty()) return false;
  wait(queue.arrived.front(), &StageTimes::messageWaits);
  queue.arrived.pop_front();
  if (event.copySeconds > 0) compute(event, event.copySeconds);
  queue.freed.push_back(getNow());
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::sendPosted(const StepEvent& event) {
  Queue& queue = queues[event.number];
  if (queue.posted.empty()) return false;
  wait(queue.posted.front(), &StageTimes::messageWaits);
  queue.posted.pop_front();
  wait(transfer(event), &StageTimes::messageWaits);
  queue.arrived.push_back(getNow());
  changedChannels.push_back(event.number);
  return true;
}

bool Cursor::post(const StepEvent& event) {
  Queue& queue = queues[event.number];
  if (!hasPosted) {
    queue.posted.push_back(getNow());
    hasPosted = true;
    changedChannels.push_back(event.number);
  }
  if (queue.arrived.empty()) return false;
  wait(queue.arrived.front(), &StageTimes::messageWaits);
  queue.arrived.pop_front();
  hasPosted = false;
  return true;
}

static double StageTimes::* getCounter(StreamKind awaited) {
  switch (awaited) {
    case StreamKind::Compute:
    case StreamKind::Collectives:
      return &StageTimes::exposed;
    case StreamKind::HostCopies:
      return &StageTimes::hostWaits;
    case StreamKind::Messages:
      return &StageTimes::messageWaits;
  }
  llvm_unreachable("all kinds are handled");
}

bool Cursor::waitForEvent(const StepEvent& event) {
  size_t number = numRecords[event.number];
  if (number == 0) return true;
  const std::vector<double>& records = stage.records[event.number];
  if (records.size() < number) return false;
  wait(records[number - 1], getCounter(program.streams[program.eventStream[event.number]]));
  return true;
}

bool Cursor::execute(const StepEvent& event) {
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
      stage.records[event.number].push_back(getNow());
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
void Cursor::enterLoop(const StepEvent& event) {
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
    const StepEvent& event = program.events[next];
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
  const StepEvent& event = program.events[next];
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
  Simulation(llvm::ArrayRef<StageProgram> programs, llvm::ArrayRef<StepChannel> channels, unsigned numLinks,
             bool keepsIntervals);
  /// False where there are too many events.
  bool run();
  llvm::Expected<StepTimes> finish();

 private:
  bool advance(Cursor& cursor, size_t stage);
  void wake(std::vector<size_t>& waiting);

  std::vector<Queue> queues;
  std::deque<StageState> stages;
  std::vector<Cursor> cursors;
  std::vector<size_t> stageOf;                                    // by cursor
  std::set<std::pair<double, size_t>> ready;                      // cursors that may go on, by their clocks
  std::vector<std::vector<size_t>> waitForChannel, waitForStage;  // cursors that wait for what others do
  bool takesTurns = false;  // streams of a stage compete for links: the first to ask goes first
};
}  // namespace

Simulation::Simulation(llvm::ArrayRef<StageProgram> programs, llvm::ArrayRef<StepChannel> channels, unsigned numLinks,
                       bool keepsIntervals)
    : queues(channels.size()), waitForChannel(channels.size()), waitForStage(programs.size()) {
  for (auto [queue, channel] : llvm::zip(queues, channels)) queue.freed.assign(channel.depth, 0.0);
  for (const StageProgram& program : programs) {
    StageState& stage = stages.emplace_back(program, numLinks);
    takesTurns |= program.streams.size() > 1;
    for (uint32_t stream = 0; stream < program.streams.size(); ++stream) {
      cursors.emplace_back(program, stream, stage, queues, keepsIntervals);
      stageOf.push_back(stages.size() - 1);
    }
  }
}

void Simulation::wake(std::vector<size_t>& waiting) {
  for (size_t index : waiting) ready.insert({cursors[index].getNow(), index});
  waiting.clear();
}

/// One event. False where the cursor must wait.
bool Simulation::advance(Cursor& cursor, size_t stage) {
  bool isDone = cursor.step();
  for (uint32_t channel : cursor.getChangedChannels()) wake(waitForChannel[channel]);
  if (cursor.hasRecorded()) wake(waitForStage[stage]);
  cursor.forgetChanges();
  return isDone;
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
      isBlocked = !advance(cursor, stageOf[index]);
      if (takesTurns && !ready.empty() && cursor.getNow() > ready.begin()->first) break;
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

llvm::Expected<StepTimes> Simulation::finish() {
  StepTimes step;
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

llvm::Expected<StepTimes> mlir::sgd::runStep(llvm::ArrayRef<StageProgram> stages, llvm::ArrayRef<StepChannel> channels,
                                             unsigned numLinks, bool keepsIntervals) {
  Simulation simulation(stages, channels, numLinks, keepsIntervals);
  if (simulation.run()) return simulation.finish();
  return llvm::createStringError(
      "a step has more than 2^27 events; expected fewer trips of loops that communicate; "
      "simulate a smaller one");
}
