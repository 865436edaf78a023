#include "passes/sharding/context/sequential_dims.h"

#include "dialects/sgd/sequential.h"

using namespace mlir;
using namespace mlir::sgd;

/// The dimension that argument `index` has parts of.
static std::optional<unsigned> getDim(func::FuncOp function, unsigned index) {
  auto dim = function.getArgAttrOfType<IntegerAttr>(index, kSequentialDimAttr);
  return dim ? std::optional<unsigned>(dim.getInt()) : std::nullopt;
}

SequentialDims::SequentialDims(func::FuncOp function, FlatSymbolRefAttr name, MeshAxisAttr axis) {
  if (!axis) return;
  MeshAxes mesh(name, MeshAttr::get(function.getContext(), axis));
  copy.emplace(function, mesh, [&](func::FuncOp copied) {
    shardArgumentsAlone(copied, mesh, [&](unsigned index) { return getDim(copied, index); });
  });
  parts = axis.getSize();
}

int64_t SequentialDims::getParts(Value value, int64_t dim) const {
  return copy && *copy && !copy->getAxes(value, dim).empty() ? parts : 1;
}
