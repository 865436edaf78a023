// From an op to the function that knows it.
#include "reference/ops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

LogicalResult reference::evaluateOp(Operation* op, Operands in, Tensor& out) {
  ElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    out = Tensor::fromConstant(constant);
    return success();
  }
  if (isa<arith::BitcastOp>(op)) {
    std::vector<char> bytes(getNumBytes(in[0]->type));
    in[0]->toBytes(bytes);
    out = Tensor::fromBytes(out.type, bytes);
    return success();
  }
  if (op->hasTrait<OpTrait::Elementwise>()) return evaluateElementwise(op, in, out);
  if (auto reduce = dyn_cast<ReduceOp>(op)) return evaluateReduce(reduce, *in[0], out);
  if (auto cumulative = dyn_cast<CumulativeOp>(op)) return evaluateCumulative(cumulative, *in[0], out);
  if (auto scatter = dyn_cast<ScatterOp>(op)) return evaluateScatter(scatter, *in[0], *in[1], *in[2], out);
  if (auto gather = dyn_cast<GatherOp>(op)) {
    evaluateGather(gather, *in[0], *in[1], out);
  } else if (auto pad = dyn_cast<PadOp>(op)) {
    evaluatePad(pad, *in[0], *in[1], out);
  } else if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    evaluateDot(dot, *in[0], *in[1], out);
  } else if (auto dot = dyn_cast<GroupedDotOp>(op)) {
    evaluateGroupedDot(dot, *in[0], *in[1], *in[2], *in[3], out);
  } else if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    evaluateConvolution(convolution, *in[0], *in[1], out);
  } else if (auto convolve = dyn_cast<ConvolveOp>(op)) {
    evaluateConvolve(convolve, *in[0], *in[1], out);
  } else if (auto contract = dyn_cast<ContractOp>(op)) {
    evaluateContract(contract, *in[0], *in[1], out);
  } else if (failed(evaluateMove(op, in, out))) {
    return op->emitOpError("has no reference evaluation");
  }
  return success();
}
