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
      return op->emitOpError() << "names the unknown axis \"" << axis.getName() << "\"; expected one of " << mesh
                               << "; correct the name";
    if (!axis.isWholeAxis())
      return op->emitOpError() << "is manual over the sub-axis " << axis
                               << "; expected whole axes; use the axis, or split "
                                  "it in the mesh";
    if (!seen.insert(axis.getName()).second)
      return op->emitOpError() << "names the axis \"" << axis.getName() << "\" twice; expected each once; drop one";
  }
  return success();
}

/// `local` is `global` cut along the manual axes of `sharding`, which come before others.
static LogicalResult verifyPart(ManualComputationOp op, MeshAttr mesh, ShardingAttr sharding, Type globalType,
                                Type localType, const Twine& what) {
  auto global = cast<RankedTensorType>(globalType), local = dyn_cast<RankedTensorType>(localType);
  if (sharding.getMesh() != op.getManualAxes().getMesh())
    return op.emitOpError() << what << ": sharding names the mesh " << sharding.getMesh() << "; expected "
                            << op.getManualAxes().getMesh() << " of the manual axes; use one mesh";
  if (failed(sharding.verifyAgainst(mesh, global.getShape(), [&] { return op.emitOpError() << what << ": "; })))
    return failure();
  for (AxisRefAttr axis : sharding.getUnreduced()) {
    bool isManual = llvm::is_contained(op.getManualAxes().getAxes(), axis);
    if (!isManual || sharding.getUnreducedKind() != ReduceKind::Add)
      return op.emitOpError() << what << ": sharding is unreduced over \"" << axis.getName()
                              << "\"; expected sums over whole manual axes; reduce the value before, or name the axis "
                                 "among the manual ones";
  }
  SmallVector<int64_t> shape(global.getShape());
  for (auto [dim, axes] : llvm::enumerate(sharding.getDims())) {
    bool isManualOver = false;
    for (AxisRefAttr axis : axes.getAxes()) {
      bool isManual = llvm::any_of(op.getManualAxes().getAxes(),
                                   [&](AxisRefAttr manual) { return manual.getName() == axis.getName(); });
      isManualOver |= !isManual;
      if (!isManual) continue;
      if (isManualOver || !axis.isWholeAxis())
        return op.emitOpError() << what << ": dimension " << dim << " is sharded as " << sharding
                                << "; expected whole manual axes before others; reorder the axes";
      if (shape[dim] % *mesh.getAxisSize(axis.getName()) != 0)
        return op.emitOpError() << what << ": dimension " << dim << " (size " << global.getDimSize(dim)
                                << ") does not divide over its manual axes; expected a multiple of their size; pad "
                                   "the tensor";
      shape[dim] /= *mesh.getAxisSize(axis.getName());
    }
  }
  if (!local || local.getShape() != ArrayRef<int64_t>(shape) || local.getElementType() != global.getElementType())
    return op.emitOpError() << what << ": the body has " << localType << " where a rank holds "
                            << RankedTensorType::get(shape, global.getElementType())
                            << "; expected one type; correct the body or the sharding";
  return success();
}

LogicalResult ManualComputationOp::verify() {
  MeshAttr mesh = lookupMesh(*this, getManualAxes().getMesh());
  if (!mesh)
    return emitOpError() << "names the unknown mesh " << getManualAxes().getMesh()
                         << "; expected an sgd.mesh of the module; declare it";
  if (failed(verifyWholeAxes(*this, mesh, getManualAxes()))) return failure();
  Block& body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield) return emitOpError("does not end in sgd.yield; expected it last; add it");
  if (getInShardings().size() != getInputs().size() || body.getNumArguments() != getInputs().size())
    return emitOpError() << "has " << getInShardings().size() << " in_shardings and " << body.getNumArguments()
                         << " block arguments; expected " << getInputs().size()
                         << " of both, one per operand; give as "
                            "many";
  if (getOutShardings().size() != getNumResults() || yield.getNumOperands() != getNumResults())
    return emitOpError() << "has " << getOutShardings().size() << " out_shardings and " << yield.getNumOperands()
                         << " yielded values; expected " << getNumResults() << " of both, one per result; give as many";
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
  if (!mesh)
    return emitOpError() << "names the unknown mesh " << getAxes().getMesh()
                         << "; expected an sgd.mesh of the module; declare it";
  if (failed(verifyWholeAxes(*this, mesh, getAxes()))) return failure();
  int64_t ranks = 1;
  for (AxisRefAttr axis : getAxes().getAxes()) ranks *= axis.getNumShards(mesh);
  if (getPairs().size() % 2 != 0) return emitOpError("has a source without a target; expected pairs; add the target");
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (size_t i = 0; i < getPairs().size(); i += 2) {
    int64_t source = getPairs()[i], target = getPairs()[i + 1];
    if (source < 0 || source >= ranks || target < 0 || target >= ranks)
      return emitOpError() << "pair [" << source << ", " << target << "] is outside of " << ranks
                           << " ranks; expected ranks of the axes, counted from 0; correct the pair";
    if (!sources.insert(source).second || !targets.insert(target).second)
      return emitOpError() << "pair [" << source << ", " << target
                           << "] repeats a source or target; expected each once; drop a "
                              "pair";
  }
  return success();
}
