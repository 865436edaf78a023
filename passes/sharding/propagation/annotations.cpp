// Collects the user's shardings.
#include "passes/sharding/propagation/annotations.h"

#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

static std::string nameOr(StringAttr name, const Twine& otherwise) {
  return name ? ("'" + name.getValue() + "'").str() : otherwise.str();
}

static LogicalResult check(Location loc, const std::string& name, ShardingAttr sharding, const MeshAxes& mesh) {
  if (sharding.getMesh() != mesh.getName())
    return emitError(loc) << name << " is sharded over mesh " << sharding.getMesh() << ", but the program's mesh is "
                          << mesh.getName() << "; use one mesh";
  return success();
}

/// By result: the argument whose buffer it takes and whose type it has; else null.
static SmallVector<BlockArgument> getAliasedArguments(func::FuncOp function) {
  SmallVector<BlockArgument> aliased(function.getNumResults());
  for (BlockArgument argument : function.getArguments()) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kAliasOutputAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!alias || !type || alias.getInt() < 0 || alias.getInt() >= static_cast<int64_t>(aliased.size())) continue;
    auto resultType = dyn_cast<RankedTensorType>(function.getResultTypes()[alias.getInt()]);
    BlockArgument& first = aliased[alias.getInt()];
    if (!first && resultType && withSharding(type, {}) == withSharding(resultType, {})) first = argument;
  }
  return aliased;
}

SmallVector<BlockArgument> mlir::sgd::getNextArguments(func::FuncOp function) {
  SmallVector<BlockArgument> next(function.getNumResults());
  llvm::DenseSet<Value> taken;
  for (unsigned result = 0; result < next.size(); ++result)
    if (std::optional<unsigned> carried = getCarriedArgument(function, result))
      taken.insert(next[result] = function.getArgument(*carried));
  for (auto [argument, aliased] : llvm::zip(next, getAliasedArguments(function)))
    if (!argument && aliased && !taken.contains(aliased)) argument = aliased;
  return next;
}

void mlir::sgd::doubtReshardedCarries(func::FuncOp function) {
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    std::optional<unsigned> argument = getCarriedArgument(function, result);
    if (!argument) continue;
    ShardingAttr before = getSharding(function.getArgumentTypes()[*argument]),
                 after = function.getResultAttrOfType<ShardingAttr>(result, kShardingAttr);
    if (before == after) continue;
    std::string why;
    llvm::raw_string_ostream(why) << "the result is sharded as " << after << ", the argument as " << before;
    Builder builder(function.getContext());
    function.setArgAttr(*argument, kCarryDoubtAttr, builder.getStringAttr(why));
    function.setArgAttr(*argument, kCarryCandidateAttr, builder.getI64IntegerAttr(result));
    function.removeResultAttr(result, builder.getStringAttr(kCarryAttr));
    function.removeResultAttr(result, builder.getStringAttr(kCarryBasisAttr));
  }
}

/// The user's sharding of each result; where there is none, that of the argument that it becomes in the next
/// step, since it should not be resharded in between.
static SmallVector<ShardingAttr> resultShardings(func::FuncOp function) {
  SmallVector<ShardingAttr> shardings(function.getNumResults());
  for (auto [result, argument] : llvm::enumerate(getNextArguments(function))) {
    shardings[result] = function.getResultAttrOfType<ShardingAttr>(result, kShardingAttr);
    if (argument && !shardings[result])
      shardings[result] = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
  }
  return shardings;
}

FailureOr<SmallVector<Annotation>> mlir::sgd::collectAnnotations(func::FuncOp function, const MeshAxes& mesh) {
  SmallVector<Annotation> annotations;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto sharding = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    if (!sharding) continue;
    std::string name = nameOr(function.getArgAttrOfType<StringAttr>(index, kNameAttr), "argument " + Twine(index));
    if (failed(check(argument.getLoc(), name, sharding, mesh))) return failure();
    if (sharding.isPartial())
      return emitError(argument.getLoc())
             << name << " is sharded as " << sharding
             << ": only values inside a program can be unreduced; drop 'unreduced', or compile "
                "with --keep-unreduced";
    annotations.push_back({argument, 0, sharding});
  }
  for (auto [index, sharding] : llvm::enumerate(resultShardings(function))) {
    if (!sharding) continue;
    std::string name = nameOr(function.getResultAttrOfType<StringAttr>(index, kNameAttr), "result " + Twine(index));
    if (failed(check(function.getLoc(), name, sharding, mesh))) return failure();
    annotations.push_back({Value(), static_cast<unsigned>(index), sharding});
  }
  SmallVector<ShardingConstraintOp> constraints;
  function.walk([&](ShardingConstraintOp constraint) { constraints.push_back(constraint); });
  for (ShardingConstraintOp constraint : constraints) {
    if (failed(check(constraint.getLoc(), "the constrained value", constraint.getSharding(), mesh))) return failure();
    annotations.push_back({constraint.getResult(), 0, constraint.getSharding()});
  }
  return annotations;
}
