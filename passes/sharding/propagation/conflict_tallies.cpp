// Each group keeps a list of its ops whose costs may have changed; each tally remembers how much of it it has seen.
#include "passes/sharding/propagation/conflict_tallies.h"

using namespace mlir;
using namespace mlir::sgd;

ConflictTallies::ConflictTallies(const ConflictGroups& groups, ConflictCosts& costs)
    : groups(groups), costs(costs), states(groups.groups.size()) {}

SmallVector<Form, 4> ConflictTallies::getForms(unsigned op) const {
  return llvm::map_to_vector<4>(groups.places[op], [&](GroupPlace place) { return states[place.group].form; });
}

void ConflictTallies::setForm(unsigned group, Form form) {
  if (states[group].form == form) return;
  states[group].form = form;
  for (unsigned op : groups.groups[group].ops) {
    for (GroupPlace place : groups.places[op]) {
      if (place.group == group) continue;
      State& state = states[place.group];
      // Longer lists cost more than counting anew.
      if (state.changes.size() > 4 * groups.groups[place.group].ops.size()) {
        state.changes.clear();
        ++state.numResets;
      }
      state.changes.push_back(place.position);
    }
  }
}

void ConflictTallies::countProposals(unsigned group, unsigned position, Tally& tally, bool isAdded) {
  OpCost& cost = *tally.ops[position];
  if (!cost.isInConflict || !cost.proposals) return;
  unsigned op = groups.groups[group].ops[position];
  for (auto [index, place] : llvm::enumerate(groups.places[op])) {
    if (place.group != group) continue;
    for (auto [rank, form] : llvm::enumerate((*cost.proposals)[index])) {
      std::pair<unsigned, unsigned> proposer = {position, static_cast<unsigned>(rank)};
      if (isAdded)
        tally.proposals[form].insert(proposer);
      else
        tally.proposals[form].erase(proposer);
    }
  }
}

void ConflictTallies::count(unsigned group, unsigned position, Tally& tally, int sign) {
  OpCost& cost = *tally.ops[position];
  tally.cost += sign * cost.cost;
  if (cost.isInConflict) tally.numInConflict += sign;
  if (cost.isExchanged) tally.numExchanged += sign;
  if (tally.hasProposals) countProposals(group, position, tally, sign > 0);
}

void ConflictTallies::refreshOp(unsigned group, Form form, unsigned position, Tally& tally) {
  unsigned op = groups.groups[group].ops[position];
  SmallVector<Form, 4> forms = getForms(op);
  for (auto [index, place] : llvm::enumerate(groups.places[op]))
    if (place.group == group) forms[index] = form;
  OpCost& cost = costs.lookUp(op, forms);
  OpCost*& counted = tally.ops[position];
  if (counted == &cost) return;
  if (counted) count(group, position, tally, -1);
  counted = &cost;
  if (tally.hasProposals && cost.isInConflict) costs.getProposals(op, forms, cost);
  count(group, position, tally, 1);
}

ConflictTallies::Tally& ConflictTallies::refresh(unsigned group, Form form) {
  State& state = states[group];
  if (form >= state.tallies.size()) state.tallies.resize(form + 1);
  Tally& tally = state.tallies[form];
  unsigned numOps = groups.groups[group].ops.size();
  if (tally.ops.empty() || tally.numResets != state.numResets) {
    tally.ops.resize(numOps);
    for (unsigned position = 0; position < numOps; ++position) refreshOp(group, form, position, tally);
  } else {
    for (size_t i = tally.numSeen; i < state.changes.size(); ++i) refreshOp(group, form, state.changes[i], tally);
  }
  tally.numSeen = state.changes.size();
  tally.numResets = state.numResets;
  return tally;
}

SmallVector<Form> ConflictTallies::getProposals(unsigned group) {
  Form form = getForm(group);
  Tally& tally = refresh(group, form);
  if (!tally.hasProposals) {
    tally.hasProposals = true;
    for (auto [position, op] : llvm::enumerate(groups.groups[group].ops)) {
      if (!tally.ops[position]->isInConflict) continue;
      costs.getProposals(op, getForms(op), *tally.ops[position]);
      countProposals(group, position, tally, /*isAdded=*/true);
    }
  }
  SmallVector<std::pair<std::pair<unsigned, unsigned>, Form>> first;
  for (auto& [proposed, proposers] : tally.proposals)
    if (!proposers.empty()) first.push_back({*proposers.begin(), proposed});
  llvm::sort(first);
  return llvm::map_to_vector(first, [](const auto& proposal) { return proposal.second; });
}
