// Positions of copies follow from the times of the timeline and from where memory is short.
#include "passes/plan/recompute/offload_choice.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd::remat;
using ExecutionKind = Execution::Kind;

namespace {

double getHostSeconds(const Timeline& timeline, unsigned version) {
  return timeline.getSequence().buffers[timeline.getBuffer(version)].hostSeconds;
}

/// The first of positions [first, last) for which `holds`, which then holds for all behind it; else `last`.
template <typename Holds>
int findFirst(int first, int last, Holds holds) {
  while (first < last) {
    int middle = first + (last - first) / 2;
    if (holds(middle))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

/// A copy out that is enqueued before `begin`.
struct CopyOut {
  CopyOut(const Timeline& timeline, int begin, double seconds)
      : timeline(timeline),
        begin(begin),
        end(std::max(timeline.getStart(begin), timeline.getFreeOut(begin)) + seconds) {}

  /// The first position up to `last` where nothing waits for it.
  int getHidden(int last) const {
    return findFirst(begin, last, [&](int position) { return timeline.getStart(position) >= end; });
  }
  double getWait(int copied) const { return std::max(0.0, end - timeline.getStart(copied)); }

  const Timeline& timeline;
  int begin;
  double end;
};

/// A copy back that is enqueued before what is at `reader`, or earlier.
struct CopyIn {
  CopyIn(const Timeline& timeline, int reader, double seconds)
      : timeline(timeline), seconds(seconds), reader(reader), needed(timeline.getStart(reader)) {}

  double getEnd(int position) const {
    return std::max(timeline.getStart(position), timeline.getFreeIn(position)) + seconds;
  }
  /// The last position from `first` on for which nothing waits; `first` where something always does.
  int getHidden(int first) const {
    int behind = findFirst(first, reader + 1, [&](int position) { return getEnd(position) > needed; });
    return std::max(first, behind - 1);
  }
  double getWait(int position) const { return std::max(0.0, getEnd(position) - needed); }

  const Timeline& timeline;
  double seconds;
  int reader;
  double needed;
};

/// Each of the two, once.
llvm::SmallVector<int, 2> getBoth(int first, int second) {
  if (first == second) return {first};
  return {first, second};
}

/// Where the state's next value begins to be copied over what is on the host; past the end if never, and of what is no
/// state.
int getOverwritten(const Timeline& timeline, unsigned host) {
  if (timeline.getSequence().buffers[timeline.getBuffer(host)].isKept)
    for (int use : timeline.getUses(host))
      if (timeline[use].kind == ExecutionKind::CopyOut) return use;
  return static_cast<int>(timeline.size());
}

bool isEnd(const Timeline& timeline, int position) { return position + 1 == static_cast<int>(timeline.size()); }

/// Behind position `after` until the program ends, the result being on the host.
llvm::SmallVector<OffloadChoice, 4> findResultOffloads(const Timeline& timeline, const Excess& excess, unsigned version,
                                                       int after, int end) {
  llvm::SmallVector<OffloadChoice, 4> choices;
  CopyOut out(timeline, after + 1, getHostSeconds(timeline, version));
  int hidden = out.getHidden(end), needed = std::min(hidden, excess.getFirstAbove(after + 1, end));
  for (int copied : getBoth(hidden, needed)) {
    OffloadChoice& choice = choices.emplace_back();
    choice.kind = OffloadChoice::Kind::Result;
    choice.version = version;
    choice.begin = after + 1;
    choice.copied = copied;
    choice.seconds = out.getWait(copied);
    choice.changes.push_back({copied, end, -timeline.getCountedBytes(version)});
  }
  return choices;
}

/// The result that the kept buffer becomes, as the end of the program reads it.
std::optional<unsigned> getNext(const Timeline& timeline, unsigned state) {
  for (unsigned version : timeline[timeline.size() - 1].reads)
    if (timeline.getSequence().buffers[timeline.getBuffer(version)].destination == state) return version;
  return std::nullopt;
}

/// Adds the memory that the state's next value occupies before and after it is offloaded.
void addNext(const Timeline& timeline, OffloadChoice& choice, int64_t bytes) {
  Uses uses = timeline.getUses(*choice.next);
  int64_t counted = timeline.getCountedBytes(*choice.next);
  if (counted != 0) choice.changes.push_back({uses.front(), uses.back(), -counted});
  choice.changes.push_back({uses.front(), std::max(choice.copied - 1, choice.begin), bytes});
  // It takes the memory of what is read there for the last time.
  Uses readers = timeline.getUses(choice.version);
  if (counted == 0 && llvm::is_contained(readers, uses.front()))
    choice.changes.push_back({uses.front(), uses.front(), -bytes});
}

}  // namespace

void OffloadChoice::apply(Timeline& timeline) const {
  switch (kind) {
    case Kind::Gap:
      return timeline.offload({version, begin, copied, back, std::nullopt});
    case Kind::Again:
      return timeline.bringAgain(version, back);
    case Kind::Result:
      return timeline.offload({version, begin, copied, std::nullopt, std::nullopt});
    case Kind::State:
      // The later one first: positions before it stay.
      if (next) timeline.offload({*next, begin, copied, std::nullopt, version});
      return timeline.bringIn(version, back);
    case Kind::Sooner:
      return timeline.moveUp(begin, copied);
    case Kind::Later:
      return timeline.moveDown(begin, back - 1);
  }
}

llvm::SmallVector<OffloadChoice, 4> mlir::sgd::remat::findGapOffloads(const Timeline& timeline, const Excess& excess,
                                                                      unsigned version, int reader) {
  llvm::SmallVector<OffloadChoice, 4> choices;
  const Buffer& buffer = timeline.getSequence().buffers[timeline.getBuffer(version)];
  Uses uses = timeline.getUses(version);
  auto use = llvm::lower_bound(uses, reader);
  if (buffer.hostSeconds == 0 || timeline.isOnHost(version) || use == uses.begin() || use == uses.end()) return choices;
  const int before = *std::prev(use);
  if (timeline.getMade(version) > before || timeline[reader].isCopy() || timeline[before].isCopy()) return choices;
  if (isEnd(timeline, reader)) {
    // A value that goes into an argument's buffer is not a result with a buffer.
    if (buffer.isKept || buffer.destination) return choices;
    return findResultOffloads(timeline, excess, version, before, reader);
  }
  std::optional<unsigned> source = timeline.getHostSource(version);
  if (source && getOverwritten(timeline, *source) < reader) return choices;
  const int first = before + 1;
  CopyOut out(timeline, first, source ? 0 : buffer.hostSeconds);
  CopyIn in(timeline, reader, buffer.hostSeconds);
  const int hiddenOut = source ? first : out.getHidden(reader);
  const int neededOut = std::min(hiddenOut, excess.getFirstAbove(first, reader));
  for (int copied : getBoth(hiddenOut, neededOut)) {
    const int hiddenIn = in.getHidden(copied);
    const int neededIn = std::max(hiddenIn, excess.getLastAbove(first, reader) + 1);
    for (int back : getBoth(hiddenIn, neededIn)) {
      OffloadChoice& choice = choices.emplace_back();
      choice.kind = source ? OffloadChoice::Kind::Again : OffloadChoice::Kind::Gap;
      choice.version = version;
      choice.begin = first;
      choice.copied = copied;
      choice.back = back;
      choice.seconds = (source ? 0 : out.getWait(copied)) + in.getWait(back);
      choice.changes.push_back({copied, back - 1, -timeline.getCountedBytes(version)});
    }
  }
  return choices;
}

llvm::SmallVector<OffloadChoice, 4> mlir::sgd::remat::findStateOffloads(const Timeline& timeline, const Excess& excess,
                                                                        unsigned state) {
  llvm::SmallVector<OffloadChoice, 4> choices;
  const Buffer& buffer = timeline.getSequence().buffers[state];
  const int end = static_cast<int>(timeline.size()) - 1;
  if (buffer.stateBytes == 0 || timeline.isOnHost(state)) return choices;
  Uses readers = timeline.getUses(state);
  if (!readers.empty() && readers.back() == end) readers = readers.drop_back();
  const int first = readers.empty() ? end : readers.front(), last = readers.empty() ? end : readers.back();
  std::optional<unsigned> next = getNext(timeline, state);
  int begin = end;
  if (next) {
    Uses uses = timeline.getUses(*next);
    if (uses.size() < 2) return choices;
    begin = std::max(uses[uses.size() - 2] + 1, first);
  }
  CopyIn in(timeline, first, readers.empty() ? 0 : buffer.hostSeconds);
  CopyOut out(timeline, begin, next ? buffer.hostSeconds : 0);
  const int hiddenIn = in.getHidden(0), neededIn = std::max(hiddenIn, excess.getLastAbove(0, first) + 1);
  const int hiddenOut = out.getHidden(end), neededOut = std::min(hiddenOut, excess.getFirstAbove(begin, end));
  for (int back : getBoth(hiddenIn, neededIn))
    for (int copied : getBoth(hiddenOut, neededOut)) {
      OffloadChoice& choice = choices.emplace_back();
      choice.kind = OffloadChoice::Kind::State;
      choice.version = state;
      choice.next = next;
      choice.begin = begin;
      choice.copied = copied;
      choice.back = back;
      choice.seconds = (readers.empty() ? 0 : in.getWait(back)) + (next ? out.getWait(copied) : 0);
      choice.changes.push_back({0, end, -buffer.stateBytes});
      if (!readers.empty()) choice.changes.push_back({back, last, buffer.stateBytes});
      if (next) addNext(timeline, choice, buffer.stateBytes);
    }
  return choices;
}

std::optional<OffloadChoice> mlir::sgd::remat::findTighter(const Timeline& timeline, const Excess& excess,
                                                           int position) {
  const Execution& execution = timeline[position];
  OffloadChoice choice;
  choice.begin = position;
  if (execution.kind == ExecutionKind::CopiedOut) {
    Uses uses = timeline.getUses(execution.reads.front());
    const int begun = *std::prev(llvm::lower_bound(uses, position)) + 1;
    choice.kind = OffloadChoice::Kind::Sooner;
    choice.version = execution.reads.front();
    choice.copied = excess.getFirstAbove(begun, position);
    if (choice.copied == position) return std::nullopt;
    choice.seconds = std::max(0.0, timeline.getFreeOut(begun) - timeline.getStart(choice.copied));
    choice.changes.push_back({choice.copied, position, -timeline.getCountedBytes(choice.version)});
    return choice;
  }
  if (execution.kind != ExecutionKind::CopyIn) return std::nullopt;
  choice.kind = OffloadChoice::Kind::Later;
  choice.version = execution.writes.front();
  const int reader = timeline.getUses(choice.version)[1];
  choice.back = std::min(excess.getLastAbove(position, reader) + 1, getOverwritten(timeline, execution.reads.front()));
  if (choice.back <= position + 1) return std::nullopt;
  choice.seconds = CopyIn(timeline, reader, getHostSeconds(timeline, choice.version)).getWait(choice.back);
  choice.changes.push_back({position, choice.back - 1, -timeline.getCountedBytes(choice.version)});
  return choice;
}

namespace {

/// Whether `bytes` more fit at all of positions [first, last).
bool isRoom(const Timeline& timeline, int first, int last, int64_t bytes, int64_t goal) {
  for (int position = first; position < last; ++position)
    if (timeline.getAlive(position) + bytes > goal) return false;
  return true;
}

/// Moves the copy in at `position` up, to where its reader does not wait or memory is short.
void hideCopyIn(Timeline& timeline, int position, int64_t goal) {
  const unsigned version = timeline[position].writes.front(), source = timeline[position].reads.front();
  const int64_t bytes = timeline.getCountedBytes(version);
  const int reader = timeline.getUses(version)[1];
  const int made = timeline.getMade(source), least = made < position ? made + 1 : 0;
  const double seconds = getHostSeconds(timeline, version);
  const double ready = reader == 0 ? 0 : timeline.getStart(reader);
  auto getEnd = [&](int at) { return std::max(timeline.getStart(at), timeline.getFreeIn(at)) + seconds; };
  int to = position;
  // Its reader's start includes the wait: less is needed than that.
  while (to > least && getEnd(to) >= ready && isRoom(timeline, to - 1, to, bytes, goal)) --to;
  if (to < position) timeline.moveUp(position, to);
}

/// Moves the end of a copy out at `position` down.
void hideCopyOut(Timeline& timeline, int position, int64_t goal) {
  const unsigned version = timeline[position].reads.front(), host = timeline[position].writes.front();
  const int64_t bytes = timeline.getCountedBytes(version);
  int most = static_cast<int>(timeline.size()) - 2;
  for (int use : timeline.getUses(host))
    if (use > position && timeline[use].kind == ExecutionKind::CopyIn) most = std::min(most, use - 1);
  if (timeline.getFreeOut(position) < timeline.getStart(position)) return;
  const double wait = timeline.getStart(position) - (position == 0 ? 0 : timeline.getStart(position - 1));
  if (wait <= 0) return;
  const double without = timeline.getStart(position) - wait;
  int to = position;
  while (to < most &&
         without + (timeline.getStart(to + 1) - timeline.getStart(position)) < timeline.getStart(position) &&
         isRoom(timeline, to + 1, to + 2, bytes, goal))
    ++to;
  if (to > position) timeline.moveDown(position, to);
}

}  // namespace

void mlir::sgd::remat::hideCopies(Timeline& timeline, int64_t budget) {
  const int64_t goal = std::max(budget, timeline.getPeak());
  for (int position = static_cast<int>(timeline.size()) - 1; position >= 0; --position)
    if (timeline[position].kind == ExecutionKind::CopiedOut) hideCopyOut(timeline, position, goal);
  for (int position = 0; position < static_cast<int>(timeline.size()); ++position)
    if (timeline[position].kind == ExecutionKind::CopyIn) hideCopyIn(timeline, position, goal);
}
