// The pass sgd-make-training.
#include "compiler/recipe/glob.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/programs.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/training/training_programs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MAKETRAININGPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Globs of a field; the first that is none is an error.
class Globs {
 public:
  static FailureOr<Globs> parse(ArrayRef<std::string> patterns, MLIRContext* context, StringRef field) {
    Globs globs;
    for (const std::string& pattern : patterns) {
      llvm::Expected<TensorGlob> glob = TensorGlob::parse(pattern);
      if (!glob)
        return emitError(UnknownLoc::get(context))
                   << "field '" << field << "': '" << pattern << "' is no glob: " << llvm::toString(glob.takeError()),
               failure();
      globs.list.push_back(std::move(*glob));
    }
    return globs;
  }
  bool match(StringRef name) const {
    return llvm::any_of(list, [&](const TensorGlob& glob) { return glob.matches(name); });
  }

 private:
  std::vector<TensorGlob> list;
};

struct MakeTrainingPass : mlir::sgd::impl::MakeTrainingPassBase<MakeTrainingPass> {
  using MakeTrainingPassBase::MakeTrainingPassBase;

  void getDependentDialects(DialectRegistry& registry) const final {
    MakeTrainingPassBase::getDependentDialects(registry);
    registerDerivativeRules(registry);
  }

  void runOnOperation() final {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe || !requested->recipe->train) return;
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    if (failed(make(*requested->recipe->train))) signalPassFailure();
  }

  LogicalResult make(const RecipeTraining& training) {
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    if (programs.size() != 1 || programs.front() == getOperation())
      return emitError(UnknownLoc::get(&getContext()))
             << "field 'train' makes the programs init, train and eval of one forward model, and there are "
             << programs.size() << " programs; expected one; leave the field out where the programs are there";
    static const std::vector<std::string> kNames = {"params*", "parameters*"};
    FailureOr<Globs> parameters =
        Globs::parse(training.parameters.empty() ? kNames : training.parameters, &getContext(), "train.parameters");
    FailureOr<Globs> noDecay = Globs::parse(training.noDecay, &getContext(), "train.optimizer.no_decay");
    if (failed(parameters) || failed(noDecay)) return failure();
    TrainingSettings settings{
        training.optimizer, training.schedule, training.loss, training.clipNorm, training.clipValue, {}, {}};
    settings.isParameter = [&](StringRef name) { return parameters->match(name); };
    settings.isDecayed = [&](StringRef name) { return !noDecay->match(name); };
    return makeTrainingPrograms(programs.front(), settings);
  }
};

}  // namespace
