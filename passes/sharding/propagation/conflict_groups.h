// Values that are sharded alike because elementwise ops join them: what conflicts are resolved for as one.
#ifndef SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_GROUPS_H
#define SGD_PASSES_SHARDING_PROPAGATION_CONFLICT_GROUPS_H

#include "passes/sharding/propagation/propagation.h"

namespace mlir::sgd {

struct ConflictGroup {
  SmallVector<Value, 4> values;
  SmallVector<unsigned, 8> ops;                         // that touch a value of the group and one outside of it
  double numElements = 0;                               // that ops within the group compute
  SmallVector<std::pair<Value, unsigned>, 1> returned;  // with the entry of the function result
};

/// Where an op is counted: `ops[position]` of a group.
struct GroupPlace {
  unsigned group, position;
};

struct ConflictGroups {
  SmallVector<ConflictGroup, 0> groups;
  DenseMap<Value, unsigned> groupOf;                  // of the values that may be sharded otherwise
  SmallVector<SmallVector<GroupPlace, 4>, 0> places;  // by op, in the order of groups
};

/// Values with a user's annotation, and values that control flow joins, are in no group.
ConflictGroups formConflictGroups(func::FuncOp function, ArrayRef<RuledOp> ops, const ShardingMap& map);

}  // namespace mlir::sgd

#endif
