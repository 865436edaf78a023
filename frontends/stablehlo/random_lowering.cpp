// Lowers random bits, with the bits that XLA gives.
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/op_lowering.h"
#include "passes/graph/functions/random_bits.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

LogicalResult lowerRngBitGenerator(OpLowering& l) {
  auto op = cast<stablehlo::RngBitGeneratorOp>(l.op);
  RankedTensorType state = l.getOperandType(), type = l.getResultType(1);
  bool isThreeFry = op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY;
  bool fits = state.getRank() == 1 && state.getElementType().isInteger(64) && l.getResultType(0) == state &&
              (state.getDimSize(0) == 2 || (state.getDimSize(0) == 3 && !isThreeFry));
  if (!fits)
    return l.error() << "needs a state of " << (isThreeFry ? "two" : "two or three") << " ui64, has " << state
                     << "; use the key types of jax.random";
  if (!isa<IntegerType>(type.getElementType()) || type.getElementType().isInteger(1))
    return l.error() << "gives " << type.getElementType() << ", supported are integers of 8 to 64 bits";
  if (type.getNumElements() >= int64_t{1} << 32)
    return l.error() << "gives " << type.getNumElements() << " elements at once, supported are less than 2^32";
  TensorMath math(l.builder, l.loc);
  // Philox is also what XLA's CPU and GPU choose for the default.
  BitGeneratorKind kind = isThreeFry ? BitGeneratorKind::ThreeFry : BitGeneratorKind::Philox;
  RandomBits random = writeRandomBits(math, l.operands[0], type, kind);
  l.results = {random.state, random.bits};
  return success();
}

}  // namespace

LogicalResult mlir::sgd::lowerThreeFryCall(OpLowering& l) {
  RankedTensorType type = l.operands.size() == 4 ? l.getOperandType() : RankedTensorType();
  bool fits = type && type.getElementType().isInteger(32) && l.op->getNumResults() == 2 &&
              llvm::all_of(l.operands, [&](Value operand) { return operand.getType() == type; }) &&
              l.getResultType(0) == type && l.getResultType(1) == type;
  if (!fits)
    return l.error() << "@cu_threefry2x32 needs four operands of 32-bit integers and two results, all of one shape";
  TensorMath math(l.builder, l.loc);
  std::array<Value, 2> bits = writeThreefry(math, {l.operands[2], l.operands[3]}, {l.operands[0], l.operands[1]});
  l.results = {bits[0], bits[1]};
  return success();
}

void mlir::sgd::addRandomLowerings(LoweringTable& table) {
  table["stablehlo.rng_bit_generator"] = lowerRngBitGenerator;
}
