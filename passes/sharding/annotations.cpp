// Collects the user's shardings.
#include "passes/sharding/annotations.h"

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

/// What the user wrote for each result; where that is nothing, what he wrote for the argument whose
/// buffer it takes: the result is that argument on the next step, and should not be resharded in
/// between.
static SmallVector<ShardingAttr> resultShardings(func::FuncOp function) {
  SmallVector<ShardingAttr> shardings(function.getNumResults());
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(argument, kAliasOutputAttr);
    if (!alias || alias.getInt() < 0 || alias.getInt() >= function.getNumResults()) continue;
    if (function.getArgumentTypes()[argument] == function.getResultTypes()[alias.getInt()])
      shardings[alias.getInt()] = function.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr);
  }
  for (auto [index, sharding] : llvm::enumerate(shardings))
    if (auto own = function.getResultAttrOfType<ShardingAttr>(index, kShardingAttr)) sharding = own;
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
    annotations.push_back({argument, 0, sharding});
  }
  for (auto [index, sharding] : llvm::enumerate(resultShardings(function))) {
    if (!sharding) continue;
    std::string name = nameOr(function.getResultAttrOfType<StringAttr>(index, kNameAttr), "result " + Twine(index));
    if (failed(check(function.getLoc(), name, sharding, mesh))) return failure();
    annotations.push_back({Value(), static_cast<unsigned>(index), sharding});
  }
  for (auto constraint : function.getOps<ShardingConstraintOp>()) {
    if (failed(check(constraint.getLoc(), "the constrained value", constraint.getSharding(), mesh))) return failure();
    annotations.push_back({constraint.getResult(), 0, constraint.getSharding()});
  }
  return annotations;
}
