// The pass sgd-make-training.
#include "compiler/recipe/glob.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/scope.h"
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
template <typename Glob>
FailureOr<std::vector<Glob>> parseGlobs(ArrayRef<std::string> patterns, MLIRContext* context, StringRef field) {
  std::vector<Glob> globs;
  for (const std::string& pattern : patterns) {
    llvm::Expected<Glob> glob = Glob::parse(pattern);
    if (!glob)
      return emitError(UnknownLoc::get(context))
                 << "field '" << field << "': '" << pattern << "' is no glob: " << llvm::toString(glob.takeError()),
             failure();
    globs.push_back(std::move(*glob));
  }
  return globs;
}

using Globs = std::vector<TensorGlob>;

bool matchesAny(const Globs& globs, StringRef name) {
  return llvm::any_of(globs, [&](const TensorGlob& glob) { return glob.matches(name); });
}

/// Globs of which each must match something, and how to update what they match.
struct Group {
  Globs globs;
  OptimizerSettings optimizer;
  bool isUsed = false;
};

/// A scope that stays in f32.
struct WideScope {
  ScopeGlob glob;
  bool isUsed = false;
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
    if (!requested->recipe || !requested->recipe->train) {
      getOperation()->walk([](func::FuncOp function) { resolveModes(function, /*trains=*/true); });
      return;
    }
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    if (failed(make(*requested->recipe->train, requested->recipe->precision))) signalPassFailure();
  }

  LogicalResult make(const RecipeTraining& training, const RecipePrecision& precision) {
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    if (programs.size() != 1 || programs.front() == getOperation())
      return emitError(UnknownLoc::get(&getContext()))
             << "field 'train' makes the programs init, train and eval of one forward model, and there are "
             << programs.size() << " programs; expected one; leave the field out where the programs are there";
    static const std::vector<std::string> kNames = {"params*", "parameters*"};
    FailureOr<Globs> parameters = parseGlobs<TensorGlob>(training.parameters.empty() ? kNames : training.parameters,
                                                         &getContext(), "train.parameters");
    FailureOr<Globs> noDecay = parseGlobs<TensorGlob>(training.noDecay, &getContext(), "train.optimizer.no_decay");
    if (failed(parameters) || failed(noDecay)) return failure();
    std::vector<Group> groups;
    for (const RecipeParameterGroup& group : training.groups) {
      FailureOr<Globs> globs = parseGlobs<TensorGlob>(group.globs, &getContext(), "train.optimizer.groups");
      if (failed(globs)) return failure();
      groups.push_back({std::move(*globs), group.optimizer});
    }
    FailureOr<std::vector<ScopeGlob>> scopes =
        parseGlobs<ScopeGlob>(precision.wideScopes, &getContext(), "precision.scopes");
    if (failed(scopes)) return failure();
    std::vector<WideScope> wideScopes;
    for (ScopeGlob& glob : *scopes) wideScopes.push_back({std::move(glob)});
    TrainingSettings settings{.schedule = training.schedule,
                              .loss = training.loss,
                              .precision = precision.settings,
                              .metrics = training.metrics,
                              .average = training.average,
                              .clipNorm = training.clipNorm,
                              .clipValue = training.clipValue,
                              .isParameter = {},
                              .getParameterSettings = {},
                              .staysWide = {}};
    settings.staysWide = [&](Operation* op) {
      std::string scope = getScope(op->getLoc()).path;
      auto own = llvm::find_if(wideScopes, [&](const WideScope& one) { return !one.glob.findIn(scope).empty(); });
      if (own == wideScopes.end()) return false;
      return own->isUsed = true;
    };
    settings.isParameter = [&](StringRef name) { return matchesAny(*parameters, name); };
    settings.getParameterSettings = [&](StringRef name) {
      auto own = llvm::find_if(groups, [&](const Group& group) { return matchesAny(group.globs, name); });
      bool isDecayed = !matchesAny(*noDecay, name);
      if (own == groups.end()) return ParameterSettings{training.optimizer, isDecayed};
      own->isUsed = true;
      return ParameterSettings{own->optimizer, isDecayed};
    };
    if (failed(makeTrainingPrograms(programs.front(), settings))) return failure();
    return checkUse(training, groups, precision, wideScopes);
  }

  /// Refuses what decides nothing: a name that is misspelt.
  LogicalResult checkUse(const RecipeTraining& training, ArrayRef<Group> groups, const RecipePrecision& precision,
                         ArrayRef<WideScope> wideScopes) {
    auto error = [&] { return emitError(UnknownLoc::get(&getContext())); };
    for (auto [number, group] : llvm::enumerate(groups))
      if (!group.isUsed)
        return error() << "field 'train.optimizer.groups[" << number << "].match' is '"
                       << llvm::join(training.groups[number].globs, "', '")
                       << "', which matches no parameter that is trained and that no group before it matches; expected "
                          "names of parameters; correct it, or leave the group out";
    for (auto [glob, scope] : llvm::zip(precision.wideScopes, wideScopes))
      if (precision.settings.compute && !scope.isUsed)
        return error() << "field 'precision.scopes': no op that would be narrower is in the scope '" << glob
                       << "'; expected a scope of the model; correct it, or leave it out";
    return success();
  }
};

}  // namespace
