// Verifiers of manual computations.
#include "dialects/sgd/sgd_dialect.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::sgd;

/// Axes of `list` are whole axes of the mesh, none of them twice.
static LogicalResult verifyWholeAxes(Operation* op, MeshAttr mesh, AxisListAttr list) {
  llvm::SmallSet<StringRef, 4> seen;
  for (AxisRefAttr axis : list.getAxes()) {
    if (!mesh.getAxisSize(axis.getName()))
      return op->emitOpError() << "names the unknown axis \"" << axis.getName() << "\"";
    if (!axis.isWholeAxis()) return op->emitOpError() << "can be manual over whole axes only, not over " << axis;
    if (!seen.insert(axis.getName()).second)
      return op->emitOpError() << "names the axis \"" << axis.getName() << "\" twice";
  }
  return success();
}

/// `local` is `global` cut along the manual axes of `sharding`, which come before others.
static LogicalResult verifyPart(ManualComputationOp op, MeshAttr mesh, ShardingAttr sharding, Type globalType,
                                Type localType, const Twine& what) {
  auto global = cast<RankedTensorType>(globalType), local = dyn_cast<RankedTensorType>(localType);
  if (sharding.getMesh() != op.getManualAxes().getMesh())
    return op.emitOpError() << what << ": sharding names another mesh than the manual axes";
  if (failed(sharding.verifyAgainst(mesh, global.getShape(), [&] { return op.emitOpError() << what << ": "; })))
    return failure();
  if (sharding.isPartial()) return op.emitOpError() << what << ": unreduced shardings are not supported; use psum";
  SmallVector<int64_t> shape(global.getShape());
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    bool isManualOver = false;
    for (AxisRefAttr axis : axes.getAxes()) {
      bool isManual = llvm::any_of(op.getManualAxes().getAxes(),
                                   [&](AxisRefAttr manual) { return manual.getName() == axis.getName(); });
      isManualOver |= !isManual;
      if (!isManual) continue;
      if (isManualOver || !axis.isWholeAxis())
        return op.emitOpError() << what << ": manual axes must be whole and come before others in dimension " << dim;
      if (shape[dim] % *mesh.getAxisSize(axis.getName()) != 0)
        return op.emitOpError() << what << ": dimension " << dim << " (size " << global.getDimSize(dim)
                                << ") does not divide over its manual axes";
      shape[dim] /= *mesh.getAxisSize(axis.getName());
    }
  }
  if (!local || local.getShape() != ArrayRef<int64_t>(shape) || local.getElementType() != global.getElementType())
    return op.emitOpError() << what << ": the body has " << localType << " where a rank holds "
                            << RankedTensorType::get(shape, global.getElementType());
  return success();
}

LogicalResult ManualComputationOp::verify() {
  MeshAttr mesh = lookupMesh(*this, getManualAxes().getMesh());
  if (!mesh) return emitOpError() << "names the unknown mesh " << getManualAxes().getMesh();
  if (failed(verifyWholeAxes(*this, mesh, getManualAxes()))) return failure();
  Block& body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield) return emitOpError("must end with sgd.yield");
  if (getInShardings().size() != getInputs().size() || body.getNumArguments() != getInputs().size())
    return emitOpError("needs one sharding and one block argument per operand");
  if (getOutShardings().size() != getNumResults() || yield.getNumOperands() != getNumResults())
    return emitOpError("needs one sharding and one yielded value per result");
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (failed(verifyPart(*this, mesh, cast<ShardingAttr>(getInShardings()[index]), input.getType(),
                          body.getArgument(index).getType(), "operand " + Twine(index))))
      return failure();
  for (auto [index, result] : llvm::enumerate(getResults()))
    if (failed(verifyPart(*this, mesh, cast<ShardingAttr>(getOutShardings()[index]), result.getType(),
                          yield.getOperand(index).getType(), "result " + Twine(index))))
      return failure();
  return success();
}

LogicalResult PermuteRanksOp::verify() {
  MeshAttr mesh = lookupMesh(*this, getAxes().getMesh());
  if (!mesh) return emitOpError() << "names the unknown mesh " << getAxes().getMesh();
  if (failed(verifyWholeAxes(*this, mesh, getAxes()))) return failure();
  int64_t ranks = 1;
  for (AxisRefAttr axis : getAxes().getAxes()) ranks *= axis.getNumShards(mesh);
  if (getPairs().size() % 2 != 0) return emitOpError("has a source without a target");
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (size_t i = 0; i < getPairs().size(); i += 2) {
    int64_t source = getPairs()[i], target = getPairs()[i + 1];
    if (source < 0 || source >= ranks || target < 0 || target >= ranks)
      return emitOpError() << "pair [" << source << ", " << target << "] is outside of " << ranks << " ranks";
    if (!sources.insert(source).second || !targets.insert(target).second)
      return emitOpError() << "pair [" << source << ", " << target << "] repeats a source or target";
  }
  return success();
}
