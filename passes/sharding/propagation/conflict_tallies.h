// The total cost of each group's ops in each form of the group, kept up to date while neighbouring groups change: a
// group of a hundred layers' values is asked thousands of times, each time after a few of its ops have changed.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_TALLIES_H
#define SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_TALLIES_H

#include <set>

#include "passes/sharding/propagation/conflict_costs.h"

namespace mlir::sgd {

class ConflictTallies {
 public:
  ConflictTallies(const ConflictGroups& groups, ConflictCosts& costs);

  Form getForm(unsigned group) const { return states[group].form; }
  void setForm(unsigned group, Form form);

  /// The cost of the ops of `group` when it has `form` and the others keep theirs.
  CostUnits getCost(unsigned group, Form form) { return refresh(group, form).cost; }
  CostUnits getCost(unsigned group) { return getCost(group, getForm(group)); }
  /// Whether an op of the group is in conflict, or has something exchanged.
  bool isInConflict(unsigned group) { return refresh(group, getForm(group)).numInConflict > 0; }
  bool isExchanged(unsigned group) { return refresh(group, getForm(group)).numExchanged > 0; }
  bool isOpInConflict(unsigned op) { return costs.lookUp(op, getForms(op)).isInConflict; }
  /// The forms that the group's ops in conflict propose, by op.
  SmallVector<Form> getProposals(unsigned group);

 private:
  /// A group in one form.
  struct Tally {
    SmallVector<OpCost*, 0> ops;  // by position; empty until it is asked for
    CostUnits cost = 0;
    unsigned numInConflict = 0, numExchanged = 0;
    size_t numSeen = 0;      // of the group's changes
    unsigned numResets = 0;  // of the group's changes, when it was made
    bool hasProposals = false;
    std::map<Form, std::set<std::pair<unsigned, unsigned>>> proposals;  // with position and rank of those who make them
  };
  struct State {
    Form form = 0;
    SmallVector<unsigned, 0> changes;  // positions of ops another group of which has changed
    unsigned numResets = 0;            // how often `changes` was forgotten
    std::vector<Tally> tallies;        // by form
  };

  SmallVector<Form, 4> getForms(unsigned op) const;
  Tally& refresh(unsigned group, Form form);
  void refreshOp(unsigned group, Form form, unsigned position, Tally& tally);
  void count(unsigned group, unsigned position, Tally& tally, int sign);
  void countProposals(unsigned group, unsigned position, Tally& tally, bool isAdded);

  const ConflictGroups& groups;
  ConflictCosts& costs;
  std::vector<State> states;  // by group
};

}  // namespace mlir::sgd

#endif
