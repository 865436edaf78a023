// Everything but the executions is computed anew after each change: a few operations per operand.
#include "passes/remat/timeline.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir::sgd::remat;
using llvm::ArrayRef;

// Units
// -----------------------------------------------------------------------------------------------------------------

Units::Units(const StepSequence& sequence) : unitOf(sequence.steps.size()), writers(sequence.buffers.size()) {
  llvm::EquivalenceClasses<unsigned> together;
  std::vector<std::optional<unsigned>> firstWriter(sequence.buffers.size());
  for (unsigned step = 0; step < sequence.steps.size(); ++step) {
    together.insert(step);
    for (unsigned buffer : sequence.steps[step].writes) {
      if (firstWriter[buffer]) together.unionSets(*firstWriter[buffer], step);
      firstWriter[buffer] = firstWriter[buffer].value_or(step);
    }
  }
  llvm::DenseMap<unsigned, unsigned> numbers;  // of the classes' leaders
  for (unsigned step = 0; step < sequence.steps.size(); ++step) {
    auto [unit, isNew] = numbers.try_emplace(together.getLeaderValue(step), steps.size());
    unitOf[step] = unit->second;
    if (isNew) {
      steps.emplace_back();
      written.emplace_back();
      repeatable.push_back(true);
      seconds.push_back(0);
    }
    const Step& one = sequence.steps[step];
    steps[unit->second].push_back(step);
    seconds[unit->second] += one.seconds;
    if (!one.isRepeatable) repeatable[unit->second] = false;
    for (unsigned buffer : one.writes) {
      writers[buffer] = unit->second;
      if (!llvm::is_contained(written[unit->second], buffer)) written[unit->second].push_back(buffer);
      if (sequence.buffers[buffer].isKept) repeatable[unit->second] = false;
    }
  }
  // A buffer that others read before it is complete has no versions.
  for (unsigned step = 0; step < sequence.steps.size(); ++step)
    for (unsigned buffer : sequence.steps[step].reads)
      if (writers[buffer] && *writers[buffer] != unitOf[step] && steps[*writers[buffer]].back() > step)
        repeatable[unitOf[step]] = repeatable[*writers[buffer]] = false;
}

// Executions
// ------------------------------------------------------------------------------------------------------------

Timeline::Timeline(const StepSequence& sequence, const Units& units) : sequence(&sequence), units(&units) {
  for (unsigned buffer = 0; buffer < sequence.buffers.size(); ++buffer) {
    addVersion(buffer, /*isHost=*/false);
    versionsOf.push_back({buffer});
  }
  for (auto [index, step] : llvm::enumerate(sequence.steps)) {
    unsigned unit = units.getUnit(index);
    executions.push_back({Execution::Kind::Step, static_cast<unsigned>(index), unit, step.reads, step.writes});
    nextInstance = std::max(nextInstance, unit + 1);
  }
  analyse();
}

unsigned Timeline::addVersion(unsigned buffer, bool isHost) {
  bufferOf.push_back(buffer);
  onHost.push_back(isHost);
  return bufferOf.size() - 1;
}

/// Of a copy one that does nothing.
const Step& Timeline::getStep(const Execution& execution) const {
  static const Step copy;
  return execution.isCopy() ? copy : sequence->steps[execution.step];
}

unsigned Timeline::getVersionAt(unsigned buffer, int position) const {
  unsigned best = versionsOf[buffer].front();
  int bestMade = -2;
  for (unsigned version : versionsOf[buffer])
    if (made[version] < position && made[version] > bestMade && !isOnHost(version) &&
        (made[version] >= 0 || sequence->buffers[buffer].isKept)) {
      best = version;
      bestMade = made[version];
    }
  return best;
}

void Timeline::repeat(ArrayRef<unsigned> repeated, int position) {
  llvm::DenseMap<unsigned, unsigned> newVersions;   // of buffers
  llvm::DenseMap<unsigned, unsigned> replacements;  // of versions
  std::vector<Execution> added;
  for (unsigned unit : repeated) {
    for (unsigned buffer : units->getWritten(unit)) {
      unsigned version = addVersion(buffer, /*isHost=*/false);
      replacements[getVersionAt(buffer, position)] = version;
      newVersions[buffer] = version;
    }
    for (unsigned step : units->getSteps(unit)) {
      Execution& execution = added.emplace_back();
      execution.step = step;
      execution.instance = nextInstance;
      for (unsigned buffer : sequence->steps[step].reads) {
        auto known = newVersions.find(buffer);
        execution.reads.push_back(known == newVersions.end() ? getVersionAt(buffer, position) : known->second);
      }
      for (unsigned buffer : sequence->steps[step].writes) execution.writes.push_back(newVersions.lookup(buffer));
    }
    ++nextInstance;
  }
  llvm::SmallSet<unsigned, 8> earlier;  // instances that wrote what is replaced
  for (const Execution& execution : ArrayRef(executions).take_front(position))
    if (llvm::any_of(execution.writes, [&](unsigned version) { return replacements.contains(version); }))
      earlier.insert(execution.instance);
  for (auto [from, to] : replacements) rename(from, to, position);
  executions.insert(executions.begin() + position, added.begin(), added.end());
  analyse();
  llvm::SmallVector<unsigned> candidates(earlier.begin(), earlier.end());
  llvm::sort(candidates);
  dropUnread(candidates);
}

/// Drops executions of units that nobody but themselves reads, and then those that only they had read.
void Timeline::dropUnread(ArrayRef<unsigned> candidates) {
  llvm::SmallVector<unsigned> work(candidates.begin(), candidates.end());
  while (!work.empty()) {
    unsigned instance = work.pop_back_val();
    llvm::SmallSet<unsigned, 8> own;
    bool isThere = false, isRead = false;
    for (const Execution& execution : executions)
      if (execution.instance == instance) {
        isThere = true;
        own.insert(execution.writes.begin(), execution.writes.end());
        if (!execution.isCopy() && !units->isRepeatable(units->getUnit(execution.step))) isRead = true;
        // What the end of the program reads, and the next step.
        if (llvm::any_of(execution.writes, [&](unsigned version) {
              return version < sequence->buffers.size() && sequence->buffers[version].isKept;
            }))
          isRead = true;
      }
    llvm::SmallSet<unsigned, 8> read;
    for (const Execution& execution : executions) {
      if (execution.instance == instance)
        read.insert(execution.reads.begin(), execution.reads.end());
      else if (llvm::any_of(execution.reads, [&](unsigned version) { return own.contains(version); }))
        isRead = true;
    }
    if (!isThere || isRead) continue;
    llvm::erase_if(executions, [&](const Execution& execution) { return execution.instance == instance; });
    for (const Execution& execution : executions)
      if (llvm::any_of(execution.writes, [&](unsigned version) { return read.contains(version); }))
        if (!llvm::is_contained(work, execution.instance)) work.push_back(execution.instance);
    analyse();
  }
}

bool Timeline::drop(unsigned instance) {
  if (isCopiedOut(instance)) return dropCopyOut(instance);
  llvm::DenseMap<unsigned, unsigned> replacements;
  llvm::SmallSet<unsigned, 8> read;
  int first = -1;
  for (int position = 0; position < static_cast<int>(executions.size()); ++position) {
    const Execution& execution = executions[position];
    if (execution.instance != instance) continue;
    if (first < 0) first = position;
    read.insert(execution.reads.begin(), execution.reads.end());
    for (unsigned version : execution.writes) {
      unsigned before = getVersionAt(bufferOf[version], first);
      if (before == version || made[before] < 0 || made[before] >= first) return false;
      replacements[version] = before;
    }
  }
  if (first < 0) return false;
  llvm::erase_if(executions, [&](const Execution& execution) { return execution.instance == instance; });
  llvm::SmallVector<unsigned> feeders;
  for (Execution& execution : executions) {
    for (unsigned& version : execution.reads)
      if (auto found = replacements.find(version); found != replacements.end()) version = found->second;
    if (llvm::any_of(execution.writes, [&](unsigned version) { return read.contains(version); }))
      if (!llvm::is_contained(feeders, execution.instance)) feeders.push_back(execution.instance);
  }
  analyse();
  dropUnread(feeders);
  return true;
}

std::vector<unsigned> Timeline::getAddedInstances() const {
  unsigned numUnits = 0;
  for (unsigned step = 0; step < sequence->steps.size(); ++step)
    numUnits = std::max(numUnits, units->getUnit(step) + 1);
  std::vector<unsigned> instances;
  for (const Execution& execution : executions)
    if (execution.instance >= numUnits && (instances.empty() || instances.back() != execution.instance))
      instances.push_back(execution.instance);
  return instances;
}

// Memory
// ----------------------------------------------------------------------------------------------------------------

void Timeline::analyse() {
  uses.assign(bufferOf.size(), {});
  made.assign(bufferOf.size(), -1);
  overwritten.assign(sequence->buffers.size(), static_cast<int>(executions.size()));
  for (int position = 0; position < static_cast<int>(executions.size()); ++position) {
    const Execution& execution = executions[position];
    auto add = [&](unsigned version) {
      if (uses[version].empty() || uses[version].back() != position) uses[version].push_back(position);
    };
    llvm::for_each(execution.reads, add);
    llvm::for_each(execution.writes, add);
    for (unsigned version : execution.writes) made[version] = position;
  }
  for (llvm::SmallVector<unsigned, 1>& versions : versionsOf) versions.clear();
  for (unsigned version = 0; version < bufferOf.size(); ++version)
    if (!uses[version].empty() || sequence->buffers[bufferOf[version]].isKept || version < versionsOf.size())
      versionsOf[bufferOf[version]].push_back(version);
  for (unsigned result : executions.back().reads)
    if (std::optional<unsigned> destination = sequence->buffers[bufferOf[result]].destination;
        destination && !onHost[result])
      overwritten[*destination] = std::min(overwritten[*destination], uses[result].front());
  countAlive();
  countSeconds();
}

/// None when it is written over a buffer that is kept, or is on the host.
int64_t Timeline::getCountedBytes(unsigned version) const {
  const Buffer& buffer = sequence->buffers[bufferOf[version]];
  if (uses[version].empty() || isOnHost(version)) return 0;
  if (buffer.isKept) return version < sequence->buffers.size() ? 0 : buffer.stateBytes;
  bool isResult = buffer.destination && uses[version].back() + 1 == static_cast<int>(executions.size());
  if (!isResult) return buffer.bytes;
  ArrayRef<int> readers = uses[*buffer.destination];
  return readers.empty() || readers.back() <= uses[version].front() ? 0 : buffer.bytes;
}

/// Bytes that the step at `position` needs less, since results take the memory of operands that die there.
int64_t Timeline::getReusedBytes(int position) const {
  const Execution& execution = executions[position];
  const Step& step = getStep(execution);
  llvm::SmallVector<unsigned, 4> taken;
  int64_t reused = 0;
  for (auto [written, read] : step.inPlace) {
    unsigned target = execution.writes[llvm::find(step.writes, written) - step.writes.begin()];
    unsigned source = execution.reads[llvm::find(step.reads, read) - step.reads.begin()];
    int64_t bytes = getCountedBytes(source);
    if (uses[source].back() != position || uses[target].front() != position || bytes != getCountedBytes(target) ||
        llvm::is_contained(taken, source) || llvm::is_contained(taken, target))
      continue;
    taken.append({source, target});
    reused += bytes;
  }
  return reused;
}

void Timeline::countAlive() {
  std::vector<int64_t> change(executions.size() + 1);
  int64_t now = 0;
  for (unsigned buffer = 0; buffer < sequence->buffers.size(); ++buffer)
    if (!onHost[buffer]) now += sequence->buffers[buffer].stateBytes;
  for (unsigned version = 0; version < bufferOf.size(); ++version) {
    int64_t bytes = getCountedBytes(version);
    if (bytes == 0) continue;
    change[uses[version].front()] += bytes;
    change[uses[version].back() + 1] -= bytes;
  }
  alive.assign(executions.size(), 0);
  for (int position = 0; position < static_cast<int>(executions.size()); ++position) {
    now += change[position];
    alive[position] = now + getStep(executions[position]).scratchBytes - getReusedBytes(position);
  }
}

/// Three clocks: of the device, and of the copies in each direction, which end in the order in which they are enqueued.
void Timeline::countSeconds() {
  for (std::vector<double>* times : {&starts, &freeOut, &freeIn}) times->assign(executions.size() + 1, 0);
  llvm::DenseMap<unsigned, double> ends;  // of copies, by what they write
  double now = 0, isFreeOut = 0, isFreeIn = 0;
  for (size_t position = 0; position < executions.size(); ++position) {
    const Execution& execution = executions[position];
    freeOut[position] = isFreeOut, freeIn[position] = isFreeIn;
    auto copy = [&](double& isFree) {
      isFree = std::max(now, isFree) + sequence->buffers[bufferOf[execution.reads.front()]].hostSeconds;
      ends[execution.writes.front()] = isFree;
    };
    switch (execution.kind) {
      case Execution::Kind::Step:
        for (unsigned version : execution.reads)
          if (!onHost[version]) now = std::max(now, ends.lookup(version));
        break;
      case Execution::Kind::CopyOut:
        copy(isFreeOut);
        break;
      case Execution::Kind::CopyIn:
        copy(isFreeIn);
        break;
      case Execution::Kind::CopiedOut:
        now = std::max(now, ends.lookup(execution.writes.front()));
        break;
    }
    starts[position] = now;
    now += getStep(execution).seconds;
  }
  starts.back() = now, freeOut.back() = isFreeOut, freeIn.back() = isFreeIn;
}

int64_t Timeline::getPeak() const { return *llvm::max_element(alive); }
