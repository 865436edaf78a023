// The text of a step as it would be for one device.
#include "compiler/recipe/apply.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/stages.h"

using namespace mlir;
using namespace mlir::sgd;

/// Of arguments and results, what means something on a mesh alone.
static constexpr llvm::StringLiteral kAnnotations[] = {kShardingAttr, kStageAttr, kSequentialDimAttr};

static DictionaryAttr dropFrom(DictionaryAttr attributes, MLIRContext* context) {
  NamedAttrList kept(attributes);
  for (StringRef annotation : kAnnotations) kept.erase(annotation);
  return kept.getDictionary(context);
}

static void dropFrom(func::FuncOp function) {
  MLIRContext* context = function.getContext();
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    ofArguments.push_back(dropFrom(function.getArgAttrDict(i), context));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    ofResults.push_back(dropFrom(function.getResultAttrDict(i), context));
  function.setAllArgAttrs(ofArguments);
  function.setAllResultAttrs(ofResults);
  function.walk([](ShardingConstraintOp constraint) {
    constraint.replaceAllUsesWith(constraint.getOperand());
    constraint.erase();
  });
}

LogicalResult mlir::sgd::dropAnnotations(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe,
                                         bool isLocal) {
  if (recipe.keepsAnnotations) return success();
  if (isLocal)
    return emitError(UnknownLoc::get(programs.front()->getContext()))
           << "field 'annotations' ignores the mesh of the model, and parts of the model are written for one rank of "
              "it (jax.shard_map); expected a step of whole tensors; write these parts without it, or keep annotations";
  for (OwningOpRef<ModuleOp>& program : programs) {
    for (auto function : program->getOps<func::FuncOp>()) dropFrom(function);
    if (MeshOp mesh = getMesh(*program)) mesh.erase();
  }
  return success();
}
