// Rows of inputs over the batch axes.
#include "compiler/recipe/batch.h"

#include "compiler/recipe/annotator.h"
#include "dialects/sgd/roles.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

/// Unsigned words of a generator: `uint32[2]` of threefry, `uint32[4]` of rbg.
static bool isRandomKey(func::FuncOp function, unsigned argument) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  return type.getRank() == 1 && function.getArgAttr(argument, kUnsignedAttr) && type.getElementType().isInteger(32) &&
         (type.getDimSize(0) == 2 || type.getDimSize(0) == 4);
}

/// State whose next value the program's ops alone tell, by argument.
static llvm::BitVector findGuessedState(func::FuncOp function) {
  llvm::BitVector guessed(function.getNumArguments());
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto basis = function.getResultAttrOfType<StringAttr>(result, kCarryBasisAttr);
    std::optional<unsigned> argument = getCarriedArgument(function, result);
    if (argument && basis && basis.getValue() == "dataflow" && !function.getArgAttr(*argument, kAliasOutputAttr))
      guessed.set(*argument);
  }
  return guessed;
}

static SmallVector<RowsOfInput> findRows(func::FuncOp function, const llvm::BitVector& isData) {
  SmallVector<RowsOfInput> inputs;
  for (unsigned index : isData.set_bits()) {
    auto ruled = function.getArgAttrOfType<IntegerAttr>(index, kBatchDimAttr);
    int64_t dim = ruled ? ruled.getInt() : 0;
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
    if (dim < 0 || dim >= type.getRank() || type.getDimSize(dim) <= 1) continue;
    if (ruled || !isRandomKey(function, index)) inputs.push_back({index, static_cast<unsigned>(dim)});
  }
  return inputs;
}

SmallVector<RowsOfInput> mlir::sgd::findInputsWithRows(func::FuncOp function) {
  llvm::BitVector isData(function.getNumArguments());
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    if (!isState(getRole(function, index))) isData.set(index);
  return findRows(function, isData);
}

int64_t mlir::sgd::getRows(func::FuncOp function, RowsOfInput input) {
  return cast<RankedTensorType>(function.getArgumentTypes()[input.argument]).getDimSize(input.dim);
}

bool mlir::sgd::hasRuledRows(func::FuncOp function, RowsOfInput input) {
  return static_cast<bool>(function.getArgAttr(input.argument, kBatchDimAttr));
}

static bool shardsRows(func::FuncOp function, RowsOfInput input) {
  auto sharding = function.getArgAttrOfType<ShardingAttr>(input.argument, kShardingAttr);
  return sharding && !sharding.getDims()[input.dim].getAxes().empty();
}

void mlir::sgd::markStackedInputs(func::FuncOp function, MutableArrayRef<RowsOfInput> inputs,
                                  const SteppedRows& stepped) {
  auto getShape = [&](const RowsOfInput& input) {
    return cast<RankedTensorType>(function.getArgumentTypes()[input.argument]).getShape();
  };
  SmallVector<RowsOfInput*> stacked;
  for (RowsOfInput& input : inputs)
    if (input.dim == 0 && stepped.stackedInputs.contains(input.argument)) stacked.push_back(&input);
  auto isAlike = [&](RowsOfInput* input) {
    return getShape(*input).size() > 1 && getShape(*input).take_front(2) == getShape(*stacked.front()).take_front(2);
  };
  if (stacked.empty() || !llvm::all_of(stacked, isAlike) || getShape(*stacked.front())[1] == 1) return;
  if (stacked.size() == 1 && getShape(*stacked.front()).size() < 3) return;
  Builder builder(function.getContext());
  for (RowsOfInput* input : stacked) {
    input->dim = 1;
    function.setArgAttr(input->argument, kBatchDimAttr, builder.getI64IntegerAttr(1));
  }
}

static LogicalResult checkRows(func::FuncOp function, ArrayRef<RowsOfInput> inputs, Annotator& annotator) {
  std::optional<RowsOfInput> first;
  for (RowsOfInput input : inputs) {
    if (hasRuledRows(function, input)) continue;
    if (!first) first = input;
    if (getRows(function, input) == getRows(function, *first)) continue;
    return annotator.error() << "field 'batch': " << getArgumentName(function, first->argument) << " has "
                             << getRows(function, *first) << " rows and " << getArgumentName(function, input.argument)
                             << " has " << getRows(function, input)
                             << "; expected inputs of one batch; name the dimension that holds the rows of each by "
                                "rules, such as {\"tensor\": \"edges\", \"batch\": 0}, or, for inputs without rows, "
                                "{\"tensor\": \"mask\", \"batch\": null}";
  }
  return success();
}

/// Says which state is sharded as a batch is.
static void sayTaken(func::FuncOp function, ArrayRef<RowsOfInput> inputs, Annotator& annotator) {
  for (RowsOfInput input : inputs)
    annotator.remark() << "field 'batch': the rows of " << getArgumentName(function, input.argument)
                       << " are sharded, since no program has another input with rows; a step of several would take a "
                          "result for its next value";
}

FailureOr<bool> mlir::sgd::shardBatch(func::FuncOp function, const Recipe& recipe, const RuledArguments& ruled,
                                      bool takesState) {
  Annotator annotator(function->getParentOfType<ModuleOp>());
  if (failed(annotator.checkAxes(recipe.batch, "batch"))) return failure();
  SmallVector<RowsOfInput> inputs =
      takesState ? findRows(function, findGuessedState(function)) : findInputsWithRows(function);
  auto hasSharding = [&](RowsOfInput input) {
    return ruled[input.argument] && recipe.rules[*ruled[input.argument]].kind != RecipeRule::Kind::Batch;
  };
  bool isRuled =
      llvm::any_of(inputs, [&](RowsOfInput input) { return hasSharding(input) && shardsRows(function, input); });
  llvm::erase_if(inputs, hasSharding);
  SteppedRows stepped = findSteppedRows(function, inputs);
  markStackedInputs(function, inputs, stepped);
  if (failed(checkRows(function, inputs, annotator))) return failure();
  if (takesState) sayTaken(function, inputs, annotator);
  auto getSharding = [&](Type type, int64_t rows) {
    SmallVector<RecipeDim> dims(cast<RankedTensorType>(type).getRank(), RecipeDim{{}, /*isOpen=*/true});
    dims[rows] = {recipe.batch, /*isOpen=*/false};
    return dims;
  };
  for (RowsOfInput input : inputs) {
    FailureOr<ShardingAttr> sharding =
        annotator.getSharding(getSharding(function.getArgumentTypes()[input.argument], input.dim), "batch");
    if (failed(sharding)) return failure();
    annotator.annotateArgument(function, input.argument, *sharding);
  }
  for (const BlocksOfRows& blocks : stepped.blocks) {
    SmallVector<RecipeDim> dims = getSharding(blocks.value.getType(), blocks.rows);
    if (blocks.blocks) dims[*blocks.blocks].isOpen = false;
    FailureOr<ShardingAttr> sharding = annotator.getSharding(dims, "batch");
    if (failed(sharding)) return failure();
    annotator.annotateValue(blocks.value, *sharding);
  }
  return isRuled || !inputs.empty();
}
