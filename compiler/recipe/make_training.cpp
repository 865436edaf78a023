// The pass sgd-make-training.
#include "compiler/recipe/glob.h"
#include "compiler/recipe/group_statistics.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/tensor_names.h"
#include "dialects/sgd/stages.h"
#include "passes/graph/autodiff/derivative_rule.h"
#include "passes/graph/training/training_programs.h"
#include "passes/sharding/manual/batch_rule.h"

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

/// A scope that must have something, such as ops that stay in f32.
struct UsedScope {
  ScopeGlob glob;
  bool isUsed = false;
};

FailureOr<std::vector<UsedScope>> parseScopes(ArrayRef<std::string> patterns, MLIRContext* context, StringRef field) {
  FailureOr<std::vector<ScopeGlob>> globs = parseGlobs<ScopeGlob>(patterns, context, field);
  if (failed(globs)) return failure();
  std::vector<UsedScope> scopes;
  for (ScopeGlob& glob : *globs) scopes.push_back({std::move(glob)});
  return scopes;
}

bool isInAny(std::vector<UsedScope>& scopes, Operation* op) {
  std::string scope = getScope(op->getLoc()).path;
  auto own = llvm::find_if(scopes, [&](const UsedScope& one) { return !one.glob.findIn(scope).empty(); });
  return own != scopes.end() && (own->isUsed = true);
}

/// The axes that the program will have: its own, those of the recipe behind others, with the sizes of the flag.
std::vector<MeshAxisSize> getAxes(ModuleOp program, const Requested& requested) {
  const Recipe& recipe = *requested.recipe;
  std::vector<MeshAxisSize> axes;
  auto find = [](const std::vector<MeshAxisSize>& list, StringRef name) {
    return llvm::find_if(list, [&](const MeshAxisSize& axis) { return axis.name == name; });
  };
  MeshOp mesh = getMesh(program);
  if (mesh && recipe.keepsAnnotations)
    for (MeshAxisAttr axis : mesh.getMesh().getAxes())
      if (find(recipe.mesh, axis.getName()) == recipe.mesh.end())
        axes.push_back({axis.getName().str(), axis.getSize()});
  axes.insert(axes.end(), recipe.mesh.begin(), recipe.mesh.end());
  for (MeshAxisSize& axis : axes)
    if (auto given = find(requested.options.mesh, axis.name); given != requested.options.mesh.end())
      axis.size = given->size;
  return axes;
}

/// Globs of the rules that say how tensors are sharded.
FailureOr<Globs> parseRules(const Recipe& recipe, MLIRContext* context) {
  Globs globs;
  for (const RecipeRule& rule : recipe.rules) {
    if (rule.tensor.empty() || rule.kind == RecipeRule::Kind::Batch) continue;
    FailureOr<Globs> own = parseGlobs<TensorGlob>(rule.tensor, context, rule.path);
    if (failed(own)) return failure();
    for (TensorGlob& glob : *own) globs.push_back(std::move(glob));
  }
  return globs;
}

/// The ranks that have the batch share the matrices. No stacks are shared between stages, which have other matrices,
/// and over compressed axes, where updates are not sharded.
FailureOr<MatrixRanks> getMatrixRanks(ModuleOp program, const Requested& requested) {
  const Recipe& recipe = *requested.recipe;
  std::vector<MeshAxisSize> axes = getAxes(program, requested);
  MatrixRanks ranks{.axes = recipe.batch, .isPlaced = {}, .cost = {}, .parts = {}};
  for (const std::string& name : recipe.batch) {
    auto axis = llvm::find_if(axes, [&](const MeshAxisSize& axis) { return axis.name == name; });
    if (axis == axes.end()) return MatrixRanks();  // an error of sgd-annotate
    ranks.size *= axis->size;
    ranks.parts.push_back({static_cast<unsigned>(axis - axes.begin()), 1, axis->size});
  }
  if (ranks.size < 2) return MatrixRanks();
  ranks.stacks = !recipe.stages && !getStageAxis(getMesh(program)) && recipe.compress.empty();
  ranks.shardsState = recipe.zero > 0;
  ranks.shardsParameters = recipe.zero == 3;
  StringRef name = requested.options.topology;
  llvm::Expected<Topology> topology = loadTopology(name.empty() ? "host" : name);
  if (!topology) return emitError(program.getLoc()) << llvm::toString(topology.takeError()), failure();
  MeshSizes sizes;
  for (const MeshAxisSize& axis : axes) sizes.push_back(axis.size);
  ranks.cost = std::make_shared<CostModel>(std::move(*topology), sizes);
  FailureOr<Globs> rules = parseRules(recipe, program.getContext());
  if (failed(rules)) return failure();
  auto shared = std::make_shared<Globs>(std::move(*rules));
  ranks.isPlaced = [shared, axes, keeps = recipe.keepsAnnotations](StringRef name, ArrayRef<StringRef> used) {
    auto isSharding = [&](const MeshAxisSize& axis) { return axis.size > 1 && llvm::is_contained(used, axis.name); };
    return matchesAny(*shared, name) || (keeps && llvm::any_of(axes, isSharding));
  };
  return ranks;
}

struct MakeTrainingPass : mlir::sgd::impl::MakeTrainingPassBase<MakeTrainingPass> {
  using MakeTrainingPassBase::MakeTrainingPassBase;

  void getDependentDialects(DialectRegistry& registry) const final {
    MakeTrainingPassBase::getDependentDialects(registry);
    registerDerivativeRules(registry);
    registerBatchRules(registry);
  }

  void runOnOperation() final {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe || !requested->recipe->train) {
      getOperation()->walk([](func::FuncOp function) {
        resolveModes(function, /*trains=*/true);
        dropStatisticsMarks(function);
      });
      return;
    }
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    if (failed(make(*requested))) signalPassFailure();
  }

  LogicalResult make(const Requested& requested) {
    const RecipeTraining& training = *requested.recipe->train;
    const RecipePrecision& precision = requested.recipe->precision;
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
    if (failed(checkMatches(training.noDecay, *noDecay, programs.front(), *parameters))) return failure();
    std::vector<Group> groups;
    for (const RecipeParameterGroup& group : training.groups) {
      FailureOr<Globs> globs = parseGlobs<TensorGlob>(group.globs, &getContext(), "train.optimizer.groups");
      if (failed(globs)) return failure();
      groups.push_back({std::move(*globs), group.optimizer});
    }
    FailureOr<std::vector<UsedScope>> wideScopes = parseScopes(precision.wideScopes, &getContext(), "precision.scopes");
    FailureOr<std::vector<UsedScope>> normScopes =
        parseScopes(training.batchNorm.scopes, &getContext(), "train.batch_norm.scopes");
    if (failed(wideScopes) || failed(normScopes)) return failure();
    FailureOr<MatrixRanks> matrixRanks = getMatrixRanks(programs.front(), requested);
    if (failed(matrixRanks)) return failure();
    TrainingSettings settings{.schedule = training.schedule,
                              .loss = training.loss,
                              .precision = precision.settings,
                              .metrics = training.metrics,
                              .average = training.average,
                              .clipNorm = training.clipNorm,
                              .clipValue = training.clipValue,
                              .matrixRanks = std::move(*matrixRanks),
                              .isParameter = {},
                              .getParameterSettings = {},
                              .staysWide = {},
                              .groupStatistics = {}};
    settings.staysWide = [&](Operation* op) { return isInAny(*wideScopes, op); };
    if (training.batchNorm.isPerRank)
      settings.groupStatistics = [&](func::FuncOp function) {
        FailureOr<int64_t> groups = countGroups(requested, programs.front());
        if (failed(groups)) return failure();
        return groupStatistics(function, *groups, [&](Operation* op) {
          return op->hasAttr(kBatchStatisticsAttr) || isInAny(*normScopes, op);
        });
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
    if (failed(checkScopes(training.batchNorm.scopes, *normScopes, "train.batch_norm.scopes", "statistic")))
      return failure();
    return checkUse(training, groups, precision, *wideScopes);
  }

  /// The blocks of rows that a rank computes in a micro-batch, each with statistics of its own.
  FailureOr<int64_t> countGroups(const Requested& requested, ModuleOp program) {
    const PlanOptions& options = requested.options;
    int64_t groups = options.sequential ? options.sequential->size : 1;
    MeshOp own = getMesh(program);
    if (requested.recipe->batch.empty() && (own || !requested.recipe->mesh.empty()))
      return LogicalResult(emitError(UnknownLoc::get(&getContext()))
                           << "field 'train.batch_norm': the rows of a rank follow from the field 'batch', which is "
                              "not there; name the axes over which the batch is sharded, or take \"global\"");
    for (const std::string& name : requested.recipe->batch) {
      std::optional<int64_t> size;
      if (own)
        if (std::optional<unsigned> axis = own.getMesh().getAxisIndex(name))
          size = own.getMesh().getAxes()[*axis].getSize();
      for (const std::vector<MeshAxisSize>* sizes : {&requested.recipe->mesh, &options.mesh})
        for (const MeshAxisSize& axis : *sizes)
          if (axis.name == name) size = axis.size;
      groups *= size.value_or(1);  // an axis that is missing is refused where the batch is sharded
    }
    return groups;
  }

  /// Refuses a glob that matches no parameter, as a misspelt one does.
  LogicalResult checkMatches(ArrayRef<std::string> patterns, ArrayRef<TensorGlob> globs, ModuleOp program,
                             const Globs& parameters) {
    func::FuncOp function = getProgramFunctions(program).front();
    std::vector<std::string> names;
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (std::string name = getInputName(function, argument);
          getRole(function, argument) == Role::Parameter || matchesAny(parameters, name))
        names.push_back(std::move(name));
    for (auto [pattern, glob] : llvm::zip(patterns, globs)) {
      if (llvm::any_of(names, [&](const std::string& name) { return glob.matches(name); })) continue;
      std::string plain = TensorGlob::normalizeName(pattern);
      llvm::erase(plain, '*');
      auto normalized =
          llvm::map_to_vector(names, [](const std::string& name) { return TensorGlob::normalizeName(name); });
      SmallVector<StringRef> known(normalized.begin(), normalized.end());
      StringRef nearest = findNearestName(plain, known);
      InFlightDiagnostic error = emitError(UnknownLoc::get(&getContext()))
                                 << "field 'train.optimizer.no_decay': '" << pattern << "' matches no parameter; ";
      if (nearest.empty()) return error << "expected names of parameters; correct it, or leave it out";
      return error << "did you mean '" << nearest << "'?";
    }
    return success();
  }

  LogicalResult checkScopes(ArrayRef<std::string> globs, ArrayRef<UsedScope> scopes, StringRef field, StringRef what) {
    for (auto [glob, scope] : llvm::zip(globs, scopes))
      if (!scope.isUsed)
        return emitError(UnknownLoc::get(&getContext()))
               << "field '" << field << "': no " << what << " is in the scope '" << glob
               << "'; expected a scope of the model; correct it, or leave it out";
    return success();
  }

  /// Refuses what decides nothing: a name that is misspelt.
  LogicalResult checkUse(const RecipeTraining& training, ArrayRef<Group> groups, const RecipePrecision& precision,
                         ArrayRef<UsedScope> wideScopes) {
    auto error = [&] { return emitError(UnknownLoc::get(&getContext())); };
    for (auto [number, group] : llvm::enumerate(groups))
      if (!group.isUsed)
        return error() << "field 'train.optimizer.groups[" << number << "].match' is '"
                       << llvm::join(training.groups[number].globs, "', '")
                       << "', which matches no parameter that is trained and that no group before it matches; expected "
                          "names of parameters; correct it, or leave the group out";
    if (!precision.settings.compute) return success();
    return checkScopes(precision.wideScopes, wideScopes, "precision.scopes", "op that would be narrower");
  }
};

}  // namespace
