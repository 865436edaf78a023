// Counting is done by the functions that the runtime counts with.
#include "passes/spmd/partition/ranges.h"

#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

uint64_t mlir::sgd::getSentBytes(MeshAttr mesh, RangeAttr range, ShapedType from, ShapedType to,
                                 ArrayRef<AxisPart> tiles, ArrayRef<AxisPart> results) {
  return CostModel::getMostSentBytes(getMeshSizes(mesh), tiles, results, getRangeLoad(range, from, to));
}
