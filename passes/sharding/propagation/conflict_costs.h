// The cost of an op under the shardings of its tensors, and the shardings that it would rather have.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_COSTS_H
#define SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_COSTS_H

#include <map>
#include <vector>

#include "passes/sharding/propagation/conflict_groups.h"
#include "passes/sharding/propagation/op_problem.h"

namespace mlir::sgd {

/// Costs in units of 2^-20 bytes: sums of them do not depend on their order, so they can be kept up to date.
using CostUnits = __int128;
CostUnits toCostUnits(double bytes);
double toBytes(CostUnits units);

/// Number of a sharding that a group of values has had or been proposed.
using Form = unsigned;

/// The shardings that groups have had or been proposed, by group.
class GroupForms {
 public:
  using Dims = SmallVector<DimAxes, 4>;

  GroupForms(const ConflictGroups& groups, const ShardingMap& map);
  Form getNumber(unsigned group, const Dims& dims);
  const Dims& get(unsigned group, Form form) const { return forms[group][form]; }

 private:
  SmallVector<std::vector<Dims>, 0> forms;
};

/// The cost of an op while the groups that it touches have certain forms: bytes that its reshards receive, and its
/// compute in the same unit.
struct OpCost {
  CostUnits cost = 0;
  bool isInConflict = false;  // a tensor is exchanged, or a result reduced
  bool isExchanged = false;   // a tensor is
  /// By place of the op: the forms in which the op would be cheapest, or as another of its tensors is. Of ops in
  /// conflict that were asked.
  std::optional<std::vector<SmallVector<Form, 4>>> proposals;
};

/// Each cost is computed once per op and forms.
class ConflictCosts {
 public:
  ConflictCosts(ArrayRef<RuledOp> ops, const ShardingMap& map, const ConflictGroups& groups, GroupForms& forms);

  /// `forms` by place of the op. References stay valid.
  OpCost& lookUp(unsigned op, ArrayRef<Form> forms);
  const std::vector<SmallVector<Form, 4>>& getProposals(unsigned op, ArrayRef<Form> forms, OpCost& cost);

 private:
  struct IsLess {
    using is_transparent = void;
    bool operator()(ArrayRef<Form> a, ArrayRef<Form> b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  void findAddedPartials();
  OpProblem describe(unsigned op, ArrayRef<Form> forms) const;
  OpCost compute(unsigned op, ArrayRef<Form> forms) const;
  std::optional<unsigned> getPlace(unsigned op, Value value) const;

  ArrayRef<RuledOp> ops;
  const ShardingMap& map;
  const ConflictGroups& groups;
  GroupForms& forms;
  DenseMap<Value, double> shares;  // of the cost of one reduction, where several results are added before it
  std::vector<std::map<std::vector<Form>, OpCost, IsLess>> known;  // by op
};

}  // namespace mlir::sgd

#endif
