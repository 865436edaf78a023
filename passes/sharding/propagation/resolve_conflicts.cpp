// Costs per op as materialisation will choose them, and sweeps over the groups that touch an op whose tensors disagree.
#include "passes/sharding/propagation/resolve_conflicts.h"

#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/conflict_tallies.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Sweeps over all groups; each stops where nothing gets cheaper, which few programs need more than three for.
constexpr unsigned kMaxSweeps = 8;

/// Relative differences of costs that do not count.
constexpr double kRounding = 1e-9;

/// Groups that may follow one that takes another form, and how often in all neighbours are asked whether they would:
/// bounds on compile time.
constexpr unsigned kMaxFollowers = 32;
constexpr unsigned kMaxTrials = 2000;

/// A group's state before a change.
struct Change {
  unsigned group;
  Form form;
};

class ConflictResolution {
 public:
  ConflictResolution(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map)
      : map(map),
        formed(formConflictGroups(function, ops, map)),
        forms(formed, map),
        costs(ops, map, formed, forms),
        tallies(formed, costs) {}

  unsigned run();

 private:
  CostUnits measureRest(unsigned group, Form form) const;
  CostUnits getCost(unsigned group, Form form) { return measureRest(group, form) + tallies.getCost(group, form); }
  CostUnits getCost(unsigned group) { return getCost(group, tallies.getForm(group)); }
  SmallVector<Form> getProposals(unsigned group);
  double change(unsigned group, Form form, SmallVectorImpl<Change>& changes);
  void undo(SmallVectorImpl<Change>& changes);
  bool isSettled(unsigned group);
  bool isExchanged(unsigned group);
  double improve(unsigned group, bool mayBeEqual, SmallVectorImpl<Change>& changes);
  bool improveWithNeighbours(unsigned start);
  bool sweep(llvm::function_ref<bool(unsigned)> improveGroup);

  ShardingMap& map;
  ConflictGroups formed;
  GroupForms forms;
  ConflictCosts costs;
  ConflictTallies tallies;
  DenseSet<unsigned> changed;    // groups
  unsigned trials = kMaxTrials;  // that are left
};
}  // namespace

static bool haveSameAxes(ArrayRef<DimAxes> a, ArrayRef<DimAxes> b) {
  return llvm::equal(a, b, [](const DimAxes& a, const DimAxes& b) { return a.axes == b.axes; });
}

/// Function results that are made from the group, and the elements computed in it.
CostUnits ConflictResolution::measureRest(unsigned index, Form form) const {
  const ConflictGroup& group = formed.groups[index];
  TensorAxes axes;
  axes.dims = forms.get(index, form);
  double shards = 1;
  for (const DimAxes& dim : axes.dims) shards *= getGroupSize(dim.axes);
  CostUnits cost = toCostUnits(getComputeCost(group.numElements / shards));
  for (auto [value, entry] : group.returned) {
    auto type = cast<RankedTensorType>(value.getType());
    cost += toCostUnits(reshardBytes(axes, map.entries[entry].axes,
                                     type.getNumElements() * std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1)));
  }
  return cost;
}

/// The forms that the ops in conflict ask of the group, and those of the function's results that it defines.
SmallVector<Form> ConflictResolution::getProposals(unsigned group) {
  SmallVector<Form> proposals;
  Form current = tallies.getForm(group);
  auto propose = [&](Form form) {
    auto isSame = [&](Form other) { return haveSameAxes(forms.get(group, other), forms.get(group, form)); };
    if (!isSame(current) && llvm::none_of(proposals, isSame)) proposals.push_back(form);
  };
  for (Form form : tallies.getProposals(group)) propose(form);
  for (auto [value, entry] : formed.groups[group].returned) {
    GroupForms::Dims dims = forms.get(group, current);
    for (auto [dim, wanted] : llvm::zip(dims, map.entries[entry].axes.dims)) dim.axes = wanted.axes;
    propose(forms.getNumber(group, dims));
  }
  return proposals;
}

/// True when something of the group is exchanged between ranks.
bool ConflictResolution::isExchanged(unsigned group) {
  ArrayRef<DimAxes> dims = forms.get(group, tallies.getForm(group));
  return tallies.isExchanged(group) || llvm::any_of(formed.groups[group].returned, [&](auto returned) {
           return !haveSameAxes(dims, map.entries[returned.second].axes.dims);
         });
}

/// Gives `group` another form; returns by how much everything gets dearer. `changes` can take it back.
double ConflictResolution::change(unsigned group, Form form, SmallVectorImpl<Change>& changes) {
  CostUnits before = getCost(group);
  changes.push_back({group, tallies.getForm(group)});
  tallies.setForm(group, form);
  return toBytes(getCost(group) - before);
}

void ConflictResolution::undo(SmallVectorImpl<Change>& changes) {
  for (const Change& change : llvm::reverse(changes)) tallies.setForm(change.group, change.form);
  changes.clear();
}

bool ConflictResolution::isSettled(unsigned group) {
  return !tallies.isInConflict(group) && formed.groups[group].returned.empty();
}

/// Takes the cheapest proposal if that is better than what is or, where `mayBeEqual`, no worse; returns by how much
/// everything gets dearer.
double ConflictResolution::improve(unsigned group, bool mayBeEqual, SmallVectorImpl<Change>& changes) {
  if (isSettled(group)) return 0;
  std::optional<Form> best;
  // Not better by a rounding error: sweeps would not end.
  double bestCost = toBytes(getCost(group)) * (mayBeEqual ? 1 + kRounding : 1 - kRounding);
  for (Form proposal : getProposals(group)) {
    double proposed = toBytes(getCost(group, proposal));
    if (proposed >= bestCost) continue;
    bestCost = proposed;
    best = proposal;
  }
  return best ? change(group, *best, changes) : 0;
}

/// Gives the group another form although that costs more, and lets its neighbours follow while that gains: what is
/// cheaper only together is not found one by one. Keeps what is better as a whole.
bool ConflictResolution::improveWithNeighbours(unsigned start) {
  for (Form proposal : getProposals(start)) {
    SmallVector<Change, 8> changes;
    double before = toBytes(getCost(start));
    double gained = -change(start, proposal, changes);
    DenseSet<unsigned> moved = {start};
    for (unsigned next = 0; next < changes.size(); ++next)
      for (unsigned op : formed.groups[changes[next].group].ops)
        for (GroupPlace neighbour : formed.places[op]) {
          if (moved.contains(neighbour.group) || !tallies.isOpInConflict(op)) continue;
          if (changes.size() == kMaxFollowers || trials == 0) break;
          --trials;
          unsigned numBefore = changes.size();
          gained -= improve(neighbour.group, /*mayBeEqual=*/true, changes);
          if (changes.size() > numBefore) moved.insert(neighbour.group);
        }
    if (gained > kRounding * before) {
      for (const Change& change : changes) changed.insert(change.group);
      return true;
    }
    undo(changes);
  }
  return false;
}

bool ConflictResolution::sweep(llvm::function_ref<bool(unsigned)> improveGroup) {
  bool isBetter = false;
  for (unsigned group = 0; group < formed.groups.size(); ++group) isBetter |= improveGroup(group);
  return isBetter;
}

unsigned ConflictResolution::run() {
  auto alone = [&](unsigned group) {
    SmallVector<Change, 1> changes;
    improve(group, /*mayBeEqual=*/false, changes);
    for (const Change& change : changes) changed.insert(change.group);
    return !changes.empty();
  };
  auto together = [&](unsigned group) { return isExchanged(group) && improveWithNeighbours(group); };
  for (unsigned round = 0; round < kMaxSweeps; ++round) {
    for (unsigned index = 0; index < kMaxSweeps && sweep(alone); ++index) {
    }
    if (trials == 0 || !sweep(together)) break;
  }
  for (unsigned group : changed)
    for (Value value : formed.groups[group].values) map[value].axes.dims = forms.get(group, tallies.getForm(group));
  return changed.size();
}

unsigned mlir::sgd::resolveConflicts(func::FuncOp function, ArrayRef<RuledOp> ops, ShardingMap& map) {
  auto isSharded = [](const ShardingMap::Entry& entry) { return entry.axes.isSharded(); };
  if (llvm::none_of(map.entries, isSharded)) return 0;
  return ConflictResolution(function, ops, map).run();
}
