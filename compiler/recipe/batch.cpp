// Rows of inputs over the batch axes.
#include "compiler/recipe/batch.h"

#include "compiler/recipe/annotator.h"

using namespace mlir;
using namespace mlir::sgd;

/// Unsigned words of a generator: `uint32[2]` of threefry, `uint32[4]` of rbg.
static bool isRandomKey(func::FuncOp function, unsigned argument) {
  auto type = cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  return type.getRank() == 1 && function.getArgAttr(argument, kUnsignedAttr) && type.getElementType().isInteger(32) &&
         (type.getDimSize(0) == 2 || type.getDimSize(0) == 4);
}

SmallVector<unsigned> mlir::sgd::findInputsWithRows(func::FuncOp function, const Roles& roles,
                                                    const llvm::StringSet<>& state) {
  SmallVector<unsigned> inputs;
  for (auto [index, role] : llvm::enumerate(roles.arguments)) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
    auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
    if (role != Role::Input || (name && state.contains(name.getValue()))) continue;
    if (type.getRank() > 0 && type.getDimSize(0) > 1 && !isRandomKey(function, index)) inputs.push_back(index);
  }
  return inputs;
}

llvm::StringSet<> mlir::sgd::getStateNames(ArrayRef<func::FuncOp> functions) {
  llvm::StringSet<> names;
  for (func::FuncOp function : SmallVector<func::FuncOp>(functions))
    for (auto [index, role] : llvm::enumerate(findRoles(function).arguments))
      if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr); name && role != Role::Input)
        names.insert(name.getValue());
  return names;
}

static bool shardsRows(func::FuncOp function, unsigned argument) {
  auto sharding = function.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr);
  return sharding && !sharding.getDims().front().getAxes().empty();
}

FailureOr<bool> mlir::sgd::shardBatch(func::FuncOp function, const Recipe& recipe, const Roles& roles,
                                      const RuledArguments& ruled, const llvm::StringSet<>& state) {
  Annotator annotator(function->getParentOfType<ModuleOp>());
  if (failed(annotator.checkAxes(recipe.batch, "batch"))) return failure();
  SmallVector<unsigned> inputs = findInputsWithRows(function, roles, state);
  bool isRuled = llvm::any_of(inputs, [&](unsigned input) { return ruled[input] && shardsRows(function, input); });
  llvm::erase_if(inputs, [&](unsigned input) { return ruled[input]; });
  auto getRows = [&](unsigned input) {
    return cast<RankedTensorType>(function.getArgumentTypes()[input]).getDimSize(0);
  };
  for (unsigned input : inputs)
    if (getRows(input) != getRows(inputs.front()))
      return LogicalResult(annotator.error()
                           << "field 'batch': " << getArgumentName(function, inputs.front()) << " has "
                           << getRows(inputs.front()) << " rows and " << getArgumentName(function, input) << " has "
                           << getRows(input)
                           << "; expected inputs of one batch; give those that are not of it a rule, such as "
                              "{\"tensor\": \"mask\", \"sharding\": [null, null]}");
  for (unsigned input : inputs) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[input]);
    SmallVector<RecipeDim> dims(type.getRank(), RecipeDim{{}, /*isOpen=*/true});
    dims.front() = {recipe.batch, /*isOpen=*/false};
    FailureOr<ShardingAttr> sharding = annotator.getSharding(dims, "batch");
    if (failed(sharding)) return failure();
    annotator.annotateArgument(function, input, *sharding);
  }
  return isRuled || !inputs.empty();
}
