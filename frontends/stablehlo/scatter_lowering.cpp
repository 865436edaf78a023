// Lowers scatter whose body combines two values by one op.
#include "frontends/stablehlo/combiner.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

std::optional<ScatterKind> matchUpdate(Block& body) {
  if (skipConstraints(body.getTerminator()->getOperand(0)) == body.getArgument(1)) return ScatterKind::Set;
  std::optional<ReduceKind> kind = matchCombiner(body, 0, 1);
  return kind ? symbolizeScatterKind(stringifyReduceKind(*kind)) : std::nullopt;
}

LogicalResult lowerScatter(OpLowering& l) {
  auto scatter = cast<stablehlo::ScatterOp>(l.op);
  if (scatter.getInputs().size() != 1)
    return l.error() << "of several tensors at once is not supported yet; scatter them one by one";
  std::optional<ScatterKind> kind = matchUpdate(scatter.getUpdateComputation().front());
  if (!kind)
    return l.error() << "is not supported yet with this body; supported are replacement and single "
                        "ops (add, multiply, maximum, minimum, and, or, xor)";
  auto dims = scatter.getScatterDimensionNumbers();
  return l.replace<ScatterOp>(l.getResultType(), l.operands[0], l.operands[1], l.operands[2], *kind,
                              dims.getUpdateWindowDims(), dims.getInsertedWindowDims(), dims.getInputBatchingDims(),
                              dims.getScatterIndicesBatchingDims(), dims.getScatterDimsToOperandDims(),
                              dims.getIndexVectorDim(), l.getElementType(1).isUnsignedInteger(),
                              scatter.getUniqueIndices());
}

}  // namespace

void sgd::addScatterLowerings(LoweringTable& table) { table["stablehlo.scatter"] = lowerScatter; }
