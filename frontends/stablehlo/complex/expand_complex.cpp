// The walk over functions and regions; see complex_op.h.
#include "frontends/stablehlo/complex/expand_complex.h"

#include "frontends/stablehlo/complex/boundary.h"
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

static ExpansionTable createTable() {
  ExpansionTable table;
  addComplexArithmetic(table);
  addComplexFunctions(table);
  addComplexInverseFunctions(table);
  addComplexLinearAlgebra(table);
  addComplexMovement(table);
  addComplexMatmuls(table);
  addComplexRegions(table);
  addFft(table);
  return table;
}

SmallVector<StringRef> mlir::sgd::getComplexOps() { return {"chlo.conj", "stablehlo.complex", "stablehlo.fft"}; }

LogicalResult mlir::sgd::expandComplex(ModuleOp module, bool transformsByMatmuls) {
  auto isAnyComplex = [](TypeRange types) { return llvm::any_of(types, isComplex); };
  bool hasComplex =
      module
          .walk([&](Operation* op) {
            auto function = dyn_cast<func::FuncOp>(op);
            bool found =
                isAnyComplex(op->getOperandTypes()) || isAnyComplex(op->getResultTypes()) ||
                (function && (isAnyComplex(function.getArgumentTypes()) || isAnyComplex(function.getResultTypes())));
            return found ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  return hasComplex ? ComplexExpander(module, transformsByMatmuls).run() : success();
}

ComplexExpander::ComplexExpander(ModuleOp module, bool transformsByMatmuls)
    : transformsByMatmuls(transformsByMatmuls), builder(module.getContext()), module(module), table(createTable()) {
  for (auto function : module.getOps<func::FuncOp>()) functions[function.getSymName()] = function;
}

LogicalResult ComplexExpander::run() {
  for (auto function : module.getOps<func::FuncOp>())
    if ((function.isPublic() ? expandPublic(function) : expandPrivate(function)).failed()) return failure();
  for (Operation* op : llvm::reverse(replaced)) op->erase();
  return success();
}

SmallVector<Value> ComplexExpander::expand(ValueRange values) const {
  SmallVector<Value> expanded;
  for (Value value : values) {
    if (!isComplex(value.getType())) {
      expanded.push_back(value);
      continue;
    }
    Complex both = getParts(value);
    expanded.append({both.re, both.im});
  }
  return expanded;
}

void ComplexExpander::splitArgument(Block& block, unsigned index, unsigned imaginary) {
  BlockArgument old = block.getArgument(index);
  Type part = getPartType(old.getType());
  Value im = block.insertArgument(imaginary, part, old.getLoc());
  Value re = block.insertArgument(index, part, old.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto both = UnrealizedConversionCastOp::create(builder, old.getLoc(), old.getType(), ValueRange{re, im});
  setParts(both.getResult(0), {re, im});
  replaced.push_back(both);
  old.replaceAllUsesWith(both.getResult(0));
  block.eraseArgument(index + 1);
}

LogicalResult ComplexExpander::expandRegion(Region& region) {
  for (Block& block : region)
    for (unsigned index = 0; index < block.getNumArguments(); ++index)
      if (isComplex(block.getArgument(index).getType())) splitArgument(block, index, index + 1);
  return expandBody(region);
}

LogicalResult ComplexExpander::expandBody(Region& region) {
  for (Block& block : region)
    for (Operation& op : llvm::make_early_inc_range(block))
      if (!isa<UnrealizedConversionCastOp>(op) && expandOp(&op).failed()) return failure();
  return success();
}

LogicalResult ComplexExpander::expandTerminator(Operation* op) {
  for (Value operand : op->getOperands())
    if (isComplex(operand.getType()) && !parts.contains(operand))
      return op->emitError() << "'" << op->getName()
                             << "' returns a complex value that no op of the function computes; expected results of "
                                "supported ops; see docs/reference/operations.md";
  op->setOperands(expand(op->getOperands()));
  return success();
}

/// Complex tensors of dynamic shape or with an encoding are refused as those of reals are.
static LogicalResult checkTypes(Operation* op) {
  auto check = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types))
      if (isComplex(type) && !convertTensorType(getPartType(type)))
        return reportUnsupportedType(op->getLoc(),
                                     what + " " + Twine(index) + " of '" + op->getName().getStringRef() + "'", type);
    return success();
  };
  return failure(check(op->getOperandTypes(), "operand").failed() || check(op->getResultTypes(), "result").failed());
}

LogicalResult ComplexExpander::expandOp(Operation* op) {
  bool touches = llvm::any_of(op->getOperandTypes(), isComplex) || llvm::any_of(op->getResultTypes(), isComplex);
  if (!touches) {
    for (Region& region : op->getRegions())
      if (expandRegion(region).failed()) return failure();
    return success();
  }
  if (checkTypes(op).failed()) return failure();
  if (op->hasTrait<OpTrait::IsTerminator>()) return expandTerminator(op);
  builder.setInsertionPoint(op);
  ComplexOp complex(op, builder, *this);
  ExpandFn expansion = table.lookup(op->getName().getStringRef());
  if (!expansion)
    return complex.error() << "is not supported on complex numbers; compute with real and imaginary parts";
  if (expansion(complex).failed()) return failure();
  replaced.push_back(op);
  return success();
}

LogicalResult ComplexExpander::expandPrivate(func::FuncOp function) {
  auto repeat = [](TypeRange types, function_ref<DictionaryAttr(unsigned)> get) {
    SmallVector<DictionaryAttr> attributes;
    for (auto [index, type] : llvm::enumerate(types)) {
      DictionaryAttr own = get(index);
      if (!own) own = DictionaryAttr::get(type.getContext());
      attributes.append(isComplex(type) ? 2 : 1, own);
    }
    return attributes;
  };
  FunctionType old = function.getFunctionType();
  auto arguments = repeat(old.getInputs(), [&](unsigned i) { return function.getArgAttrDict(i); });
  auto results = repeat(old.getResults(), [&](unsigned i) { return function.getResultAttrDict(i); });
  function.setFunctionType(builder.getFunctionType(expandTypes(old.getInputs()), expandTypes(old.getResults())));
  function.setAllArgAttrs(arguments);
  function.setAllResultAttrs(results);
  return expandRegion(function.getBody());
}

LogicalResult ComplexExpander::expandPublic(func::FuncOp function) {
  FunctionType old = function.getFunctionType();
  if (pairBoundary(function).failed()) return failure();
  if (function.isExternal() || !function.getBody().hasOneBlock()) return expandRegion(function.getBody());
  Block& block = function.getBody().front();
  builder.setInsertionPointToStart(&block);
  for (auto [argument, type] : llvm::zip_equal(block.getArguments(), old.getInputs())) {
    if (!isComplex(type)) continue;
    // Its uses see a complex value until they are replaced.
    argument.setType(getPairType(type));
    RealMath math(builder, argument.getLoc());
    Complex both = math.deinterleave(argument);
    auto whole = UnrealizedConversionCastOp::create(builder, argument.getLoc(), type, ValueRange{both.re, both.im});
    setParts(whole.getResult(0), both);
    replaced.push_back(whole);
    argument.replaceUsesWithIf(whole.getResult(0), [&](OpOperand& use) {
      return use.getOwner()->getBlock() != &block || !use.getOwner()->isBeforeInBlock(whole);
    });
  }
  Operation* end = block.getTerminator();
  for (Operation& op : llvm::make_early_inc_range(block))
    if (&op != end && !isa<UnrealizedConversionCastOp>(op) && expandOp(&op).failed()) return failure();
  builder.setInsertionPoint(end);
  for (OpOperand& operand : end->getOpOperands())
    if (isComplex(operand.get().getType()))
      operand.set(RealMath(builder, end->getLoc()).interleave(getParts(operand.get())));
  return success();
}
