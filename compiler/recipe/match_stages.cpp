// The pass sgd-match-stages: globs of stages against names of arguments and against scopes of what reads them.
#include "compiler/recipe/glob.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "compiler/recipe/stage_axis.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/stages.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MATCHSTAGESPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// One entry of the recipe's list.
struct StageMatch {
  TensorGlob tensor;
  ScopeGlob scope;
  bool decides = false;
};

class StageRules {
 public:
  StageRules(MLIRContext* context, const Recipe& recipe) : context(context), recipe(recipe) {}

  LogicalResult parse();
  void apply(func::FuncOp function);
  LogicalResult checkUsed(ArrayRef<func::FuncOp> functions);

 private:
  std::optional<unsigned> findByName(func::FuncOp function, unsigned argument);
  std::optional<unsigned> findByScope(BlockArgument argument);
  InFlightDiagnostic error() { return emitError(UnknownLoc::get(context)); }

  MLIRContext* context;
  const Recipe& recipe;
  std::vector<StageMatch> matches;
};

}  // namespace

LogicalResult StageRules::parse() {
  for (auto [index, text] : llvm::enumerate(recipe.stages->matches)) {
    auto refuse = [&](llvm::Error why) {
      return error() << "field 'stages[" << index << "].match' is '" << text
                     << "', which is no glob: " << llvm::toString(std::move(why));
    };
    llvm::Expected<TensorGlob> tensor = TensorGlob::parse(text);
    if (!tensor) return refuse(tensor.takeError());
    llvm::Expected<ScopeGlob> scope = ScopeGlob::parse(text);
    if (!scope) return refuse(scope.takeError());
    matches.push_back({std::move(*tensor), std::move(*scope)});
  }
  return success();
}

std::optional<unsigned> StageRules::findByName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  if (!name) return std::nullopt;
  for (auto [index, match] : llvm::enumerate(matches))
    if (match.tensor.matches(name.getValue())) return static_cast<unsigned>(index);
  return std::nullopt;
}

std::optional<unsigned> StageRules::findByScope(BlockArgument argument) {
  std::optional<unsigned> first;
  for (Operation* user : argument.getUsers()) {
    Scope scope = getScope(user->getLoc());
    if (scope.isBackward) continue;
    for (auto [index, match] : llvm::enumerate(matches))
      if (!match.scope.findIn(scope.path).empty()) {
        first = std::min(first.value_or(index), static_cast<unsigned>(index));
        break;
      }
  }
  return first;
}

void StageRules::apply(func::FuncOp function) {
  Builder builder(context);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::optional<unsigned> stage = findByName(function, index);
    if (!stage && isState(getRole(function, index))) stage = findByScope(argument);
    if (!stage) continue;
    matches[*stage].decides = true;
    function.setArgAttr(index, kStageAttr, builder.getI64IntegerAttr(*stage));
  }
}

LogicalResult StageRules::checkUsed(ArrayRef<func::FuncOp> functions) {
  for (auto [index, match] : llvm::enumerate(matches)) {
    if (match.decides) continue;
    SmallVector<StringRef> names;
    for (func::FuncOp function : functions)
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr)) names.push_back(name.getValue());
    const std::string& text = recipe.stages->matches[index];
    InFlightDiagnostic message = error() << "field 'stages[" << index << "].match': '" << text
                                         << "' decides no parameter: none has such a name or is read in such a scope, "
                                            "or earlier stages match all of them";
    StringRef nearest = findNearestName(text, names);
    return nearest.empty() ? message << "; expected a parameter for each stage"
                           : message << "; the nearest name is " << nearest;
  }
  return success();
}

/// Warns of a pipeline whose stages compute one after the other.
static void warnOfOneMicroBatch(MLIRContext* context, const PlanOptions& options, const Recipe& recipe) {
  if (recipe.stages->count == 1 || options.sequential || options.isForSimulation) return;
  emitWarning(UnknownLoc::get(context))
      << "field 'stages' without 'sequential': with one micro-batch, only one stage computes at a time; add "
         "\"sequential\": {\"micro\": 8}, or another number of micro-batches";
}

static LogicalResult matchStages(ArrayRef<ModuleOp> programs, const Recipe& recipe) {
  FailureOr<bool> hasStages = setStageAxis(programs, recipe);
  if (failed(hasStages) || !*hasStages) return failure(failed(hasStages));
  StageRules rules(ModuleOp(programs.front()).getContext(), recipe);
  if (failed(rules.parse())) return failure();
  SmallVector<func::FuncOp> functions = getProgramFunctions(programs);
  for (func::FuncOp function : functions) rules.apply(function);
  return rules.checkUsed(functions);
}

namespace {
struct MatchStagesPass : mlir::sgd::impl::MatchStagesPassBase<MatchStagesPass> {
  using MatchStagesPassBase::MatchStagesPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe || !requested->recipe->stages) return;
    const Recipe& recipe = *requested->recipe;
    FileOfDiagnostics file(&getContext(), recipe.fileName);
    if (!recipe.stages->matches.empty() && failed(matchStages(getPrograms(getOperation()), recipe)))
      return signalPassFailure();
    warnOfOneMicroBatch(&getContext(), requested->options, recipe);
  }
};
}  // namespace
