// The pass sgd-drop-annotations: the text of a step as it would be for one device.
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stages.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_DROPANNOTATIONSPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

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

namespace {
struct DropAnnotationsPass : mlir::sgd::impl::DropAnnotationsPassBase<DropAnnotationsPass> {
  using DropAnnotationsPassBase::DropAnnotationsPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe || requested->recipe->keepsAnnotations) return;
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    if (llvm::any_of(programs, [](ModuleOp program) { return program->hasAttr(kWasManualAttr); })) {
      emitError(UnknownLoc::get(&getContext()))
          << "field 'annotations' ignores the mesh of the model, and parts of the model are written for one rank of "
             "it (jax.shard_map); expected a step of whole tensors; write these parts without it, or keep annotations";
      return signalPassFailure();
    }
    for (ModuleOp program : programs) {
      for (auto function : program.getOps<func::FuncOp>()) dropFrom(function);
      if (MeshOp mesh = getMesh(program)) mesh.erase();
    }
  }
};
}  // namespace
