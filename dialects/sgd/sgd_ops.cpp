// Verifiers of contractions, reductions and sharding ops, and the scalar forms of reduction kinds.
#include "dialects/sgd/sgd_dialect.h"

#include "llvm/ADT/SmallSet.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

#define GET_OP_CLASSES
#include "dialects/sgd/sgd_ops.cpp.inc"
#include "dialects/sgd/tensor_type.h"

/// Each of `dims` is in [0, rank) and none comes twice.
static LogicalResult verifyDims(Operation* op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  llvm::SmallSet<int64_t, 8> seen;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << name << " dimension " << dim << " is not in [0, " << rank
                               << "); expected a dimension of the tensor; correct it";
    if (!seen.insert(dim).second)
      return op->emitOpError() << name << " dimension " << dim << " comes twice; expected each once; drop one";
  }
  return success();
}

LogicalResult ShardingConstraintOp::verify() {
  MeshAttr mesh = lookupMesh(*this, getSharding().getMesh());
  if (!mesh)
    return emitOpError() << "names the unknown mesh " << getSharding().getMesh()
                         << "; expected an sgd.mesh of the module; declare it";
  return getSharding().verifyAgainst(mesh, tensorType(getInput()).getShape(), [&] { return emitOpError(); });
}

LogicalResult ReshardOp::verify() {
  auto from = tensorType(getInput()), to = tensorType(getResult());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("operand and result may differ in sharding only");
  return success();
}

LogicalResult SummandsOp::verify() {
  auto from = tensorType(getInput()), to = tensorType(getResult());
  if (to.getRank() == from.getRank() + 1 && to.getShape().drop_front() == from.getShape() &&
      to.getElementType() == from.getElementType() && !from.getElementType().isInteger(1))
    return success();
  return emitOpError() << "has a result of " << to << " for an operand of " << from
                       << "; expected numbers, and one more dimension in front; correct the result";
}

// Contractions and reductions
// -------------------------------------------------------------------------------------------

static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> result;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batching, dim) && !llvm::is_contained(contracting, dim)) result.push_back(dim);
  return result;
}

SmallVector<int64_t> DotGeneralOp::getLhsFree() {
  return freeDims(tensorType(getLhs()).getRank(), getLhsBatching(), getLhsContracting());
}
SmallVector<int64_t> DotGeneralOp::getRhsFree() {
  return freeDims(tensorType(getRhs()).getRank(), getRhsBatching(), getRhsContracting());
}

// StableHLO spec, dot_general (C1) to (C10), (C12).
LogicalResult DotGeneralOp::verify() {
  auto lhs = tensorType(getLhs()), rhs = tensorType(getRhs());
  SmallVector<int64_t> lhsDims(getLhsBatching()), rhsDims(getRhsBatching());
  llvm::append_range(lhsDims, getLhsContracting());
  llvm::append_range(rhsDims, getRhsContracting());
  if (getLhsBatching().size() != getRhsBatching().size() || getLhsContracting().size() != getRhsContracting().size())
    return emitOpError(
        "has other numbers of batching or contracting dimensions in lhs and rhs; expected as many; correct the lists");
  if (failed(verifyDims(*this, "lhs", lhsDims, lhs.getRank())) ||
      failed(verifyDims(*this, "rhs", rhsDims, rhs.getRank())))
    return failure();
  for (auto [l, r] : llvm::zip(lhsDims, rhsDims))
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return emitOpError() << "lhs dimension " << l << " (size " << lhs.getDimSize(l) << ") meets rhs dimension " << r
                           << " (size " << rhs.getDimSize(r) << "); expected equal sizes; correct the dimensions";
  SmallVector<int64_t> shape;
  for (int64_t dim : getLhsBatching()) shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : getLhsFree()) shape.push_back(lhs.getDimSize(dim));
  for (int64_t dim : getRhsFree()) shape.push_back(rhs.getDimSize(dim));
  if (ArrayRef<int64_t>(shape) != tensorType(getResult()).getShape())

    return emitOpError() << "has the result " << getType() << "; expected the shape [" << shape
                         << "]; correct the result's type";
  return success();
}

/// Windows of `kernel` elements in `size` elements with padding; below 0 where padding removes more than there is.
static int64_t countWindows(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t lhsDilation,
                            int64_t rhsDilation) {
  int64_t padded = (size ? (size - 1) * lhsDilation + 1 : 0) + padding;
  int64_t extent = kernel ? (kernel - 1) * rhsDilation + 1 : 0;
  if (padded < 0) return -1;
  return padded < extent ? 0 : (padded - extent) / stride + 1;
}

// StableHLO spec, convolution (C1) to (C9), (C14), (C25) to (C27), with groups as a dimension of their own.
LogicalResult ConvolutionOp::verify() {
  auto lhs = tensorType(getLhs()), rhs = tensorType(getRhs()), result = tensorType(getResult());
  int64_t spatial = getNumSpatialDims();
  for (ArrayRef<int64_t> list : {getLow(), getHigh(), getLhsDilations(), getRhsDilations()})
    if (static_cast<int64_t>(list.size()) != spatial)
      return emitOpError("lists differ in the number of spatial dimensions; expected as many; give as many");
  for (ArrayRef<int64_t> list : {getStrides(), getLhsDilations(), getRhsDilations()})
    if (llvm::any_of(list, [](int64_t value) { return value < 1; }))
      return emitOpError("has a stride or dilation below 1; expected positive ones; correct it");
  if (lhs.getRank() != spatial + 3 || rhs.getRank() != spatial + 3 || result.getRank() != spatial + 3)
    return emitOpError() << "has operands or a result of another rank; expected rank " << spatial + 3
                         << "; reshape them";
  if (lhs.getElementType() != result.getElementType() || rhs.getElementType() != result.getElementType())
    return emitOpError("operands and result differ in element type; expected one type; convert them");
  SmallVector<int64_t> shape = {lhs.getDimSize(0)};
  for (int64_t dim = 0; dim < spatial; ++dim) {
    shape.push_back(countWindows(lhs.getDimSize(dim + 1), rhs.getDimSize(dim), getStrides()[dim],
                                 getLow()[dim] + getHigh()[dim], getLhsDilations()[dim], getRhsDilations()[dim]));
    if (shape.back() < 0)
      return emitOpError() << "padding of spatial dimension " << dim
                           << " removes more elements than there are; expected fewer; correct "
                              "the padding";
  }
  shape.push_back(lhs.getDimSize(spatial + 1));
  shape.push_back(rhs.getDimSize(spatial + 2));
  if (rhs.getDimSize(spatial) != lhs.getDimSize(spatial + 1))
    return emitOpError("operands have different numbers of groups; expected as many; reshape one");
  if (rhs.getDimSize(spatial + 1) != lhs.getDimSize(spatial + 2))
    return emitOpError("operands have different numbers of input features; expected as many; reshape one");
  if (ArrayRef<int64_t>(shape) != result.getShape())
    return emitOpError() << "has the result " << getType() << "; expected the shape [" << shape
                         << "]; correct the result's type";
  return success();
}

LogicalResult CumulativeOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  int64_t rank = type.getRank(), dim = getDimension();
  if (dim < 0 || dim >= rank)
    return emitOpError() << "dimension " << dim << " is not in [0, " << rank
                         << "); expected a dimension of the tensor; correct it";
  OpBuilder builder(getContext());
  if (!getNeutralElement(builder, getKind(), type.getElementType()))
    return emitOpError() << "cannot combine elements of type " << type.getElementType() << " by "
                         << stringifyReduceKind(getKind());
  return success();
}

// StableHLO spec, reduce (C4), (C5), (C7), for one input.
LogicalResult ReduceOp::verify() {
  auto input = tensorType(getInput()), result = tensorType(getResult());
  if (failed(verifyDims(*this, "reduced", getDimensions(), input.getRank()))) return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < input.getRank(); ++dim)
    if (!llvm::is_contained(getDimensions(), dim)) shape.push_back(input.getDimSize(dim));
  if (ArrayRef<int64_t>(shape) != result.getShape() || input.getElementType() != result.getElementType())
    return emitOpError() << "has the result " << getType() << "; expected the shape [" << shape
                         << "] and the operand's element type; correct the result's type";
  bool isFloat = isa<FloatType>(input.getElementType());
  if (isFloat && getKind() >= ReduceKind::UMax)
    return emitOpError() << "reduces floats by '" << stringifyReduceKind(getKind())
                         << "'; expected integers; convert them";
  return success();
}

LogicalResult OptimizationBarrierOp::verify() {
  return getOperandTypes() == getResultTypes() ? success() : emitOpError("operand and result types differ");
}

// Reduction kinds
// -------------------------------------------------------------------------------------------------------

static TypedAttr neutralFloat(OpBuilder& builder, ReduceKind kind, FloatType type) {
  const llvm::fltSemantics& semantics = type.getFloatSemantics();
  switch (kind) {
    case ReduceKind::Add:
      return builder.getFloatAttr(type, 0.0);
    case ReduceKind::Mul:
      return builder.getFloatAttr(type, 1.0);
    case ReduceKind::Max:
    case ReduceKind::Min: {
      bool isNegative = kind == ReduceKind::Max;
      return builder.getFloatAttr(type, APFloat::semanticsHasInf(semantics)
                                            ? APFloat::getInf(semantics, isNegative)
                                            : APFloat::getLargest(semantics, isNegative));
    }
    default:
      return {};
  }
}

TypedAttr mlir::sgd::getNeutralElement(OpBuilder& builder, ReduceKind kind, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) return neutralFloat(builder, kind, floatType);
  unsigned width = type.getIntOrFloatBitWidth();
  switch (kind) {
    case ReduceKind::Add:
    case ReduceKind::Or:
    case ReduceKind::Xor:
    case ReduceKind::UMax:
      return builder.getIntegerAttr(type, APInt::getZero(width));
    case ReduceKind::Mul:
      return builder.getIntegerAttr(type, APInt(width, 1));
    case ReduceKind::Max:
      return builder.getIntegerAttr(type, APInt::getSignedMinValue(width));
    case ReduceKind::Min:
      return builder.getIntegerAttr(type, APInt::getSignedMaxValue(width));
    case ReduceKind::And:
    case ReduceKind::UMin:
      return builder.getIntegerAttr(type, APInt::getAllOnes(width));
  }
  llvm_unreachable("all kinds are handled");
}

Value mlir::sgd::createCombiner(OpBuilder& b, Location loc, ReduceKind kind, Value lhs, Value rhs) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  switch (kind) {
    case ReduceKind::Add:
      return isFloat ? arith::AddFOp::create(b, loc, lhs, rhs).getResult()
                     : arith::AddIOp::create(b, loc, lhs, rhs).getResult();
    case ReduceKind::Mul:
      return isFloat ? arith::MulFOp::create(b, loc, lhs, rhs).getResult()
                     : arith::MulIOp::create(b, loc, lhs, rhs).getResult();
    case ReduceKind::Max:
      return isFloat ? arith::MaximumFOp::create(b, loc, lhs, rhs).getResult()
                     : arith::MaxSIOp::create(b, loc, lhs, rhs).getResult();
    case ReduceKind::Min:
      return isFloat ? arith::MinimumFOp::create(b, loc, lhs, rhs).getResult()
                     : arith::MinSIOp::create(b, loc, lhs, rhs).getResult();
    case ReduceKind::UMax:
      return arith::MaxUIOp::create(b, loc, lhs, rhs);
    case ReduceKind::UMin:
      return arith::MinUIOp::create(b, loc, lhs, rhs);
    case ReduceKind::And:
      return arith::AndIOp::create(b, loc, lhs, rhs);
    case ReduceKind::Or:
      return arith::OrIOp::create(b, loc, lhs, rhs);
    case ReduceKind::Xor:
      return arith::XOrIOp::create(b, loc, lhs, rhs);
  }
  llvm_unreachable("all kinds are handled");
}
