// Units, and changes that repeat or drop executions.
#include "passes/plan/recompute/timeline.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"

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
  addOperands(sequence);
}

void Units::addOperands(const StepSequence& sequence) {
  for (unsigned unit = 0; unit < steps.size(); ++unit) {
    firstOperand.push_back(operands.size());
    for (unsigned step : steps[unit])
      for (unsigned buffer : sequence.steps[step].reads)
        if (bool isKept = sequence.buffers[buffer].isKept; isKept || writers[buffer] != unit)
          operands.push_back({buffer, isKept, writers[buffer]});
  }
  firstOperand.push_back(operands.size());
}

// Executions
// ------------------------------------------------------------------------------------------------------------

/// Of a copy one that does nothing.
const Step& Timeline::getStep(const Execution& execution) const {
  static const Step copy;
  return execution.isCopy() ? copy : sequence->steps[execution.step];
}

unsigned Timeline::getVersionAt(unsigned buffer, int position) const {
  ArrayRef<unsigned> known = versionsOf[buffer];
  unsigned best = known.front();
  if (known.size() == 1) return best;
  int bestMade = -2;
  for (unsigned version : known) {
    const int made = getMade(version);
    if (made < position && made > bestMade && !isOnHost(version) && (made >= 0 || sequence->buffers[buffer].isKept)) {
      best = version;
      bestMade = made;
    }
  }
  return best;
}

int Timeline::getOverwritten(unsigned kept) const {
  int first = static_cast<int>(size());
  for (unsigned operand : resultsOf[kept]) {
    const unsigned result = executions[order.back()].reads[operand];
    if (!isOnHost(result)) first = std::min(first, getUses(result).front());
  }
  return first;
}

/// Makes steps from position `first` on read `to` in place of `from`.
void Timeline::rename(unsigned from, unsigned to, int first) {
  const llvm::SmallVector<unsigned, 4> users = versions[from].uses;
  for (unsigned user : llvm::reverse(users)) {
    if (positions[user] < first) break;
    for (unsigned operand = 0; operand < executions[user].reads.size(); ++operand)
      if (executions[user].reads[operand] == from) setRead(user, operand, to);
  }
}

void Timeline::repeat(ArrayRef<unsigned> repeated, int position) {
  llvm::DenseMap<unsigned, unsigned> newVersions;                    // of buffers
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> replacements;  // of versions
  const unsigned first = executions.size();
  for (unsigned unit : repeated) {
    for (unsigned buffer : units->getWritten(unit)) {
      unsigned version = addVersion(buffer, /*isOnHost=*/false);
      replacements.push_back({getVersionAt(buffer, position), version});
      newVersions[buffer] = version;
    }
    for (unsigned step : units->getSteps(unit)) {
      Execution execution{Execution::Kind::Step, step, nextInstance, {}, {}};
      for (unsigned buffer : sequence->steps[step].reads) {
        auto known = newVersions.find(buffer);
        execution.reads.push_back(known == newVersions.end() ? getVersionAt(buffer, position) : known->second);
      }
      for (unsigned buffer : sequence->steps[step].writes) execution.writes.push_back(newVersions.lookup(buffer));
      addExecution(std::move(execution));
    }
    ++nextInstance;
  }
  llvm::SmallVector<unsigned> earlier;  // instances that wrote what is replaced
  for (auto [from, to] : replacements)
    for (unsigned user : versions[from].uses)
      if (positions[user] < position && llvm::is_contained(executions[user].writes, from))
        if (!llvm::is_contained(earlier, executions[user].instance)) earlier.push_back(executions[user].instance);
  for (auto [from, to] : replacements) rename(from, to, position);
  insert(position, first, executions.size() - first);
  dropUnread(earlier);
  settle();
}

/// Whether anything but itself reads what the instance writes, or it must run.
bool Timeline::isNeeded(unsigned instance) const {
  for (unsigned own : executionsOf[instance]) {
    const Execution& execution = executions[own];
    if (!execution.isCopy() && !units->isRepeatable(units->getUnit(execution.step))) return true;
    for (unsigned version : execution.writes) {
      // Results are read by the end of the program, and by the next step.
      if (isSequenced(version) && sequence->buffers[version].isKept) return true;
      for (unsigned user : versions[version].uses)
        if (executions[user].instance != instance && llvm::is_contained(executions[user].reads, version)) return true;
    }
  }
  return false;
}

/// Drops executions of units that nobody but themselves reads, and then those that only they had read.
void Timeline::dropUnread(ArrayRef<unsigned> candidates) {
  llvm::SmallVector<unsigned> work(candidates.begin(), candidates.end());
  while (!work.empty()) {
    unsigned instance = work.pop_back_val();
    if (executionsOf[instance].empty() || isNeeded(instance)) continue;
    llvm::SmallVector<unsigned, 8> read;
    for (unsigned own : executionsOf[instance]) llvm::append_range(read, executions[own].reads);
    eraseInstance(instance);
    for (unsigned version : read)
      if (int maker = versions[version].maker; maker >= 0 && !llvm::is_contained(work, executions[maker].instance))
        work.push_back(executions[maker].instance);
  }
}

bool Timeline::drop(unsigned instance) {
  if (isCopiedOut(instance)) return dropCopyOut(instance);
  if (executionsOf[instance].empty()) return false;
  const int first = positions[executionsOf[instance].front()];
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> replacements;  // of versions
  llvm::SmallVector<unsigned, 8> read;
  for (unsigned own : executionsOf[instance]) {
    llvm::append_range(read, executions[own].reads);
    for (unsigned version : executions[own].writes) {
      unsigned before = getVersionAt(getBuffer(version), first);
      if (before == version || getMade(before) < 0 || getMade(before) >= first) return false;
      replacements.push_back({version, before});
    }
  }
  eraseInstance(instance);
  for (auto [from, to] : replacements) rename(from, to, /*first=*/0);
  llvm::SmallVector<unsigned> feeders;
  for (unsigned version : read)
    if (int maker = versions[version].maker; maker >= 0 && !llvm::is_contained(feeders, executions[maker].instance))
      feeders.push_back(executions[maker].instance);
  dropUnread(feeders);
  settle();
  return true;
}

std::vector<unsigned> Timeline::getAddedInstances() const {
  std::vector<unsigned> instances;
  for (unsigned number : order) {
    const unsigned instance = executions[number].instance;
    if (instance >= units->getNumUnits() && (instances.empty() || instances.back() != instance))
      instances.push_back(instance);
  }
  return instances;
}
