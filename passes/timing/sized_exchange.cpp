#include "passes/timing/sized_exchange.h"

#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

SizedExchange mlir::sgd::getSizedExchange(Operation* collective) {
  Exchange exchange = *getExchange(collective);
  return getSizedExchange(exchange, lookupMesh(collective, exchange.group.getMesh()));
}

SizedExchange mlir::sgd::getSizedExchange(const Exchange& exchange, MeshAttr mesh) {
  AxisParts group = getParts(mesh, exchange.group.getAxes());
  if (!exchange.to) return {exchange.kind, group, exchange.bytes};
  uint64_t bytes =
      CostModel::getMostSentBytes(getMeshSizes(mesh), group, getParts(mesh, exchange.to.getAxes()), exchange.loads);
  return {exchange.kind, group, bytes};
}
