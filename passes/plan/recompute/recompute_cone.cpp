// Walks over units, and sums over bins of positions.
#include "passes/plan/recompute/recompute_cone.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::sgd::remat;

namespace {

/// A layer has some dozens of units; what needs more is better kept.
constexpr size_t kMaxUnits = 256;
constexpr size_t kMaxBins = 512;

}  // namespace

ConeFinder::ConeFinder(const Timeline& timeline)
    : timeline(timeline), units(timeline.getUnits()), seen(units.getNumUnits()) {}

const Cone* ConeFinder::find(unsigned version, int position, OperandPolicy wanted) {
  const unsigned buffer = timeline.getBuffer(version);
  ++walk;
  numSeen = 0;
  policy = wanted;
  freedBytes = timeline.getSequence().buffers[buffer].bytes;
  hasSmall = hasLarge = false;
  cone.position = position;
  cone.units.clear();
  cone.extended.clear();
  cone.seconds = 0;
  const std::optional<unsigned> writer = units.getWriter(buffer);
  return writer && visit(*writer) ? &cone : nullptr;
}

OperandPolicy ConeFinder::getLastAlike() const {
  switch (policy) {
    case OperandPolicy::KeepAll:
      if (hasLarge) return OperandPolicy::KeepAll;
      return hasSmall ? OperandPolicy::KeepSmall : OperandPolicy::RecomputeAll;
    case OperandPolicy::KeepSmall:
      return hasSmall ? OperandPolicy::KeepSmall : OperandPolicy::RecomputeAll;
    case OperandPolicy::RecomputeAll:
      return OperandPolicy::RecomputeAll;
  }
  llvm_unreachable("all policies are handled");
}

bool ConeFinder::visit(unsigned unit) {
  if (!units.isRepeatable(unit) || numSeen >= kMaxUnits) return false;
  if (isSeen(unit)) return true;
  seen[unit] = walk;
  ++numSeen;
  for (const Units::Operand& operand : units.getOperands(unit))
    if (!visitOperand(operand)) return false;
  cone.units.push_back(unit);
  cone.seconds += units.getSeconds(unit);
  return true;
}

bool ConeFinder::visitOperand(const Units::Operand& operand) {
  if (operand.isKept) return visitKept(operand.buffer);
  if (!operand.writer) return false;
  if (isSeen(*operand.writer)) return true;
  unsigned version = timeline.getVersionAt(operand.buffer, cone.position);
  if (timeline.getUses(version).back() >= cone.position) return true;
  const bool isSmall = timeline.getSequence().buffers[operand.buffer].bytes * 4 <= freedBytes;
  (isSmall ? hasSmall : hasLarge) = true;
  const bool wantsAgain = policy == OperandPolicy::RecomputeAll || (policy == OperandPolicy::KeepSmall && !isSmall);
  if (wantsAgain && units.isRepeatable(*operand.writer)) return visit(*operand.writer);
  extend(version);
  return true;
}

/// State that is on the host between steps is read where it has been brought in.
bool ConeFinder::visitKept(unsigned buffer) {
  if (!timeline.isOnHost(buffer)) return timeline.getOverwritten(buffer) >= cone.position;
  unsigned version = timeline.getVersionAt(buffer, cone.position);
  if (timeline.isOnHost(version)) return false;
  if (timeline.getUses(version).back() < cone.position) extend(version);
  return true;
}

void ConeFinder::extend(unsigned version) {
  if (!llvm::is_contained(cone.extended, version)) cone.extended.push_back(version);
}

Excess::Excess(const Timeline& timeline, int64_t budget) : budget(budget) { update(timeline); }

int64_t Excess::count(const Timeline& timeline, int64_t budget) {
  int64_t total = 0;
  for (size_t position = 0; position < timeline.size(); ++position)
    total += std::max<int64_t>(timeline.getAlive(static_cast<int>(position)) - budget, 0);
  return total;
}

void Excess::update(const Timeline& timeline) {
  size = timeline.size();
  const size_t bins = std::min(size, kMaxBins);
  above.assign(bins, std::numeric_limits<int64_t>::min());
  weight.assign(bins, 0);
  numAbove.assign(size + 1, 0);
  change.assign(bins + 1, 0);
  total = 0;
  size_t position = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    const size_t end = llvm::divideCeil((bin + 1) * size, bins);  // the first position that getBin says is behind
    weight[bin] = static_cast<int>(end - position);
    for (; position < end; ++position) {
      const int64_t over = timeline.getAlive(static_cast<int>(position)) - budget;
      above[bin] = std::max(above[bin], over);
      numAbove[position + 1] = numAbove[position] + (over > 0 ? 1 : 0);
      total += std::max<int64_t>(over, 0);
    }
  }
}

bool Excess::isAnyBetween(int first, int last) const {
  return last > first + 1 && numAbove[last] > numAbove[first + 1];
}

int Excess::getFirstAbove(int first, int last) const {
  auto found = std::upper_bound(numAbove.begin() + first + 1, numAbove.begin() + last + 1, numAbove[first]);
  return static_cast<int>(found - numAbove.begin()) - 1;
}

int Excess::getLastAbove(int first, int last) const {
  if (last <= first || numAbove[last] == numAbove[first]) return first - 1;
  auto found = std::lower_bound(numAbove.begin() + first, numAbove.begin() + last + 1, numAbove[last]);
  return static_cast<int>(found - numAbove.begin()) - 1;
}

double Excess::getGain(llvm::ArrayRef<Change> changes) const {
  size_t begin = above.size(), end = 0;
  for (auto [first, last, bytes] : changes) {
    if (first > last) continue;
    const size_t firstBin = getBin(first), behind = getBin(last) + 1;
    change[firstBin] += bytes;
    change[behind] -= bytes;
    begin = std::min(begin, firstBin);
    end = std::max(end, behind);
  }
  double gain = 0;
  int64_t now = 0;
  for (size_t bin = begin; bin < end; ++bin) {
    now += std::exchange(change[bin], 0);
    if (now == 0) continue;
    int64_t before = std::max<int64_t>(above[bin], 0), after = std::max<int64_t>(above[bin] + now, 0);
    gain += static_cast<double>(before - after) * weight[bin];
  }
  if (begin < end) change[end] = 0;
  return gain;
}

double Excess::getGain(const Timeline& timeline, const Cone& cone) const {
  llvm::SmallVector<Change, 16> changes;
  const StepSequence& sequence = timeline.getSequence();
  for (unsigned unit : cone.units)
    for (unsigned buffer : timeline.getUnits().getWritten(unit)) {
      Uses uses = timeline.getUses(timeline.getVersionAt(buffer, cone.position));
      auto next = llvm::lower_bound(uses, cone.position);
      if (next == uses.end())
        changes.push_back({cone.position, cone.position, sequence.buffers[buffer].bytes});
      else if (next != uses.begin())
        changes.push_back({*std::prev(next) + 1, cone.position - 1, -sequence.buffers[buffer].bytes});
    }
  for (unsigned version : cone.extended) {
    const Buffer& buffer = sequence.buffers[timeline.getBuffer(version)];
    changes.push_back(
        {timeline.getUses(version).back() + 1, cone.position, buffer.isKept ? buffer.stateBytes : buffer.bytes});
  }
  return getGain(changes);
}
