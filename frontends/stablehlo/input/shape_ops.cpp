// Verifiers of ops that make or rearrange elements; constraints are those of the StableHLO
// specification, cited as op_Cn.
#include "frontends/stablehlo/input/shape_ops.h"

#include <cstring>

#include "dialects/sgd/tensor_type.h"
#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;
using mlir::sgd::tensorType;

namespace {

/// Reports unless `dims` are different dimensions of a tensor of `rank`.
LogicalResult verifyDims(Operation* op, StringRef name, ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<bool> seen(rank, false);
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << name << " names dimension " << dim << " of a tensor of rank " << rank
                               << "; expected dimensions of the tensor, counted from 0; correct the list";
    if (seen[dim])
      return op->emitOpError() << name << " names dimension " << dim << " twice; expected each once; drop one";
    seen[dim] = true;
  }
  return success();
}

LogicalResult verifyCount(Operation* op, StringRef name, ArrayRef<int64_t> values, int64_t expected) {
  if (int64_t(values.size()) != expected)
    return op->emitOpError() << "has " << values.size() << " values in " << name << "; expected " << expected
                             << "; give as many";
  return success();
}

/// Reports unless the op's result has `shape` and the element type of `like`.
LogicalResult verifyResult(Operation* op, ArrayRef<int64_t> shape, RankedTensorType like) {
  auto expected = RankedTensorType::get(shape, like.getElementType());
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getShape() != shape || type.getElementType() != like.getElementType())
    return op->emitOpError("has a result of type ")
           << type << "; expected " << expected << "; correct the result's type";
  return success();
}

/// Start indices of dynamic_slice and dynamic_update_slice: one scalar a dimension, all of one
/// type.
LogicalResult verifyStarts(Operation* op, OperandRange starts, int64_t rank) {
  if (int64_t(starts.size()) != rank)
    return op->emitOpError() << "has " << starts.size() << " start indices; expected " << rank
                             << ", one per dimension; give as many";
  for (Value start : starts)
    if (tensorType(start).getRank() != 0 || start.getType() != starts.front().getType())
      return op->emitOpError("has the start index ")
             << start.getType() << "; expected scalars of one type; convert the start indices";
  return success();
}

bool fitsInside(ArrayRef<int64_t> inner, ArrayRef<int64_t> outer) {
  return llvm::all_of(llvm::zip_equal(inner, outer),
                      [](auto pair) { return std::get<0>(pair) >= 0 && std::get<0>(pair) <= std::get<1>(pair); });
}

}  // namespace

/// `dense<"0x...">`. Newer writers give a boolean a byte, older ones a bit, as this MLIR's own parser expects.
static ParseResult parseHexElements(OpAsmParser& parser, ElementsAttr& value) {
  std::string hex, bytes;
  Type type;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword("dense") || parser.parseLess() || parser.parseString(&hex) || parser.parseGreater() ||
      parser.parseColonType(type))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !llvm::tryGetFromHex(StringRef(hex).drop_front(2), bytes))
    return parser.emitError(location) << "constant of type " << type
                                      << " has a string; expected hexadecimal digits and a static shape; export the "
                                         "program again";
  ArrayRef<char> raw(bytes.data(), bytes.size());
  if (tensor.getElementType().isInteger(1) && static_cast<int64_t>(bytes.size()) == tensor.getNumElements()) {
    SmallVector<bool> flags(raw.begin(), raw.end());
    value = DenseElementsAttr::get(tensor, ArrayRef<bool>(flags));
    return success();
  }
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(tensor, raw, isSplat))
    return parser.emitError(location) << "constant has " << bytes.size() << " bytes, which do not fit the type " << type
                                      << "; expected as many as its elements take; export the program again";
  value = DenseElementsAttr::getFromRawBuffer(tensor, raw);
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser& parser, OperationState& result) {
  ElementsAttr value;
  // Exports of early 2023 print the constant as an attribute: `constant() {value = dense<...>}`.
  bool asAttribute = succeeded(parser.parseOptionalLParen());
  if (asAttribute && parser.parseRParen()) return failure();
  if (parser.parseOptionalAttrDict(result.attributes)) return failure();
  if (asAttribute) {
    Type type;
    if (parser.parseColon() || parser.parseLParen() || parser.parseRParen() || parser.parseArrow() ||
        parser.parseType(type))
      return failure();
    result.addTypes(type);
    return success();
  }
  // Not by a StringRef, which would look for the end of the whole text.
  constexpr StringLiteral kHexBegin = "dense<\"0x";
  if (std::strncmp(parser.getCurrentLocation().getPointer(), kHexBegin.data(), kHexBegin.size()) == 0) {
    if (parseHexElements(parser, value)) return failure();
    result.addAttribute("value", value);
  } else if (parser.parseAttribute(value, "value", result.attributes)) {
    return failure();
  }
  result.addTypes(value.getType());
  return success();
}

void ConstantOp::print(OpAsmPrinter& printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << ' ' << getValue();
}

void ConstantOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), isa<IntegerType>(getValue().getElementType()) ? "c" : "cst");
}

LogicalResult ConstantOp::verify() {  // constant_C1
  if (getValue().getType() != getType())
    return emitOpError("holds a value of type ") << getValue().getType() << " for a result of type " << getType()
                                                 << "; expected one type; correct the result's type";
  return success();
}

LogicalResult IotaOp::verify() {  // iota_C1
  return verifyDims(*this, "'dim'", {int64_t(getIotaDimension())}, tensorType(getResult()).getRank());
}

LogicalResult BroadcastInDimOp::verify() {  // broadcast_in_dim_C1 to broadcast_in_dim_C5
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand()), to = tensorType(getResult());
  if (verifyCount(*this, "'dims'", getBroadcastDimensions(), from.getRank()).failed() ||
      verifyDims(*this, "'dims'", getBroadcastDimensions(), to.getRank()).failed())
    return failure();
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type from ")
           << from.getElementType() << " to " << to.getElementType() << "; expected one type; use 'stablehlo.convert'";
  for (auto [dim, target] : llvm::enumerate(getBroadcastDimensions()))
    if (from.getDimSize(dim) != 1 && from.getDimSize(dim) != to.getDimSize(target))
      return emitOpError("cannot broadcast dimension ")
             << dim << " of size " << from.getDimSize(dim) << " to size " << to.getDimSize(target)
             << "; expected one size, or size 1; correct the result's shape or dims";
  return success();
}

LogicalResult BroadcastOp::verify() {  // removed from the specification; XLA's Broadcast: new dimensions in front
  SmallVector<int64_t> shape(getBroadcastSizes());
  llvm::append_range(shape, tensorType(getOperand()).getShape());
  return verifyResult(*this, shape, tensorType(getOperand()));
}

LogicalResult TransposeOp::verify() {  // transpose_C1 to transpose_C3
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand());
  if (verifyCount(*this, "'dims'", getPermutation(), from.getRank()).failed() ||
      verifyDims(*this, "'dims'", getPermutation(), from.getRank()).failed())
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation()) shape.push_back(from.getDimSize(dim));
  return verifyResult(*this, shape, from);
}

LogicalResult ReshapeOp::verify() {  // reshape_C1, reshape_C2
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand()), to = tensorType(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type from ")
           << from.getElementType() << " to " << to.getElementType() << "; expected one type; use 'stablehlo.convert'";
  if (from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() != to.getNumElements())
    return emitOpError("changes the number of elements from ") << from.getNumElements() << " to " << to.getNumElements()
                                                               << "; expected as many; correct the result's shape";
  return success();
}

LogicalResult SliceOp::verify() {  // slice_C1 to slice_C5
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand());
  if (verifyCount(*this, "its ranges", getStartIndices(), from.getRank()).failed() ||
      verifyCount(*this, "'limit_indices'", getLimitIndices(), from.getRank()).failed() ||
      verifyCount(*this, "'strides'", getStrides(), from.getRank()).failed())
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    int64_t start = getStartIndices()[dim], limit = getLimitIndices()[dim], stride = getStrides()[dim];
    if (start < 0 || limit < start || limit > from.getDimSize(dim) || stride < 1)
      return emitOpError("range ") << start << ":" << limit << ":" << stride << " is not inside dimension " << dim
                                   << " of " << from
                                   << "; expected 0 <= start <= limit <= size and a stride above 0; correct the range";
    shape.push_back(llvm::divideCeil(limit - start, stride));
  }
  return verifyResult(*this, shape, from);
}

LogicalResult ReverseOp::verify() {  // reverse_C2, reverse_C3
  return verifyDims(*this, "'dims'", getDimensions(), tensorType(getOperand()).getRank());
}

LogicalResult PadOp::verify() {  // pad_C1 to pad_C4
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand()), value = tensorType(getPaddingValue());
  if (value.getRank() != 0 || value.getElementType() != from.getElementType())
    return emitOpError("has the padding value ")
           << value << "; expected a scalar of element type " << from.getElementType() << "; convert it";
  if (verifyCount(*this, "'low'", getEdgePaddingLow(), from.getRank()).failed() ||
      verifyCount(*this, "'high'", getEdgePaddingHigh(), from.getRank()).failed() ||
      verifyCount(*this, "'interior'", getInteriorPadding(), from.getRank()).failed())
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    int64_t interior = getInteriorPadding()[dim], size = from.getDimSize(dim);
    int64_t padded = 0;
    bool overflows = llvm::MulOverflow(std::max<int64_t>(size - 1, 0), interior, padded) ||
                     llvm::AddOverflow(padded, size, padded) ||
                     llvm::AddOverflow(padded, getEdgePaddingLow()[dim], padded) ||
                     llvm::AddOverflow(padded, getEdgePaddingHigh()[dim], padded);
    if (overflows || interior < 0 || padded < 0)
      return emitOpError("padding of dimension ") << dim
                                                  << " leaves a size that is negative or cannot be "
                                                     "counted, or is negative between elements; expected a size from "
                                                     "0 to 2^63 - 1; correct low, high or interior";
    shape.push_back(padded);
  }
  return verifyResult(*this, shape, from);
}

LogicalResult ConcatenateOp::verify() {  // concatenate_C1 to concatenate_C6
  if (hasDynamicShape(*this)) return success();
  if (getInputs().empty()) return emitOpError("has no operand; expected one or more; give it a tensor");
  auto first = tensorType(getInputs().front());
  int64_t dimension = getDimension();
  if (verifyDims(*this, "'dim'", {dimension}, first.getRank()).failed()) return failure();
  SmallVector<int64_t> shape(first.getShape());
  shape[dimension] = 0;
  for (Value input : getInputs()) {
    SmallVector<int64_t> other(tensorType(input).getShape());
    if (int64_t(other.size()) == first.getRank()) {
      if (llvm::AddOverflow(shape[dimension], other[dimension], shape[dimension]))
        return emitOpError("makes dimension ")
               << dimension << " larger than 2^63 - 1; expected smaller operands; drop some";
      other[dimension] = first.getDimSize(dimension);
    }
    if (ArrayRef(other) != first.getShape() || tensorType(input).getElementType() != first.getElementType())
      return emitOpError("operands ") << first << " and " << tensorType(input) << " differ outside dimension "
                                      << dimension
                                      << "; expected one rank, one element type and equal other sizes; reshape or "
                                         "convert the operands";
  }
  return verifyResult(*this, shape, first);
}

LogicalResult DynamicSliceOp::verify() {  // dynamic_slice_C2 to dynamic_slice_C5
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand());
  if (verifyStarts(*this, getStartIndices(), from.getRank()).failed() ||
      verifyCount(*this, "'sizes'", getSliceSizes(), from.getRank()).failed())
    return failure();
  if (!fitsInside(getSliceSizes(), from.getShape()))
    return emitOpError("a slice of [") << getSliceSizes() << "] is larger than " << from
                                       << "; expected at most its sizes; correct slice_sizes";
  return verifyResult(*this, getSliceSizes(), from);
}

LogicalResult DynamicUpdateSliceOp::verify() {  // dynamic_update_slice_C1 to dynamic_update_slice_C6
  auto from = tensorType(getOperand()), update = tensorType(getUpdate());
  if (update.getRank() != from.getRank() || update.getElementType() != from.getElementType() ||
      !fitsInside(update.getShape(), from.getShape()))
    return emitOpError("an update of ") << update << " does not fit into " << from
                                        << "; expected its rank and element type, and at most its sizes; slice or "
                                           "convert the update";
  if (verifyStarts(*this, getStartIndices(), from.getRank()).failed()) return failure();
  return verifyResult(*this, from.getShape(), from);
}

LogicalResult DotGeneralOp::verify() {  // dot_general_C1 to dot_general_C12
  if (hasDynamicShape(*this)) return success();
  auto lhs = tensorType(getLhs()), rhs = tensorType(getRhs());
  DotDimensionNumbersAttr dims = getDotDimensionNumbers();
  auto verifySide = [&](StringRef name, RankedTensorType type, ArrayRef<int64_t> batching,
                        ArrayRef<int64_t> contracting) {
    SmallVector<int64_t> all(batching);
    llvm::append_range(all, contracting);
    return verifyDims(*this, name, all, type.getRank());
  };
  if (verifySide("lhs", lhs, dims.getLhsBatching(), dims.getLhsContracting()).failed() ||
      verifySide("rhs", rhs, dims.getRhsBatching(), dims.getRhsContracting()).failed() ||
      verifyCount(*this, "the batching dimensions of rhs", dims.getRhsBatching(), dims.getLhsBatching().size())
          .failed() ||
      verifyCount(*this, "the contracting dimensions of rhs", dims.getRhsContracting(), dims.getLhsContracting().size())
          .failed())
    return failure();
  SmallVector<int64_t> shape;
  for (auto [l, r] : llvm::zip_equal(dims.getLhsBatching(), dims.getRhsBatching())) {
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return emitOpError("batching dimensions have sizes ")
             << lhs.getDimSize(l) << " and " << rhs.getDimSize(r) << "; expected equal sizes; correct batching_dims";
    shape.push_back(lhs.getDimSize(l));
  }
  for (auto [l, r] : llvm::zip_equal(dims.getLhsContracting(), dims.getRhsContracting()))
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return emitOpError("contracting dimensions have sizes ")
             << lhs.getDimSize(l) << " and " << rhs.getDimSize(r) << "; expected equal sizes; correct contracting_dims";
  auto appendFree = [&](RankedTensorType type, ArrayRef<int64_t> batching, ArrayRef<int64_t> contracting) {
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(batching, dim) && !llvm::is_contained(contracting, dim))
        shape.push_back(type.getDimSize(dim));
  };
  appendFree(lhs, dims.getLhsBatching(), dims.getLhsContracting());
  appendFree(rhs, dims.getRhsBatching(), dims.getRhsContracting());
  return verifyResult(*this, shape, tensorType(getResult()));
}

LogicalResult GatherOp::verify() {  // gather_C1 to gather_C22
  if (hasDynamicShape(*this)) return success();
  auto from = tensorType(getOperand()), indices = tensorType(getStartIndices()), to = tensorType(getResult());
  GatherDimensionNumbersAttr dims = getDimensionNumbers();
  SmallVector<int64_t> dropped(dims.getCollapsedSliceDims());
  llvm::append_range(dropped, dims.getOperandBatchingDims());
  int64_t indexVectorDim = dims.getIndexVectorDim();
  if (verifyDims(*this, "offset_dims", dims.getOffsetDims(), to.getRank()).failed() ||
      verifyDims(*this, "collapsed_slice_dims and operand_batching_dims", dropped, from.getRank()).failed() ||
      verifyDims(*this, "start_indices_batching_dims", dims.getStartIndicesBatchingDims(), indices.getRank())
          .failed() ||
      verifyDims(*this, "start_index_map", dims.getStartIndexMap(), from.getRank()).failed() ||
      verifyDims(*this, "index_vector_dim", {indexVectorDim}, indices.getRank() + 1).failed() ||
      verifyCount(*this, "start_indices_batching_dims", dims.getStartIndicesBatchingDims(),
                  dims.getOperandBatchingDims().size())
          .failed() ||
      verifyCount(*this, "slice_sizes", getSliceSizes(), from.getRank()).failed())
    return failure();
  int64_t vectorSize = indexVectorDim < indices.getRank() ? indices.getDimSize(indexVectorDim) : 1;
  if (verifyCount(*this, "start_index_map", dims.getStartIndexMap(), vectorSize).failed()) return failure();
  if (!fitsInside(getSliceSizes(), from.getShape()))
    return emitOpError("a slice of [") << getSliceSizes() << "] is larger than " << from
                                       << "; expected at most its sizes; correct slice_sizes";

  SmallVector<int64_t> batch, offset;
  for (int64_t dim = 0; dim < indices.getRank(); ++dim)
    if (dim != indexVectorDim) batch.push_back(indices.getDimSize(dim));
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    if (!llvm::is_contained(dropped, dim)) offset.push_back(getSliceSizes()[dim]);
  if (verifyCount(*this, "offset_dims", dims.getOffsetDims(), offset.size()).failed()) return failure();
  if (to.getRank() != int64_t(batch.size() + offset.size()))
    return emitOpError("has the result ")
           << to << "; expected rank " << batch.size() + offset.size() << "; correct the result's type";
  SmallVector<int64_t> shape;
  size_t nextBatch = 0, nextOffset = 0;
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    shape.push_back(llvm::is_contained(dims.getOffsetDims(), dim) ? offset[nextOffset++] : batch[nextBatch++]);
  return verifyResult(*this, shape, from);
}

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/shape_ops.cpp.inc"

void StablehloDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/shape_ops.cpp.inc"
      >();
}
