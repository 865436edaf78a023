// Edits of a timeline: each updates the uses of the versions that it touches, and records how it is undone. Bytes are
// counted again for touched versions, and in-place results where their lives begin and end.
#include <algorithm>
#include <climits>

#include "llvm/ADT/STLExtras.h"
#include "passes/plan/recompute/timeline.h"

using namespace mlir::sgd::remat;
using llvm::ArrayRef;

Timeline::Timeline(const StepSequence& sequence, const Units& units)
    : sequence(&sequence),
      units(&units),
      resultsOf(sequence.buffers.size()),
      executionsOf(units.getNumUnits()),
      versionsOf(sequence.buffers.size()),
      nextInstance(units.getNumUnits()) {
  for (auto [index, buffer] : llvm::enumerate(sequence.buffers)) {
    addVersion(index, /*isOnHost=*/false);
    alive.addEverywhere(buffer.stateBytes);
  }
  for (auto [operand, result] : llvm::enumerate(sequence.steps.back().reads))
    if (std::optional<unsigned> destination = sequence.buffers[result].destination)
      resultsOf[*destination].push_back(operand);
  for (auto [index, step] : llvm::enumerate(sequence.steps)) {
    const unsigned number = index;
    addExecution({Execution::Kind::Step, number, units.getUnit(number), step.reads, step.writes});
  }
  place(0, 0, executions.size());
  settle();
}

// Edits
// -----------------------------------------------------------------------------------------------------------------

unsigned Timeline::addVersion(unsigned buffer, bool isOnHost) {
  Version& version = versions.emplace_back();
  version.buffer = buffer;
  version.isOnHost = isOnHost;
  versionsOf[buffer].push_back(versions.size() - 1);
  copyEnds.push_back(0);
  return versions.size() - 1;
}

/// Not executed yet.
unsigned Timeline::addExecution(Execution execution) {
  executions.push_back(std::move(execution));
  positions.push_back(-1);
  alive.resize(executions.size());
  return executions.size() - 1;
}

void Timeline::insert(int position, unsigned first, unsigned count) {
  place(position, first, count);
  edits.push_back({Edit::Kind::Insert, first, position, count});
}

void Timeline::erase(unsigned execution) {
  edits.push_back({Edit::Kind::Erase, execution, positions[execution]});
  remove(execution);
}

void Timeline::eraseInstance(unsigned instance) {
  const llvm::SmallVector<unsigned, 1> own = executionsOf[instance];
  for (unsigned execution : own) erase(execution);
}

void Timeline::setRead(unsigned execution, unsigned operand, unsigned version) {
  Edit edit{Edit::Kind::Read, execution};
  edit.operand = operand;
  edit.version = executions[execution].reads[operand];
  edits.push_back(edit);
  replaceRead(execution, operand, version);
}

void Timeline::setOnHost(unsigned state, bool isOnHost) {
  Edit edit{Edit::Kind::Host};
  edit.version = state;
  edits.push_back(edit);
  moveState(state, isOnHost);
}

void Timeline::undo(const Edit& edit) {
  switch (edit.kind) {
    case Edit::Kind::Insert:
      for (unsigned execution = edit.execution + edit.count; execution > edit.execution; --execution)
        remove(execution - 1);
      return;
    case Edit::Kind::Erase:
      return place(edit.position, edit.execution, 1);
    case Edit::Kind::Read:
      return replaceRead(edit.execution, edit.operand, edit.version);
    case Edit::Kind::Host:
      return moveState(edit.version, !isOnHost(edit.version));
  }
}

void Timeline::rollBack(const Mark& mark) {
  while (edits.size() > mark.edits) {
    undo(edits.back());
    edits.pop_back();
  }
  settle();
  for (unsigned version = mark.versions; version < versions.size(); ++version)
    llvm::erase(versionsOf[getBuffer(version)], version);
  versions.resize(mark.versions);
  copyEnds.resize(mark.versions);
  executions.resize(mark.executions);
  positions.resize(mark.executions);
  alive.resize(mark.executions);
  nextInstance = mark.nextInstance;
}

// Uses
// ------------------------------------------------------------------------------------------------------------------

/// Executes `count` executions from `first` on before what is at `position`.
void Timeline::place(int position, unsigned first, unsigned count) {
  order.insert(order.begin() + position, count, 0);
  for (unsigned index = 0; index < count; ++index) order[position + index] = first + index;
  renumber(position);
  for (unsigned number = first; number < first + count; ++number) {
    const Execution& execution = executions[number];
    for (unsigned version : execution.reads) addUse(version, number);
    for (unsigned version : execution.writes) {
      addUse(version, number);
      int& maker = versions[version].maker;
      if (maker < 0 || positions[maker] < positions[number]) maker = static_cast<int>(number);
    }
    if (executionsOf.size() <= execution.instance) executionsOf.resize(execution.instance + 1);
    llvm::SmallVector<unsigned, 1>& instance = executionsOf[execution.instance];
    auto behind = llvm::partition_point(instance, [&](unsigned other) { return positions[other] < positions[number]; });
    instance.insert(behind, number);
    touchOwn(number);
  }
}

void Timeline::remove(unsigned number) {
  const Execution& execution = executions[number];
  for (unsigned version : execution.reads) removeUse(version, number);
  for (unsigned version : execution.writes) {
    removeUse(version, number);
    if (versions[version].maker != static_cast<int>(number)) continue;
    versions[version].maker = -1;
    for (unsigned user : versions[version].uses)
      if (user != number && llvm::is_contained(executions[user].writes, version))
        versions[version].maker = static_cast<int>(user);
  }
  if (execution.kind == Execution::Kind::CopyOut || execution.kind == Execution::Kind::CopyIn)
    copyEnds[execution.writes.front()] = 0;
  llvm::erase(executionsOf[execution.instance], number);
  const int position = positions[number];
  positions[number] = -1;
  order.erase(order.begin() + position);
  renumber(position);
}

void Timeline::replaceRead(unsigned number, unsigned operand, unsigned version) {
  Execution& execution = executions[number];
  const unsigned before = std::exchange(execution.reads[operand], version);
  if (!llvm::is_contained(execution.reads, before) && !llvm::is_contained(execution.writes, before))
    removeUse(before, number);
  addUse(version, number);
  firstChange = std::min(firstChange, positions[number]);
}

void Timeline::moveState(unsigned state, bool isOnHost) {
  const int64_t bytes = sequence->buffers[state].stateBytes;
  touch(state);
  versions[state].isOnHost = isOnHost;
  alive.addEverywhere(isOnHost ? -bytes : bytes);
  firstChange = 0;
  auto place = llvm::lower_bound(stateOnHost, state);
  if (isOnHost)
    stateOnHost.insert(place, state);
  else
    stateOnHost.erase(place);
}

void Timeline::renumber(int first) {
  for (size_t position = first; position < order.size(); ++position)
    positions[order[position]] = static_cast<int>(position);
  firstChange = std::min(firstChange, first);
}

/// Nothing if it is one already.
void Timeline::addUse(unsigned version, unsigned execution) {
  llvm::SmallVector<unsigned, 4>& uses = versions[version].uses;
  auto place = llvm::partition_point(uses, [&](unsigned other) { return positions[other] < positions[execution]; });
  if (place != uses.end() && *place == execution) return;
  touch(version);
  llvm::SmallVector<unsigned, 1>& listed = versionsOf[versions[version].buffer];
  if (auto behind = llvm::lower_bound(listed, version); behind == listed.end() || *behind != version)
    listed.insert(behind, version);
  uses.insert(place, execution);
}

/// Nothing if it is none.
void Timeline::removeUse(unsigned version, unsigned execution) {
  llvm::SmallVector<unsigned, 4>& uses = versions[version].uses;
  auto place = llvm::partition_point(uses, [&](unsigned other) { return positions[other] < positions[execution]; });
  if (place == uses.end() || *place != execution) return;
  touch(version);
  uses.erase(place);
  if (uses.empty() && !isAlwaysListed(version)) llvm::erase(versionsOf[versions[version].buffer], version);
}

// Bytes
// -----------------------------------------------------------------------------------------------------------------

/// To be called before the version's life changes.
void Timeline::touch(unsigned number) {
  Version& version = versions[number];
  if (version.isTouched) return;
  version.isTouched = true;
  touchedVersions.push_back(number);
  if (version.bytes != 0) {
    firstChange = std::min(firstChange, positions[version.first]);
    alive.add(version.first, version.last, -version.bytes);
    version.bytes = 0;
  }
  if (!version.uses.empty()) {
    touchOwn(version.uses.front());
    touchOwn(version.uses.back());
  }
  if (!isSequenced(number)) return;
  for (unsigned operand : resultsOf[number])
    for (unsigned written : versionsOf[sequence->steps.back().reads[operand]]) touch(written);
}

void Timeline::touchOwn(unsigned execution) { touchedExecutions.push_back(execution); }

/// Counts bytes after edits.
void Timeline::settle() {
  for (unsigned number : touchedVersions) {
    Version& version = versions[number];
    version.isTouched = false;
    if (version.uses.empty()) continue;
    touchOwn(version.uses.front());
    touchOwn(version.uses.back());
    version.bytes = countBytes(number);
    if (version.bytes == 0) continue;
    version.first = version.uses.front();
    version.last = version.uses.back();
    alive.add(version.first, version.last, version.bytes);
    firstChange = std::min(firstChange, positions[version.first]);
  }
  touchedVersions.clear();
  for (unsigned execution : touchedExecutions) {
    if (positions[execution] < 0) continue;
    alive.setOwn(execution, getStep(executions[execution]).scratchBytes - getReusedBytes(execution));
    firstChange = std::min(firstChange, positions[execution]);
  }
  touchedExecutions.clear();
  if (firstChange == INT_MAX) return;
  alive.update(order, firstChange);
  firstUntimed = std::min(firstUntimed, firstChange);
  firstChange = INT_MAX;
}

int64_t Timeline::countBytes(unsigned number) const {
  const Version& version = versions[number];
  const Buffer& buffer = sequence->buffers[version.buffer];
  if (version.isOnHost) return 0;
  if (buffer.isKept) return isSequenced(number) ? 0 : buffer.stateBytes;
  const bool isResult = buffer.destination && version.uses.back() == order.back();
  if (!isResult) return buffer.bytes;
  Uses readers = getUses(*buffer.destination);
  return readers.empty() || readers.back() <= getUses(number).front() ? 0 : buffer.bytes;
}

/// Bytes that the step needs less, since results take the memory of operands that die there.
int64_t Timeline::getReusedBytes(unsigned number) const {
  const Execution& execution = executions[number];
  const Step& step = getStep(execution);
  llvm::SmallVector<unsigned, 4> taken;
  int64_t reused = 0;
  for (auto [written, read] : step.inPlace) {
    unsigned target = execution.writes[llvm::find(step.writes, written) - step.writes.begin()];
    unsigned source = execution.reads[llvm::find(step.reads, read) - step.reads.begin()];
    int64_t bytes = getCountedBytes(source);
    if (versions[source].uses.back() != number || versions[target].uses.front() != number ||
        bytes != getCountedBytes(target) || llvm::is_contained(taken, source) || llvm::is_contained(taken, target))
      continue;
    taken.append({source, target});
    reused += bytes;
  }
  return reused;
}

// Time
// ------------------------------------------------------------------------------------------------------------------

/// Three clocks: of the device, and of the copies in each direction, which end in the order in which they are enqueued.
ArrayRef<Timeline::Times> Timeline::getTimes() const {
  if (firstUntimed == INT_MAX) return times;
  times.resize(size() + 1);
  Times now;
  if (firstUntimed > 0) {
    now = times[firstUntimed];
    now.start = times[firstUntimed - 1].start + getStep(executions[order[firstUntimed - 1]]).seconds;
  }
  for (size_t position = firstUntimed; position < size(); ++position) {
    const Execution& execution = executions[order[position]];
    times[position] = now;
    auto copy = [&](double& isFree) {
      isFree = std::max(now.start, isFree) + sequence->buffers[getBuffer(execution.reads.front())].hostSeconds;
      copyEnds[execution.writes.front()] = isFree;
    };
    switch (execution.kind) {
      case Execution::Kind::Step:
        for (unsigned version : execution.reads)
          if (!isOnHost(version)) now.start = std::max(now.start, copyEnds[version]);
        break;
      case Execution::Kind::CopyOut:
        copy(now.freeOut);
        break;
      case Execution::Kind::CopyIn:
        copy(now.freeIn);
        break;
      case Execution::Kind::CopiedOut:
        now.start = std::max(now.start, copyEnds[execution.writes.front()]);
        break;
    }
    times[position].start = now.start;
    now.start += getStep(execution).seconds;
  }
  times.back() = now;
  firstUntimed = INT_MAX;
  return times;
}
