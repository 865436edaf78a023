#include "compiler/auto_sharding/step_facts.h"

#include <map>
#include <set>

#include "compiler/auto_sharding/dim_groups.h"
#include "compiler/recipe/batch.h"
#include "compiler/recipe/glob.h"
#include "compiler/recipe/recipe_json.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_layout.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class FactFinder {
 public:
  explicit FactFinder(ArrayRef<ModuleOp> programs) : functions(getProgramFunctions(programs)) {}

  FailureOr<StepFacts> run();

 private:
  InFlightDiagnostic error() { return emitError(step.getLoc()); }
  LogicalResult findStep();
  LogicalResult findBatch();
  void findTensors();
  void addOtherPrograms();

  SmallVector<func::FuncOp> functions;
  func::FuncOp step;
  std::vector<GroupedTensor> tensors;  // by argument
  StepFacts facts;
};

}  // namespace

LogicalResult FactFinder::findStep() {
  step = functions.front();
  auto found = llvm::find_if(functions, [](func::FuncOp function) { return carriesState(function); });
  if (found == functions.end())
    return error() << "--auto looks for shardings of a train step, and no result is known to be an argument of the "
                      "next step; expected one that carries its parameters; return what steps change, named or "
                      "donated as arguments, or, for a forward model, give a --recipe with a field 'train'";
  step = *found;
  return success();
}

/// As globs of recipes match it.
static std::string getTensorName(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? TensorGlob::normalizeName(name.getValue()) : "arg" + std::to_string(argument);
}

void FactFinder::findTensors() {
  for (unsigned argument = 0; argument < step.getNumArguments(); ++argument) {
    auto type = cast<RankedTensorType>(step.getArgumentTypes()[argument]);
    Role role = getRole(step, argument);
    GroupedTensor tensor;
    tensor.name = getTensorName(step, argument);
    tensor.shape = type.getShape();
    tensor.isShardable = role != Role::OptimizerState;
    if (isReadByLoss(role)) tensor.bytes = getByteSize(type);
    facts.names.push_back(tensor.name);
    facts.shapes.push_back(tensor.shape);
    tensors.push_back(std::move(tensor));
  }
}

namespace {
struct Batch {
  int64_t rows = 0;  // 0: there are no inputs with rows
  std::vector<unsigned> inputs, others;
};
}  // namespace

/// Of inputs with different numbers of rows, the batch is those of most bytes.
static Batch chooseBatch(func::FuncOp function, ArrayRef<RowsOfInput> inputs) {
  std::map<int64_t, std::vector<unsigned>> byRows;
  std::map<int64_t, uint64_t> bytes;
  for (RowsOfInput input : inputs) {
    byRows[getRows(function, input)].push_back(input.argument);
    bytes[getRows(function, input)] += getByteSize(function.getArgumentTypes()[input.argument]);
  }
  Batch batch;
  for (auto [rows, size] : bytes)
    if (batch.rows == 0 || size > bytes[batch.rows]) batch.rows = rows;
  for (auto& [rows, found] : byRows) llvm::append_range(rows == batch.rows ? batch.inputs : batch.others, found);
  return batch;
}

LogicalResult FactFinder::findBatch() {
  Batch batch = chooseBatch(step, findInputsWithRows(step));
  if (batch.rows == 0)
    return error() << "--auto shards the batch, and the step has no input with rows; expected tensors that each step "
                      "is fed, of an example in each row; feed the batch as an argument";
  facts.rows = batch.rows;
  facts.batch = std::move(batch.inputs);
  facts.others = std::move(batch.others);
  return success();
}

/// An evaluation may be fed what is not of its batch, which rules say too.
void FactFinder::addOtherPrograms() {
  std::set<std::string> known(facts.names.begin(), facts.names.end());
  for (func::FuncOp function : functions) {
    if (function == step) continue;
    Batch batch = chooseBatch(function, findInputsWithRows(function));
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
      if (!known.insert(getTensorName(function, argument)).second) continue;
      if (llvm::is_contained(batch.others, argument)) facts.others.push_back(facts.names.size());
      facts.names.push_back(getTensorName(function, argument));
      facts.shapes.push_back(cast<RankedTensorType>(function.getArgumentTypes()[argument]).getShape());
    }
  }
}

FailureOr<StepFacts> FactFinder::run() {
  if (failed(findStep())) return failure();
  findTensors();
  if (failed(findBatch())) return failure();
  std::vector<ArgumentDim> rows;
  for (unsigned input : facts.batch) rows.push_back({input, 0});
  facts.groups = groupDims(findLogicalDims(step), tensors, rows);
  addOtherPrograms();
  return std::move(facts);
}

/// Whether all candidates but the text's own can be without its mesh.
static LogicalResult checkWhole(ArrayRef<ModuleOp> programs, MeshOp mesh) {
  auto error = [&] { return emitError(UnknownLoc::get(mesh.getContext())) << "--auto: "; };
  if (getStageAxis(mesh))
    return error() << "the model is written by stages for its mesh; expected whole programs, of which --auto forms "
                      "stages itself; leave --auto out";
  if (llvm::any_of(programs, [](ModuleOp program) { return program->hasAttr(kWasManualAttr); }))
    return error() << "parts of the model are written for one rank of its mesh (jax.shard_map); expected a step of "
                      "whole tensors; write these parts without it, or leave --auto out";
  return success();
}

/// Fields of a recipe that describe the programs rather than how they run.
static constexpr StringRef kGivenFields[] = {"train", "precision", "loss"};

llvm::Expected<RecipeFields> mlir::sgd::readGivenFields(const CompileOptions& options) {
  RecipeFields fields;
  if (options.recipe.empty()) return fields;
  auto wrong = [&](const Twine& message) { return fail(options.recipeFile + ": error: " + message); };
  // Values and names are checked as those of any recipe.
  if (llvm::Expected<Recipe> recipe = parseRecipe(options.recipe, options.recipeFile); !recipe)
    return wrong(llvm::toString(recipe.takeError()));
  nlohmann::ordered_json object = llvm::cantFail(parseJson(options.recipe, "recipe"));
  for (const auto& [name, value] : object.items()) {
    if (!llvm::is_contained(kGivenFields, StringRef(name)))
      return wrong("field '" + name + "' is given with --auto, which chooses how a step is sharded; expected " +
                   llvm::join(ArrayRef(kGivenFields), ", ") + " alone; leave the field out, or compile without --auto");
    fields.emplace_back(name, value.dump());
  }
  return fields;
}

/// Reads programs with what the user's recipe says of them.
static CompileOptions getReadOptions(const CompileOptions& options, const RecipeFields& given, bool keepsAnnotations) {
  CompileOptions read = options;
  if (read.recipeFile.empty()) read.recipeFile = "--auto";
  std::string fields = keepsAnnotations ? R"("annotations": "keep")" : R"("annotations": "ignore")";
  for (const auto& [name, value] : given) fields += ", \"" + name + "\": " + value;
  read.recipe = "{" + fields + "}";
  return read;
}

FailureOr<StepFacts> mlir::sgd::findStepFacts(CompileSession& session, const CompileOptions& options,
                                              llvm::raw_ostream& errors) {
  llvm::Expected<RecipeFields> given = readGivenFields(options);
  if (!given) {
    errors << llvm::toString(given.takeError()) << "\n";
    return failure();
  }
  std::vector<MeshAxisSize> ownMesh;
  bool isAnnotated = false;
  auto look = [&](ModuleOp compilation) {
    SmallVector<ModuleOp> programs = getPrograms(compilation);
    MeshOp mesh = getMesh(programs.front());
    if (!mesh) return success();
    isAnnotated = true;
    for (MeshAxisAttr axis : mesh.getMesh().getAxes()) ownMesh.push_back({axis.getName().str(), axis.getSize()});
    return checkWhole(programs, mesh);
  };
  if (failed(session.visitPrograms(getReadOptions(options, *given, /*keepsAnnotations=*/true), errors, look)))
    return failure();
  FailureOr<StepFacts> facts = failure();
  auto find = [&](ModuleOp compilation) {
    facts = FactFinder(getPrograms(compilation)).run();
    return LogicalResult(facts);
  };
  if (failed(session.visitPrograms(getReadOptions(options, *given, /*keepsAnnotations=*/false), errors, find)))
    return failure();
  facts->given = std::move(*given);
  facts->ownMesh = std::move(ownMesh);
  facts->isAnnotated = isAnnotated;
  return facts;
}
