// The pass sgd-annotate: the order in which the parts of a recipe are applied. Later parts see what earlier ones have
// decided.
#include "compiler/recipe/annotator.h"
#include "compiler/recipe/batch.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "compiler/recipe/scope_rules.h"
#include "compiler/recipe/tensor_rules.h"
#include "compiler/recipe/zero.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_parts.h"
#include "passes/graph/carry/carry_attrs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ANNOTATEPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Programs that only read state, such as an evaluation, have it as the program that carries it does.
static void shareStateShardings(ArrayRef<func::FuncOp> functions) {
  llvm::StringMap<ShardingAttr> byName;
  auto visit = [&](bool isCarried, llvm::function_ref<void(func::FuncOp, unsigned, StringRef)> fn) {
    for (func::FuncOp function : functions) {
      llvm::BitVector carried = getCarriedArguments(function);
      for (unsigned index = 0; index < function.getNumArguments(); ++index)
        if (auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
            name && isState(getRole(function, index)) && carried[index] == isCarried)
          fn(function, index, name.getValue());
    }
  };
  visit(/*isCarried=*/true, [&](func::FuncOp function, unsigned index, StringRef name) {
    if (auto sharding = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr)) byName[name] = sharding;
  });
  visit(/*isCarried=*/false, [&](func::FuncOp function, unsigned index, StringRef name) {
    if (ShardingAttr sharding = byName.lookup(name))
      Annotator(function->getParentOfType<ModuleOp>()).annotateArgument(function, index, sharding);
  });
}

/// Tells all programs how reductions over an axis are compressed.
static LogicalResult setCompression(ArrayRef<ModuleOp> programs, const Recipe& recipe) {
  if (recipe.compress.empty()) return success();
  ModuleOp first = programs.front();
  MLIRContext* context = first.getContext();
  if (!Annotator(first).hasAxes())
    return emitError(UnknownLoc::get(context)) << "field 'compress' names axes, but neither the recipe nor the model "
                                                  "has a mesh; add a field 'mesh', such as "
                                                  "{\"data\": 4}";
  NamedAttrList settings;
  for (const RecipeCompression& compression : recipe.compress) {
    if (failed(Annotator(first).checkAxes(compression.axis, "compress"))) return failure();
    settings.set(compression.axis, compression.setting.toAttr(context));
  }
  for (ModuleOp program : programs) program->setAttr(kCompressAttr, settings.getDictionary(context));
  return success();
}

/// Shards batches and what steps carry. Fails where no program has any of it.
static LogicalResult shardSteps(ArrayRef<func::FuncOp> functions, const Recipe& recipe,
                                ArrayRef<RuledArguments> ruled) {
  bool hasBatch = false, hasState = false;
  for (auto [function, arguments] : llvm::zip(functions, ruled)) {
    if (!recipe.batch.empty()) {
      FailureOr<bool> sharded = shardBatch(function, recipe, arguments);
      if (failed(sharded)) return failure();
      hasBatch |= *sharded;
    }
    bool carries = getCarriedArguments(function).any();
    if (recipe.zero > 0 && carries && failed(shardState(function, recipe, arguments))) return failure();
    hasState |= carries;
  }
  if (!recipe.batch.empty() && !hasBatch && recipe.zero == 0)
    for (auto [function, arguments] : llvm::zip(functions, ruled)) {
      FailureOr<bool> sharded = shardBatch(function, recipe, arguments, /*takesState=*/true);
      if (failed(sharded)) return failure();
      hasBatch |= *sharded;
    }
  auto error = [&] { return emitError(UnknownLoc::get(func::FuncOp(functions.front()).getContext())); };
  if (!recipe.batch.empty() && !hasBatch)
    return error()
           << "field 'batch': no program has an input with rows that no rule shards, besides state; expected "
              "one, or no 'batch'; shard state by rules, such as {\"tensor\": \"params\", \"sharding\": [\"data\"]}";
  if (recipe.zero > 0 && !hasState)
    return error()
           << "field 'zero' shards what steps carry, but no result is known to be an argument of the next step; "
              "name results as arguments, or remove 'zero'";
  return success();
}

/// The shardings that `asked`, of kAxesAttr, stands for.
static SmallVector<ShardingAttr> getAskedShardings(FlatSymbolRefAttr mesh, ArrayAttr asked) {
  SmallVector<ShardingAttr> shardings;
  for (auto axesByDim : asked.getAsRange<ArrayAttr>()) {
    SmallVector<DimShardingAttr> dims;
    for (auto axes : axesByDim.getAsRange<ArrayAttr>())
      dims.push_back(DimShardingAttr::get(asked.getContext(), llvm::to_vector(axes.getAsRange<AxisRefAttr>()),
                                          /*isOpen=*/false, std::nullopt));
    shardings.push_back(ShardingAttr::get(asked.getContext(), mesh, dims, {}, {}, ReduceKind::Add));
  }
  return shardings;
}

static void shardArgumentsAsAsked(func::FuncOp function, FlatSymbolRefAttr mesh, Annotator& annotator) {
  SmallVector<ShardingAttr> shardings(function.getNumArguments());
  bool isAsked = false;
  for (unsigned argument = 0; argument < shardings.size(); ++argument) {
    auto asked = function.getArgAttrOfType<ArrayAttr>(argument, kAxesAttr);
    if (!asked) continue;
    function.removeArgAttr(argument, kAxesAttr);
    shardings[argument] = getAskedShardings(mesh, asked).front();
    isAsked = true;
  }
  if (isAsked) annotator.annotateArguments(function, shardings);
}

/// Annotates what the program asked for when there was no mesh.
static void shardAsAsked(func::FuncOp function) {
  auto program = function->getParentOfType<ModuleOp>();
  Annotator annotator(program);
  auto mesh = FlatSymbolRefAttr::get(getMesh(program).getSymNameAttr());
  shardArgumentsAsAsked(function, mesh, annotator);
  SmallVector<Operation*> ops;
  function.walk([&](Operation* op) {
    if (op != function && op->hasAttr(kAxesAttr)) ops.push_back(op);
  });
  for (Operation* op : ops) {
    Value value = op->getResult(0);
    for (ShardingAttr sharding : getAskedShardings(mesh, cast<ArrayAttr>(op->removeAttr(kAxesAttr))))
      value = annotator.constrain(value, sharding);
  }
}

static LogicalResult annotate(ArrayRef<ModuleOp> programs, const Recipe& recipe) {
  if (failed(setCompression(programs, recipe))) return failure();
  SmallVector<func::FuncOp> functions = getProgramFunctions(programs);
  if (failed(checkExpectedScopes(functions, recipe))) return failure();
  if (recipe.rules.empty() && recipe.batch.empty()) return success();
  bool shards = !recipe.batch.empty() || llvm::any_of(recipe.rules, [](const RecipeRule& rule) {
    return rule.kind == RecipeRule::Kind::Sharding;
  });
  if (shards && !Annotator(programs.front()).hasAxes())
    return emitError(UnknownLoc::get(functions.front().getContext()))
           << "shards over axes, but neither it nor the model has a mesh; give its axes by --mesh data=N, or in the "
              "field 'mesh'";
  FailureOr<SmallVector<RuledArguments>> ruled = applyTensorRules(functions, recipe);
  if (failed(ruled) || failed(shardSteps(functions, recipe, *ruled))) return failure();
  if (!recipe.batch.empty()) llvm::for_each(functions, shardAsAsked);
  shareStateShardings(functions);
  return applyScopeRules(functions, recipe);
}

namespace {
struct AnnotatePass : mlir::sgd::impl::AnnotatePassBase<AnnotatePass> {
  using AnnotatePassBase::AnnotatePassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    if (!requested->recipe) return;
    FileOfDiagnostics file(&getContext(), requested->recipe->fileName);
    if (failed(annotate(getPrograms(getOperation()), *requested->recipe))) signalPassFailure();
  }
};
}  // namespace
