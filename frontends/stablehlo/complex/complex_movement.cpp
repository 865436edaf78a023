// Expands ops that make, move and convert complex elements: real and imaginary parts go the same way.
#include <complex>

#include "frontends/stablehlo/complex/boundary.h"
#include "frontends/stablehlo/complex/complex_linear_algebra.h"
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

LogicalResult expandPerPart(ComplexOp& c) {
  auto clone = [&](Value Complex::* part) {
    SmallVector<Value> operands;
    for (auto [index, value] : llvm::enumerate(c.op->getOperands()))
      operands.push_back(c.isComplexOperand(index) ? c.operand(index).*part : value);
    return c.cloneForParts(operands)->getResult(0);
  };
  // The clones have the op's annotations.
  c.expander.setParts(c.op->getResult(0), {clone(&Complex::re), clone(&Complex::im)});
  return success();
}

/// Calls of LAPACK, and calls that place a value; the importer tells them apart by name.
LogicalResult expandCustomCall(ComplexOp& c) {
  if (cast<stablehlo::CustomCallOp>(c.op).getCallTargetName().starts_with("lapack_")) return expandLapackCall(c);
  if (c.op->getNumOperands() != 1 || c.op->getOperandTypes() != c.op->getResultTypes())
    return c.error() << "@" << cast<stablehlo::CustomCallOp>(c.op).getCallTargetName()
                     << " is not supported on complex numbers; compute with real and imaginary parts";
  return expandPerPart(c);
}

LogicalResult expandComplexOp(ComplexOp& c) { return c.finish(Complex{c.op->getOperand(0), c.op->getOperand(1)}); }
LogicalResult expandReal(ComplexOp& c) { return c.finish(c.operand().re); }
LogicalResult expandImag(ComplexOp& c) { return c.finish(c.operand().im); }
LogicalResult expandConj(ComplexOp& c) {
  if (!isComplex(c.op->getResult(0).getType())) return c.error() << "must give a complex number of a complex one";
  Complex z = c.operand();
  return c.finish(Complex{z.re, c.neg(z.im)});
}

LogicalResult expandConvert(ComplexOp& c) {
  Type to = c.op->getResult(0).getType();
  Type element = cast<RankedTensorType>(getPartType(to)).getElementType();
  if (isComplex(to)) {
    Value from = c.op->getOperand(0);
    if (c.isComplexOperand(0)) return c.finish(c.convert(c.operand(), element));
    Value re = c.convert(from, element);
    return c.finish(Complex{re, c.splat(re, 0.0)});
  }
  // Imaginary parts are dropped, also where the result is a boolean (specification of convert).
  return c.finish(c.convert(c.operand().re, element));
}

/// The bits of parts side by side, as memory holds them, and parts of such bits. What is smaller than a part stands in
/// a further dimension, as for reals.
LogicalResult expandBitcast(ComplexOp& c) {
  auto from = cast<RankedTensorType>(c.op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(c.op->getResult(0).getType());
  if (from == to) return c.finish(c.operand());
  auto convert = [&](Value x, RankedTensorType type) { return c.create<stablehlo::BitcastConvertOp>(type, x); };
  auto bitsOf = [](RankedTensorType type) { return type.getElementTypeBitWidth(); };
  if (isComplex(from) && isComplex(to)) return c.error() << "between complex types of two sizes is not supported";
  RankedTensorType pairs = getPairType(isComplex(from) ? from : to);
  unsigned part = bitsOf(pairs), other = bitsOf(isComplex(from) ? to : from);
  // Tensors of bits of which so many make a complex number: two as large as a part, more, or one.
  SmallVector<int64_t> shape(pairs.getShape());
  if (other > part) shape.pop_back();
  if (other < part) shape.push_back(part / other);
  auto bits = RankedTensorType::get(shape, (isComplex(from) ? to : from).getElementType());
  if (other > 2 * part || bits.getNumElements() != (isComplex(from) ? to : from).getNumElements())
    return c.error() << "does not fit " << from << " and " << to;
  if (isComplex(from)) {
    Value whole = convert(c.interleave(c.operand()), bits);
    return c.finish(c.reshape(whole, to.getShape()));
  }
  return c.finish(c.deinterleave(convert(c.reshape(c.op->getOperand(0), shape), pairs)));
}

LogicalResult expandConstant(ComplexOp& c) {
  auto elements = dyn_cast<DenseElementsAttr>(cast<stablehlo::ConstantOp>(c.op).getValue());
  if (!elements) return c.error() << "holds its value outside of the text; export it as dense<...>";
  auto type = cast<RankedTensorType>(getPartType(elements.getType()));
  if (elements.isSplat()) {
    auto value = elements.getSplatValue<std::complex<APFloat>>();
    return c.finish(Complex{c.constant(DenseElementsAttr::get(type, value.real())),
                            c.constant(DenseElementsAttr::get(type, value.imag()))});
  }
  // Each part is every other number of the raw form.
  size_t size = type.getElementTypeBitWidth() / 8;
  ArrayRef<char> raw = elements.getRawData();
  auto part = [&](size_t first) {
    std::vector<char> bytes;
    bytes.reserve(raw.size() / 2);
    for (size_t at = first * size; at < raw.size(); at += 2 * size)
      bytes.insert(bytes.end(), raw.begin() + at, raw.begin() + at + size);
    return c.constant(DenseElementsAttr::getFromRawBuffer(type, bytes));
  };
  return c.finish(Complex{part(0), part(1)});
}

LogicalResult expandIota(ComplexOp& c) {
  Value re = c.cloneForParts({})->getResult(0);
  return c.finish(Complex{re, c.splat(re, 0.0)});
}

}  // namespace

void mlir::sgd::addComplexMovement(ExpansionTable& table) {
  for (StringRef name :
       {"stablehlo.broadcast", "stablehlo.broadcast_in_dim", "stablehlo.concatenate", "stablehlo.dynamic_slice",
        "stablehlo.dynamic_update_slice", "stablehlo.gather", "stablehlo.pad", "stablehlo.reshape", "stablehlo.reverse",
        "stablehlo.select", "stablehlo.slice", "stablehlo.transpose", "sdy.sharding_constraint", "sdy.reshard"})
    table[name] = expandPerPart;
  table["chlo.conj"] = expandConj;
  table["stablehlo.bitcast_convert"] = expandBitcast;
  table["stablehlo.complex"] = expandComplexOp;
  table["stablehlo.constant"] = expandConstant;
  table["stablehlo.convert"] = expandConvert;
  table["stablehlo.custom_call"] = expandCustomCall;
  table["stablehlo.imag"] = expandImag;
  table["stablehlo.iota"] = expandIota;
  table["stablehlo.real"] = expandReal;
}
