// Ops first, in the order of the program; then results; then the signature.
#include "passes/time/layers/split_function.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/time/layers/split_loop.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class FunctionSplit {
 public:
  FunctionSplit(func::FuncOp function, ArrayRef<LayerFamily> families, const CutNumbers& asked,
                const CutNumbers& askedResults, llvm::function_ref<bool(BlockArgument)> isState)
      : function(function),
        asked(asked),
        askedResults(askedResults),
        isState(isState),
        mayCut([this](BlockArgument argument) { return this->canCut(argument); }),
        pieces(function, mayCut),
        numArguments(function.getNumArguments()) {
    for (const LayerFamily& family : families)
      for (const LayerLoop& layers : family.loops)
        if (family.ranges.size() > 1) loops[layers.op] = {&layers, &family.ranges};
  }

  CutNumbers run();

 private:
  /// A part of an argument or result of the program as it was.
  struct Part {
    unsigned whole = 0;
    RowRange rows;  // count 0: all of it
    int64_t size = -1;
    Value value;
  };

  bool canCut(BlockArgument argument) const {
    return argument.getArgNumber() < numArguments && (asked.contains(argument.getArgNumber()) || isState(argument));
  }
  func::ReturnOp getReturn() { return cast<func::ReturnOp>(function.front().getTerminator()); }
  void splitOps();
  std::optional<RowRanges> findResultRanges(OpOperand& result);
  void splitResults();
  void collectArguments();
  void writeArguments();
  void writeSignature();
  void inlineSingleLayers();
  void renumber(NamedAttrList& attrs, StringRef name, ArrayRef<Part> others, const Part& own);
  DictionaryAttr getAttrs(DictionaryAttr before, const Part& part, bool isResult);

  func::FuncOp function;
  const CutNumbers &asked, &askedResults;
  llvm::function_ref<bool(BlockArgument)> isState;
  std::function<bool(BlockArgument)> mayCut;
  RowPieces pieces;
  unsigned numArguments;
  DenseMap<Operation*, std::pair<const LayerLoop*, const RowRanges*>> loops;
  SmallVector<Part> arguments, results;
  CutNumbers cut;
};

}  // namespace

void FunctionSplit::splitOps() {
  SmallVector<Operation*> ops;
  for (Operation& op : function.front().without_terminator()) ops.push_back(&op);
  for (Operation* op : ops)
    if (auto loop = loops.find(op); loop != loops.end())
      splitLoop(*loop->second.first, *loop->second.second, pieces);
    else if (llvm::any_of(op->getOperands(), [&](Value operand) { return pieces.find(operand); }))
      pieces.visit(op);
  SmallVector<unsigned> numbers = llvm::to_vector(llvm::make_first_range(asked));
  llvm::sort(numbers);
  for (unsigned number : numbers) pieces.get(function.getArgument(number), asked.lookup(number));
}

/// As what is asked for, as the argument that it becomes, or as it is computed.
std::optional<RowRanges> FunctionSplit::findResultRanges(OpOperand& result) {
  unsigned number = result.getOperandNumber();
  if (auto ranges = askedResults.find(number); ranges != askedResults.end()) return ranges->second;
  const RowPieces::Cut* computed = pieces.find(result.get());
  if (std::optional<unsigned> carried = getCarriedArgument(function, number)) {
    BlockArgument argument = function.getArgument(*carried);
    if (const RowPieces::Cut* of = pieces.find(argument); of && llvm::is_contained(pieces.getCutArguments(), argument))
      return of->ranges;
    // State that is not computed from itself, as the gradient of the step before.
    if (!computed || computed->dim != 0 || computed->isSliced || !canCut(argument)) return std::nullopt;
    pieces.get(argument, computed->ranges);
    return computed->ranges;
  }
  if (computed && computed->dim == 0 && !computed->isSliced) return computed->ranges;
  return std::nullopt;
}

void FunctionSplit::splitResults() {
  for (OpOperand& result : getReturn()->getOpOperands()) {
    unsigned number = result.getOperandNumber();
    std::optional<RowRanges> ranges = findResultRanges(result);
    if (!ranges) {
      results.push_back({number, {}, -1, result.get()});
      continue;
    }
    int64_t size = tensorType(result.get()).getDimSize(0);
    SmallVector<Value> values = pieces.get(result.get(), *ranges);
    for (auto [range, value] : llvm::zip(*ranges, values)) results.push_back({number, range, size, value});
  }
  SmallVector<Value> values = llvm::map_to_vector(results, [](const Part& part) { return part.value; });
  getReturn()->setOperands(values);
}

void FunctionSplit::collectArguments() {
  for (unsigned number = 0; number < numArguments; ++number) {
    BlockArgument argument = function.getArgument(number);
    const RowPieces::Cut* found = pieces.find(argument);
    if (!found || !llvm::is_contained(pieces.getCutArguments(), argument)) {
      arguments.push_back({number, {}, -1, argument});
      continue;
    }
    cut[number] = found->ranges;
    int64_t size = tensorType(argument).getDimSize(0);
    for (auto [range, value] : llvm::zip(found->ranges, found->pieces))
      arguments.push_back({number, range, size, value});
  }
}

/// `name` is an attribute that holds the number of one of the others.
void FunctionSplit::renumber(NamedAttrList& attrs, StringRef name, ArrayRef<Part> others, const Part& own) {
  auto number = dyn_cast_or_null<IntegerAttr>(attrs.get(name));
  if (!number) return;
  attrs.erase(name);
  for (auto [index, other] : llvm::enumerate(others))
    if (other.whole == number.getInt() && other.rows == own.rows)
      attrs.set(name, IntegerAttr::get(number.getType(), index));
}

DictionaryAttr FunctionSplit::getAttrs(DictionaryAttr before, const Part& part, bool isResult) {
  Builder builder(function.getContext());
  NamedAttrList attrs(before);
  if (isResult) {
    renumber(attrs, kCarryAttr, arguments, part);
    if (!attrs.get(kCarryAttr)) attrs.erase(kCarryBasisAttr);
  } else {
    renumber(attrs, kAliasOutputAttr, results, part);
    renumber(attrs, kCarryCandidateAttr, results, part);
  }
  attrs.set(kWholeAttr, builder.getDenseI64ArrayAttr({part.whole, part.size}));
  if (part.size >= 0) {
    attrs.set(kRowsAttr, builder.getDenseI64ArrayAttr({part.rows.first, part.rows.count}));
    // Layers are no batch: their rows are of stages alone.
    if (auto cut = dyn_cast_or_null<IntegerAttr>(attrs.get(kSequentialDimAttr)); cut && cut.getInt() == 0)
      attrs.erase(kSequentialDimAttr);
    if (part.rows.stage) attrs.set(kStageAttr, builder.getI64IntegerAttr(*part.rows.stage));
  }
  return attrs.getDictionary(function.getContext());
}

/// Block arguments in the order of the signature.
void FunctionSplit::writeArguments() {
  Block& block = function.front();
  const unsigned before = block.getNumArguments();
  for (Part& part : arguments) {
    BlockArgument argument = block.addArgument(part.value.getType(), part.value.getLoc());
    part.value.replaceAllUsesWith(argument);
    part.value = argument;
  }
  block.eraseArguments(0, before);
}

void FunctionSplit::writeSignature() {
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs, newArguments, newResults;
  for (unsigned index = 0; index < numArguments; ++index) argumentAttrs.push_back(function.getArgAttrDict(index));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    resultAttrs.push_back(function.getResultAttrDict(index));
  for (const Part& part : arguments) newArguments.push_back(getAttrs(argumentAttrs[part.whole], part, false));
  for (const Part& part : results) newResults.push_back(getAttrs(resultAttrs[part.whole], part, true));
  writeArguments();
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.front().getArgumentTypes(), getReturn()->getOperandTypes()));
  function.setAllArgAttrs(newArguments);
  function.setAllResultAttrs(newResults);
}

/// A range of one layer is what is in its loop's body. (Elsewhere a loop of one trip may keep apart what is in it, as
/// the blocks of a ring.)
void FunctionSplit::inlineSingleLayers() {
  IRRewriter rewriter(function.getContext());
  for (WhileOp loop : llvm::make_early_inc_range(function.front().getOps<WhileOp>())) {
    if (loop.getTrips() != 1) continue;
    Block& body = loop.getBody().front();
    Operation* yield = body.getTerminator();
    SmallVector<Value> yielded(yield->getOperands()), inits(loop.getInits());
    // Arguments that are yielded become what they begin as.
    for (Value& value : yielded)
      if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body)
        value = inits[argument.getArgNumber()];
    rewriter.eraseOp(yield);
    rewriter.inlineBlockBefore(&body, loop, inits);
    rewriter.replaceOp(loop, yielded);
  }
}

CutNumbers FunctionSplit::run() {
  splitOps();
  splitResults();
  collectArguments();
  pieces.finish();
  if (cut.empty() && results.size() == function.getNumResults()) return cut;
  writeSignature();
  inlineSingleLayers();
  return cut;
}

CutNumbers mlir::sgd::splitFunction(func::FuncOp function, ArrayRef<LayerFamily> families, const CutNumbers& arguments,
                                    const CutNumbers& results, llvm::function_ref<bool(BlockArgument)> isState) {
  return FunctionSplit(function, families, arguments, results, isState).run();
}
