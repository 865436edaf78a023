// Syntax and verifiers of ops with regions; constraints are those of the StableHLO specification,
// cited as op_Cn.
#include "frontends/stablehlo/input/region_ops.h"

#include "dialects/sgd/tensor_type.h"
#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;
using mlir::sgd::tensorType;

using Operand = OpAsmParser::UnresolvedOperand;
using Argument = OpAsmParser::Argument;

namespace {

/// `(%a init: %i), (%b init: %j)`
ParseResult parseReduceInputs(OpAsmParser& parser, SmallVectorImpl<Operand>& inputs, SmallVectorImpl<Operand>& inits) {
  return parser.parseCommaSeparatedList([&]() {
    return failure(parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
                   parser.parseColon() || parser.parseOperand(inits.emplace_back()) || parser.parseRParen());
  });
}

/// The one op of the body that `applies NAME` stands for: NAME(%lhs, %rhs), on scalars of the
/// input's element type.
ParseResult buildAppliedBody(OpAsmParser& parser, SMLoc nameLoc, OperationName name, ArrayRef<Type> operandTypes,
                             OperationState& result) {
  auto input = operandTypes.size() == 2 ? dyn_cast<RankedTensorType>(operandTypes.front()) : RankedTensorType();
  if (!input)
    return parser.emitError(
        nameLoc,
        "'applies' stands in a reduction of several tensors; expected one tensor; write the body out, after "
        "'reducer'");
  Type scalar = RankedTensorType::get({}, input.getElementType());
  Location loc = result.location;
  auto block = std::make_unique<Block>();
  block->addArguments({scalar, scalar}, {loc, loc});
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(block.get());
  Operation* op = builder.create(OperationState(loc, name, block->getArguments(), {scalar}));
  OperationState terminator(loc, ReturnOp::getOperationName(), op->getResults(), {});
  builder.create(terminator);
  result.addRegion()->push_back(block.release());
  return success();
}

/// `reducer(%lhs: type, %rhs: type) (%lhs1: type, %rhs1: type) { ... }`, one pair an input.
ParseResult parseReducer(OpAsmParser& parser, size_t numInputs, OperationState& result) {
  SmallVector<Argument> lhs, rhs;
  if (parser.parseKeyword("reducer")) return failure();
  for (size_t i = 0; i < numInputs; ++i)
    if (parser.parseLParen() || parser.parseArgument(lhs.emplace_back(), /*allowType=*/true) || parser.parseComma() ||
        parser.parseArgument(rhs.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  llvm::append_range(lhs, rhs);
  return parser.parseRegion(*result.addRegion(), lhs);
}

/// The op that a body consists of when it is `return op(%arg0, %arg1)` on its two scalars, else
/// null.
Operation* getAppliedOp(Region& body) {
  Block& block = body.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2) return nullptr;
  Operation& op = block.front();
  Operation* end = block.getTerminator();
  bool isBinary = op.getNumOperands() == 2 && op.getNumResults() == 1 && op.getNumRegions() == 0 &&
                  op.getAttrs().empty() && op.getDialect() == end->getDialect() &&
                  op.getOperand(0) == block.getArgument(0) && op.getOperand(1) == block.getArgument(1);
  bool oneType = block.getArgument(0).getType() == block.getArgument(1).getType() && isBinary &&
                 op.getResult(0).getType() == block.getArgument(0).getType();
  return oneType && end->getNumOperands() == 1 && end->getOperand(0) == op.getResult(0) ? &op : nullptr;
}

LogicalResult verifyBlockArguments(Operation* op, Region& region, TypeRange types) {
  if (TypeRange(region.getArgumentTypes()) != types)
    return op->emitOpError("has block arguments of types ")
           << TypeRange(region.getArgumentTypes()) << "; expected " << types << "; correct the body's arguments";
  return success();
}

/// Reports unless the region ends in `stablehlo.return` of `types`.
LogicalResult verifyReturn(Operation* op, Region& region, TypeRange types) {
  if (region.front().empty() || !isa<ReturnOp>(region.front().back()))
    return op->emitOpError(
        "has a region that does not end in 'stablehlo.return'; expected it last; return the "
        "region's values");
  Operation& end = region.front().back();
  if (end.getOperandTypes() != types)
    return end.emitOpError("returns ") << end.getOperandTypes() << "; expected " << types << " in '" << op->getName()
                                       << "'; return values of these types";
  return success();
}

/// The scalar types of a reducing body: the initial values' types twice.
SmallVector<Type> getReducerTypes(TypeRange inits) {
  SmallVector<Type> types(inits);
  llvm::append_range(types, inits);
  return types;
}

}  // namespace

ParseResult ReduceOp::parse(OpAsmParser& parser, OperationState& result) {
  SmallVector<Operand> inputs, inits;
  DenseI64ArrayAttr dimensions;
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation(), nameLoc;
  if (parseReduceInputs(parser, inputs, inits)) return failure();
  std::optional<OperationName> applied;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    nameLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name)) return failure();
    if (!name->isRegistered())
      return parser.emitError(nameLoc, "unknown op '")
             << *name << "'; expected a StableHLO op of two operands; correct the name";
    applied = *name;
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual()) return failure();
  dimensions = dyn_cast_or_null<DenseI64ArrayAttr>(DenseI64ArrayAttr::parse(parser, Type()));
  if (!dimensions || parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type)) return failure();
  result.addAttribute("dimensions", dimensions);
  llvm::append_range(inputs, inits);
  if (parser.resolveOperands(inputs, type.getInputs(), loc, result.operands)) return failure();
  result.addTypes(type.getResults());
  return applied ? buildAppliedBody(parser, nameLoc, *applied, type.getInputs(), result)
                 : parseReducer(parser, inits.size(), result);
}

void ReduceOp::print(OpAsmPrinter& printer) {
  printer << '(';
  llvm::interleave(
      llvm::zip_equal(getInputs(), getInitValues()), printer,
      [&](auto pair) { printer << std::get<0>(pair) << " init: " << std::get<1>(pair); }, "), (");
  printer << ')';
  Operation* applied = getInputs().size() == 1 ? getAppliedOp(getBody()) : nullptr;
  if (applied) printer << " applies " << applied->getName().getStringRef();
  printer << " across dimensions = ";
  getDimensionsAttr().print(printer);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied) return;
  printer.printNewline();
  printer << " reducer";
  size_t count = getInputs().size();
  for (size_t i = 0; i < count; ++i) {
    printer << (i ? " (" : "(");
    printer.printRegionArgument(getBody().getArgument(i));
    printer << ", ";
    printer.printRegionArgument(getBody().getArgument(i + count));
    printer << ')';
  }
  printer << "  ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult ReduceOp::verify() {  // reduce_C1 to reduce_C8
  if (hasDynamicShape(*this)) return success();
  if (getInputs().empty()) return emitOpError("has no input; expected one or more; give it a tensor");
  ArrayRef<int64_t> shape = tensorType(getInputs().front()).getShape();
  SmallVector<bool> reduced(shape.size(), false);
  for (int64_t dim : getDimensions()) {
    if (dim < 0 || dim >= int64_t(shape.size()) || reduced[dim])
      return emitOpError("'dimensions' names dimension ")
             << dim << " of a tensor of rank " << shape.size()
             << ", or names it twice; expected different dimensions of the tensor; correct the list";
    reduced[dim] = true;
  }
  SmallVector<int64_t> left;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (!reduced[dim]) left.push_back(size);
  if (getResults().size() != getInputs().size())
    return emitOpError("has ") << getResults().size() << " results; expected " << getInputs().size()
                               << ", one per input; correct the results";
  for (auto [input, init, result] : llvm::zip_equal(getInputs(), getInitValues(), getResults())) {
    if (tensorType(input).getShape() != shape)
      return emitOpError("has inputs of different shapes; expected one shape; reduce others in an op of their own");
    if (tensorType(init).getRank() != 0)
      return emitOpError("has the initial value ") << init.getType() << "; expected a scalar; reshape it to one";
    auto expected = RankedTensorType::get(left, tensorType(init).getElementType());
    if (result.getType() != expected)
      return emitOpError("has a result of type ")
             << result.getType() << "; expected " << expected << "; correct the result's type";
  }
  if (verifyBlockArguments(*this, getBody(), getReducerTypes(getInitValues().getTypes())).failed()) return failure();
  return verifyReturn(*this, getBody(), getInitValues().getTypes());
}

LogicalResult ScatterOp::verify() {  // scatter_C1 to scatter_C24
  if (hasDynamicShape(*this)) return success();
  size_t count = getInputs().size();
  if (count == 0 || getResults().size() != count)
    return emitOpError("has ") << count << " inputs and " << getResults().size()
                               << " results; expected as many of each, and one at least; correct the results";
  auto input = tensorType(getInputs().front()), indices = tensorType(getScatterIndices()),
       update = tensorType(getUpdates().front());
  for (size_t i = 0; i < count; ++i)
    if (tensorType(getInputs()[i]).getShape() != input.getShape() ||
        tensorType(getUpdates()[i]).getShape() != update.getShape() ||
        getResults()[i].getType() != getInputs()[i].getType())
      return emitOpError(
          "has tensors that differ; expected inputs of one shape, updates of one shape, and results of the inputs' "
          "types; scatter others in an op of their own");

  ScatterDimensionNumbersAttr dims = getScatterDimensionNumbers();
  auto inRange = [&](ArrayRef<int64_t> list, int64_t rank) {
    return llvm::all_of(list, [&](int64_t dim) { return dim >= 0 && dim < rank; });
  };
  int64_t indexVectorDim = dims.getIndexVectorDim();
  if (!inRange(dims.getUpdateWindowDims(), update.getRank()) ||
      !inRange(dims.getInsertedWindowDims(), input.getRank()) ||
      !inRange(dims.getInputBatchingDims(), input.getRank()) ||
      !inRange(dims.getScatterIndicesBatchingDims(), indices.getRank()) ||
      !inRange(dims.getScatterDimsToOperandDims(), input.getRank()) || indexVectorDim < 0 ||
      indexVectorDim > indices.getRank())
    return emitOpError(
        "names dimensions that its operands do not have; expected dimensions below their ranks; correct "
        "scatter_dimension_numbers");
  int64_t windowRank =
      dims.getUpdateWindowDims().size() + dims.getInsertedWindowDims().size() + dims.getInputBatchingDims().size();
  int64_t vectorSize = indexVectorDim < indices.getRank() ? indices.getDimSize(indexVectorDim) : 1;
  int64_t batchRank = indices.getRank() - (indexVectorDim < indices.getRank() ? 1 : 0);
  if (windowRank != input.getRank() || int64_t(dims.getScatterDimsToOperandDims().size()) != vectorSize ||
      int64_t(dims.getUpdateWindowDims().size()) + batchRank != update.getRank() ||
      dims.getScatterIndicesBatchingDims().size() != dims.getInputBatchingDims().size())
    return emitOpError("dimension numbers do not fit operand ")
           << input << ", indices " << indices << " and updates " << update
           << "; expected each dimension of the operand and of the updates once; correct scatter_dimension_numbers";

  SmallVector<Type> scalars;
  for (Value value : getInputs()) scalars.push_back(RankedTensorType::get({}, tensorType(value).getElementType()));
  if (getUpdateComputation().getNumArguments() != 2 * count)
    return emitOpError("has ") << getUpdateComputation().getNumArguments() << " block arguments; expected " << 2 * count
                               << ", two per input; correct the body's arguments";
  return verifyReturn(*this, getUpdateComputation(), scalars);
}

ParseResult WhileOp::parse(OpAsmParser& parser, OperationState& result) {
  SmallVector<Argument> arguments;
  SmallVector<Operand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAssignment = [&]() {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseAssignment)) return failure();
  if (!operands.empty() && parser.parseColonTypeList(types)) return failure();
  if (parser.resolveOperands(operands, types, loc, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types)) argument.type = type;
  result.addTypes(types);
  return failure(parser.parseKeyword("cond") || parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseKeyword("do") || parser.parseRegion(*result.addRegion(), arguments));
}

void WhileOp::print(OpAsmPrinter& printer) {
  // Both regions print with the names of the condition's arguments.
  printer.shadowRegionArgs(getBody(), getCond().getArguments());
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getCond().getArguments(), getOperand()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = " << std::get<1>(pair);
  });
  printer << ')';
  if (!getOperand().empty()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void WhileOp::getAsmBlockArgumentNames(Region& region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments()) setName(argument, "iterArg");
}

LogicalResult WhileOp::verify() {  // while_C1 to while_C3
  if (getOperandTypes() != getResultTypes())
    return emitOpError("has the results ") << getResultTypes() << "; expected the operands' types " << getOperandTypes()
                                           << "; correct the results' types";
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (verifyBlockArguments(*this, getCond(), getOperandTypes()).failed() ||
      verifyBlockArguments(*this, getBody(), getOperandTypes()).failed() ||
      verifyReturn(*this, getCond(), pred).failed())
    return failure();
  return verifyReturn(*this, getBody(), getOperandTypes());
}

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/region_ops.cpp.inc"

void StablehloDialect::registerRegionOps() {
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/region_ops.cpp.inc"
      >();
}
