// Globs of stages against names of arguments and against scopes of what reads them.
#include "compiler/recipe/stages.h"

#include "compiler/recipe/glob.h"
#include "compiler/recipe/roles.h"
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/scope.h"
#include "dialects/sgd/stages.h"
#include "passes/stages/pipeline_schedule.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kAxisName = "stage";

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
  Roles roles = findRoles(function);
  Builder builder(context);
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::optional<unsigned> stage = findByName(function, index);
    if (!stage && roles.arguments[index] != Role::Input) stage = findByScope(argument);
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

/// The number of stages: with a list, an entry is a chunk of a stage.
static FailureOr<PipelineForm> getForm(const Recipe& recipe, llvm::function_ref<InFlightDiagnostic()> error) {
  // Its name was read already. Where there is a choice, the first one has one chunk on a stage.
  StringRef first = getScheduleChoices(recipe.schedule).front();
  PipelineForm form = llvm::cantFail(parseSchedule(first, recipe.stages->count));
  if (recipe.stages->matches.empty() || form.numChunks == 1) return form;
  if (recipe.stages->count % form.numChunks != 0)
    return LogicalResult(error() << "field 'stages' lists " << recipe.stages->count << " chunks, but schedule '"
                                 << recipe.schedule << "' has " << form.numChunks
                                 << " on each stage; expected a multiple of it");
  form.numStages = recipe.stages->count / form.numChunks;
  return form;
}

FailureOr<unsigned> mlir::sgd::getNumVirtualStages(const Recipe& recipe, MLIRContext* context) {
  FailureOr<PipelineForm> form = getForm(recipe, [&] { return emitError(UnknownLoc::get(context)); });
  if (failed(form)) return failure();
  return form->getNumVirtualStages();
}

LogicalResult mlir::sgd::applyStages(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe) {
  if (!recipe.stages) return success();
  MLIRContext* context = programs.front()->getContext();
  auto error = [&] { return emitError(UnknownLoc::get(context)); };
  FailureOr<PipelineForm> form = getForm(recipe, error);
  if (failed(form)) return failure();
  if (form->numStages == 1 && form->numChunks == 1) return success();
  StageRules rules(context, recipe);
  if (failed(rules.parse())) return failure();
  SmallVector<func::FuncOp> functions;
  for (OwningOpRef<ModuleOp>& program : programs) {
    MeshOp mesh = getMesh(*program);
    if (mesh && mesh.getMesh().getAxisIndex(kAxisName))
      return error() << "field 'stages': the mesh has an axis '" << kAxisName
                     << "' already; give that one another name, the stages are an axis of their own";
    if (!mesh) {
      OpBuilder builder = OpBuilder::atBlockBegin(program->getBody());
      mesh = MeshOp::create(builder, program->getLoc(), kMeshName, MeshAttr::get(context, {}));
    }
    auto stages = MeshAxisAttr::get(context, kAxisName, form->numStages);
    SmallVector<MeshAxisAttr> axes(mesh.getMesh().getAxes());
    axes.push_back(stages);
    if (failed(MeshAttr::verify([&] { return error() << "field 'stages': with its stages, the "; }, axes)))
      return failure();
    mesh->setAttr(kStagesAttr, stages);
    if (!recipe.schedule.empty()) mesh->setAttr(kScheduleAttr, StringAttr::get(context, recipe.schedule));
    functions.push_back(*program->getOps<func::FuncOp>().begin());
    rules.apply(functions.back());
  }
  return rules.checkUsed(functions);
}
