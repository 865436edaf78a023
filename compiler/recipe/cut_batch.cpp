// The pass sgd-cut-batch. The batch is found by roles and rows, as a recipe's `batch` is.
#include "compiler/recipe/annotator.h"
#include "compiler/recipe/batch.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/mesh_name.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/carry/carry_attrs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CUTBATCHPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Inputs by what annotations say of their rows.
struct Batch {
  SmallVector<RowsOfInput> sharded, open, whole;
};
}  // namespace

static Batch findBatch(func::FuncOp function) {
  Batch batch;
  for (RowsOfInput input : findInputsWithRows(function)) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(input.argument, kShardingAttr);
    DimShardingAttr dim = sharding ? sharding.getDims()[input.dim] : DimShardingAttr();
    if (dim && !dim.getAxes().empty())
      batch.sharded.push_back(input);
    else
      (!dim || dim.getIsOpen() ? batch.open : batch.whole).push_back(input);
  }
  return batch;
}

/// The inputs to cut; none where the program is fed none.
static FailureOr<SmallVector<RowsOfInput>> chooseInputs(func::FuncOp function, StringRef source) {
  Batch batch = findBatch(function);
  SmallVector<RowsOfInput> inputs = batch.sharded;
  if (inputs.empty()) inputs = batch.open;
  if (inputs.empty()) inputs = batch.whole;
  std::optional<RowsOfInput> first;
  for (RowsOfInput input : inputs) {
    if (hasRuledRows(function, input)) continue;
    if (!first) first = input;
    if (getRows(function, input) != getRows(function, *first))
      return LogicalResult(emitError(UnknownLoc::get(function.getContext()))
                           << source << ": " << getArgumentName(function, first->argument) << " has "
                           << getRows(function, *first) << " rows and " << getArgumentName(function, input.argument)
                           << " has " << getRows(function, input)
                           << "; expected inputs of one batch; name the dimension that holds the rows of each by rules "
                              "of a recipe, such as {\"tensor\": \"edges\", \"batch\": 0}, or, for inputs without "
                              "rows, {\"tensor\": \"mask\", \"batch\": null}");
  }
  if (!batch.sharded.empty())
    for (RowsOfInput input : batch.open)
      if (hasRuledRows(function, input) || (first && getRows(function, input) == getRows(function, *first)))
        inputs.push_back(input);
  return inputs;
}

/// Whether each of so many parts has a row: parts are of as many rows on each rank, the last ones may have fewer.
static bool fillsParts(func::FuncOp function, ArrayRef<RowsOfInput> inputs, MeshAttr mesh, int64_t parts) {
  return llvm::all_of(inputs, [&](RowsOfInput input) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(input.argument, kShardingAttr);
    int64_t rows = getRows(function, input), shards = sharding ? sharding.getNumShards(input.dim, mesh) : 1;
    int64_t part = llvm::divideCeil(rows, parts * shards) * shards;
    return llvm::divideCeil(rows, part) == static_cast<uint64_t>(parts);
  });
}

/// `source` is the flag or the field that names the axis.
static LogicalResult cutBatch(ArrayRef<func::FuncOp> functions, const MeshAxisSize& axis, StringRef source) {
  bool hasBatch = false;
  for (func::FuncOp function : functions) {
    ModuleOp module = function->getParentOfType<ModuleOp>();
    MLIRContext* context = module.getContext();
    MeshOp mesh = getMesh(module);
    if (mesh && mesh.getMesh().getAxisIndex(axis.name))
      return emitError(UnknownLoc::get(context)) << source << ": the mesh has an axis '" << axis.name
                                                 << "' over ranks already; give the sequential one another name";
    if (!mesh) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      mesh = MeshOp::create(builder, module.getLoc(), kMeshName, MeshAttr::get(context, {}));
    }
    FailureOr<SmallVector<RowsOfInput>> inputs = chooseInputs(function, source);
    if (failed(inputs)) return failure();
    hasBatch |= !inputs->empty();
    // An evaluation, beside a step: its batch is its own.
    if (functions.size() > 1 && !carriesState(function) && !fillsParts(function, *inputs, mesh.getMesh(), axis.size)) {
      emitRemark(UnknownLoc::get(context))
          << source << ": program '" << function.getName() << "' has a batch of " << getRows(function, inputs->front())
          << " rows, too few for " << axis.size << " parts on each rank; it is computed whole";
      continue;
    }
    Builder builder(context);
    mesh->setAttr(kSequentialAttr, MeshAxisAttr::get(context, axis.name, axis.size));
    SteppedRows stepped = findSteppedRows(function, *inputs);
    markStackedInputs(function, *inputs, stepped);
    for (const BlocksOfRows& blocks : stepped.blocks)
      blocks.value.getDefiningOp()->setAttr(kSequentialDimAttr, builder.getI64IntegerAttr(blocks.rows));
    for (RowsOfInput input : *inputs)
      function.setArgAttr(input.argument, kSequentialDimAttr, builder.getI64IntegerAttr(input.dim));
  }
  if (!hasBatch)
    return emitError(UnknownLoc::get(func::FuncOp(functions.front()).getContext()))
           << source << ": no program has an input with rows; expected a batch to be cut over '" << axis.name << "'";
  return success();
}

namespace {
struct CutBatchPass : mlir::sgd::impl::CutBatchPassBase<CutBatchPass> {
  using CutBatchPassBase::CutBatchPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    const PlanOptions& options = requested->options;
    if (!options.sequential) return;
    FileOfDiagnostics file(&getContext(), requested->recipe ? requested->recipe->fileName : requested->getFile(0));
    if (failed(cutBatch(getProgramFunctions(getPrograms(getOperation())), *options.sequential,
                        options.isCutByRecipe ? "field 'sequential'" : "--micro")))
      signalPassFailure();
  }
};
}  // namespace
