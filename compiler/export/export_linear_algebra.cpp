// Enums of the two sides have one order.
#include "compiler/export/export_linear_algebra.h"

using namespace mlir;
using namespace mlir::sgd;

static_assert(static_cast<unsigned>(LinearAlgebraKind::TridiagonalSolve) ==
                  static_cast<unsigned>(artifact::LinearAlgebraKind::TridiagonalSolve) &&
              static_cast<unsigned>(LinearAlgebraKind::Svd) == static_cast<unsigned>(artifact::LinearAlgebraKind::Svd));

artifact::LinearAlgebraT mlir::sgd::exportLinearAlgebra(plan::LinearAlgebraOp op, SliceExporter& slices) {
  artifact::LinearAlgebraT target;
  target.kind = static_cast<artifact::LinearAlgebraKind>(op.getKind());
  target.options = getLinearAlgebraOptions(op);
  unsigned main = linear_algebra::OperandsOf(op.getForm().kind).main;
  bool isDouble = cast<MemRefType>(op.getInputs()[main].getType()).getElementType().isF64();
  target.element = isDouble ? artifact::ElementType::F64 : artifact::ElementType::F32;
  target.batch = op.getBatch();
  target.m = op.getSizes()[0], target.n = op.getSizes()[1], target.k = op.getSizes()[2];
  for (Value input : op.getInputs()) target.inputs.push_back(slices.get(input));
  for (Value output : op.getOutputs()) target.outputs.push_back(slices.get(output));
  target.lanes = op.getLanes();
  if (op.getWorkspace()) target.workspace = slices.getOwned(op.getWorkspace());
  return target;
}
