// The table of contents of a compilation. Import comes before (frontends/), export after (export.cpp).
#include "compiler/pipelines/pipelines.h"

#include "compiler/recipe/passes.h"
#include "compiler/report/passes.h"
#include "compiler/request/passes.h"
#include "compiler/request/request.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/carry/passes.h"
#include "passes/graph/normalize/passes.h"
#include "passes/graph/programs/passes.h"
#include "passes/kernels/clusters/passes.h"
#include "passes/kernels/epilogues/passes.h"
#include "passes/kernels/library/passes.h"
#include "passes/kernels/lowering/passes.h"
#include "passes/kernels/order/passes.h"
#include "passes/kernels/tiles/passes.h"
#include "passes/levels/passes.h"
#include "passes/plan/channels/passes.h"
#include "passes/plan/lowering/passes.h"
#include "passes/plan/memory/passes.h"
#include "passes/plan/overlap/passes.h"
#include "passes/plan/recompute/passes.h"
#include "passes/sharding/context/passes.h"
#include "passes/sharding/manual/passes.h"
#include "passes/sharding/permutation/passes.h"
#include "passes/sharding/propagation/passes.h"
#include "passes/spmd/choice/passes.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/compress/passes.h"
#include "passes/spmd/partition/passes.h"
#include "passes/time/hoist/passes.h"
#include "passes/time/layers/passes.h"
#include "passes/time/prefetch/passes.h"
#include "passes/time/recompute/passes.h"
#include "passes/time/rings/passes.h"
#include "passes/time/sequential/passes.h"
#include "passes/time/stages/passes.h"

using namespace mlir;
using namespace mlir::sgd;

/// A level that all programs have reached.
static void addClose(OpPassManager& passes, EmitLevel level) {
  passes.addPass(createCloseLevelPass(CloseLevelPassOptions{getName(level).str()}));
}

/// Likewise; the programs' text is noted if `options` ask for that level.
static void addClose(OpPassManager& passes, EmitLevel level, const PlanOptions& options) {
  addClose(passes, level);
  if (options.emit == level) passes.addPass(createRecordTextPass(RecordTextPassOptions{options.emitsStablehlo}));
}

void mlir::sgd::addReadStage(OpPassManager& passes, const PlanOptions& options) {
  // Gradients then have channels last too.
  passes.nest<ModuleOp>().addNestedPass<func::FuncOp>(createMoveChannelsLastPass());
  passes.addPass(createMakeTrainingPass());
  passes.addPass(createShareMeshPass());
  OpPassManager& programs = passes.nest<ModuleOp>();
  if (options.keepUnreduced) programs.addPass(createStackSummandsPass());
  programs.addNestedPass<func::FuncOp>(createDecideCarryPass());
  // On the mesh that the program was written for.
  programs.addPass(createExpandManualPass());
  programs.addNestedPass<func::FuncOp>(createForwardSlicesPass());
  passes.addPass(createMarkLossesPass());
  passes.addPass(createAssignRolesPass());
  passes.addPass(createCheckSharedStatePass());
  passes.nest<ModuleOp>().addNestedPass<func::FuncOp>(createKeepUncommittedPass());
}

void mlir::sgd::addRecipeStage(OpPassManager& passes, const PlanOptions& options) {
  passes.addPass(createDropAnnotationsPass());
  passes.addPass(createSetMeshPass());
  passes.addPass(createSetStagesPass());
  // Before tensors are sharded: each stage has layers of its own.
  passes.addPass(createSplitLayersPass(SplitLayersPassOptions{0, options.topology}));
  passes.addPass(createAnnotatePass());
  passes.addPass(createMatchStagesPass());
  passes.addPass(createCutBatchPass());
  addClose(passes, EmitLevel::Graph, options);
}

/// The passes of one program.
static void shardProgram(OpPassManager& passes, const PlanOptions& options) {
  passes.addNestedPass<func::FuncOp>(createNormalizeOrderPass());
  passes.addPass(createFindBatchingPass());
  passes.addPass(createPadBatchPass());
  passes.addPass(createBlockSortsPass());
  passes.addPass(createShardAttentionPass(ShardAttentionPassOptions{options.attention, options.topology}));
  passes.addPass(createChooseShardingsPass(
      ChooseShardingsPassOptions{options.topology, options.weighConstraints, options.shardUpdates}));
  passes.addPass(createShardPass());
  if (options.shardUpdates) passes.addPass(createShardUpdatesPass(ShardUpdatesPassOptions{options.topology}));
  passes.addPass(createSplitTopKPass());
  passes.addPass(createAlignRowsPass());
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Sharded}));
  passes.addPass(createVerifyShardingPass());
}

void mlir::sgd::addShardingStage(OpPassManager& passes, const PlanOptions& options) {
  if (options.shardUpdates) passes.addPass(createPinArgumentsPass());
  shardProgram(passes.nest<ModuleOp>(), options);
  if (!options.omitsDescription) {
    passes.addPass(createWarnOfRepeatedOpsPass());
    passes.addPass(createRecordLowerBoundPass());
  }
  addClose(passes, EmitLevel::Sharded, options);
}

static void localizeProgram(OpPassManager& passes, const PlanOptions& options) {
  passes.addPass(createPlaceReductionsPass(PlaceReductionsPassOptions{options.topology}));
  passes.addPass(
      createCompressReductionsPass(CompressReductionsPassOptions{options.topology, options.bucketBytes.value_or(0)}));
  passes.addPass(createShardSequentialPass(ShardSequentialPassOptions{options.refuseSplit, options.sumsInOwnType}));
  passes.addPass(createLocalizePass(LocalizePassOptions{options.topology}));
  if (options.sequential) {
    // Values that forward and backward share are fetched by the loop that has both, or stored by one for the other.
    passes.addPass(createCSEPass());
    passes.addNestedPass<func::FuncOp>(createMergeRangesPass());
    passes.addPass(createSplitBarriersPass());
    passes.addPass(createSplitLoopsPass());
  }
}

void mlir::sgd::addLocalizeStage(OpPassManager& passes, const PlanOptions& options) {
  localizeProgram(passes.nest<ModuleOp>(), options);
  passes.addPass(createCheckCompressionPass());
}

static void formProgram(OpPassManager& passes, const PlanOptions& options) {
  passes.addPass(createFormStagesPass(FormStagesPassOptions{options.refuseSplit, options.topology}));
  passes.addPass(createFormLoopsPass(FormLoopsPassOptions{options.refuseSplit, options.sumsInOwnType}));
  passes.addPass(createReportScalarsPass());
  passes.addPass(createShardMessagesPass(ShardMessagesPassOptions{options.topology}));
  passes.addNestedPass<func::FuncOp>(createSimplifyCollectivesPass());
  passes.addNestedPass<func::FuncOp>(createSettleControlFlowPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createSimplifyCollectivesPass());
  passes.addNestedPass<func::FuncOp>(createMergeRangesPass());
  passes.addPass(createRecomputeInLoopsPass({0, options.topology, /*exchanges=*/false, /*free=*/true}));
  if (options.exchangesInLoops) {
    RecomputeInLoopsPassOptions exchanges{0, options.topology, /*exchanges=*/true, /*free=*/false};
    passes.addPass(createRecomputeInLoopsPass(exchanges));
    passes.addPass(createCanonicalizerPass());
  }
  passes.addNestedPass<func::FuncOp>(
      createCombineCollectivesPass(CombineCollectivesPassOptions{options.topology, options.bucketBytes.value_or(0)}));
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Spmd}));
  passes.addPass(createVerifySpmdPass());
}

void mlir::sgd::addSpmdStage(OpPassManager& passes, const PlanOptions& options) {
  passes.addPass(createShareStagesPass(ShareStagesPassOptions{options.topology}));
  formProgram(passes.nest<ModuleOp>(), options);
  if (options.memoryLimit) addClose(passes, EmitLevel::Spmd);
}

void mlir::sgd::addLocalStage(OpPassManager& compilation, const PlanOptions& options) {
  OpPassManager& passes = compilation.nest<ModuleOp>();
  passes.addPass(createReportScalarsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Spmd}));
  passes.addPass(createVerifySpmdPass());
  if (options.memoryLimit) addClose(compilation, EmitLevel::Spmd);
}

void mlir::sgd::addHidingStage(OpPassManager& compilation, const PlanOptions& options) {
  OpPassManager& passes = compilation.nest<ModuleOp>();
  passes.addPass(createHoistMatmulsPass());
  passes.addPass(createPrefetchGathersPass(PrefetchGathersPassOptions{options.topology}));
  passes.addPass(createRingMatmulsPass(RingMatmulsPassOptions{options.topology}));
  passes.addPass(createCSEPass());
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Spmd}));
  passes.addPass(createVerifySpmdPass());
  addClose(compilation, EmitLevel::Spmd, options);
}

void mlir::sgd::addPlainStage(OpPassManager& passes, const PlanOptions& options) {
  addClose(passes, EmitLevel::Spmd, options);
}

void mlir::sgd::addLoopRecomputationStage(OpPassManager& compilation, const PlanOptions& options, uint64_t steps) {
  OpPassManager& passes = compilation.nest<ModuleOp>();
  passes.addPass(createRecomputeInLoopsPass(
      RecomputeInLoopsPassOptions{steps, options.topology, /*exchanges=*/false, /*free=*/false}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Spmd}));
  passes.addPass(createVerifySpmdPass());
  addClose(compilation, EmitLevel::Spmd, options);
}

void mlir::sgd::addKernelStage(OpPassManager& compilation, const PlanOptions& options, const Target& target,
                               bool packsWeights) {
  OpPassManager& passes = compilation.nest<ModuleOp>();
  TargetDescription device = target.getDescription();
  const LibraryModel& libraries = target.getLibraries();
  CollectiveLimits collectives = libraries.getCollectiveLimits();
  passes.addNestedPass<func::FuncOp>(createReplaceReductionsPass(
      ReplaceReductionsPassOptions{collectives.combinesShortIntegers, collectives.combinesBits}));
  passes.addNestedPass<func::FuncOp>(createExpandGroupedDotsPass());
  passes.addNestedPass<func::FuncOp>(createLowerScansPass(LowerScansPassOptions{device.scanWorkers}));
  passes.addNestedPass<func::FuncOp>(createLowerSortsPass());
  passes.addNestedPass<func::FuncOp>(createLowerConvolutionsPass(libraries));
  passes.addNestedPass<func::FuncOp>(createLowerDotGeneralsPass(libraries));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createPairTransformsPass());
  if (int64_t depth = libraries.getAttentionDepth(); depth > 0)
    passes.addNestedPass<func::FuncOp>(createMatchAttentionPass(MatchAttentionPassOptions{depth}));
  passes.addNestedPass<func::FuncOp>(createOffloadAttentionPass(libraries));
  passes.addNestedPass<func::FuncOp>(createReuseActivationsPass());
  passes.addNestedPass<func::FuncOp>(createFuseEpiloguesPass(libraries));
  if (packsWeights) passes.addNestedPass<func::FuncOp>(createPackWeightsPass(libraries));
  passes.addNestedPass<func::FuncOp>(
      createSplitReductionsPass(SplitReductionsPassOptions{device.reductionParts, device.reductionColumns}));
  passes.addNestedPass<func::FuncOp>(createFuseClustersPass(FuseClustersPassOptions{device.elementsPerLaunch}));
  if (std::optional<int64_t> flopsPerByte = libraries.getTileFlopsPerByte()) {
    FuseTilesPassOptions tiles;
    tiles.flopsPerByte = *flopsPerByte;
    if (options.tileScratch) tiles.scratchBytes = static_cast<int64_t>(*options.tileScratch);
    passes.addNestedPass<func::FuncOp>(createFuseTilesPass(tiles));
  }
  passes.addNestedPass<func::FuncOp>(createOrderPass());
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Kernels}));
  addClose(compilation, EmitLevel::Kernels, options);
}

void mlir::sgd::addBufferStage(OpPassManager& passes, const Target& target, KernelModel model) {
  passes.addPass(createJoinProgramsPass());
  passes.addPass(createLowerToPlanPass(std::move(model), target.getLibraries()));
  passes.addPass(createVerifyLevelPass(VerifyLevelPassOptions{Level::Plan}));
}

void mlir::sgd::addMemoryStage(OpPassManager& passes, const PlanOptions& options, const Target& target,
                               std::optional<uint64_t> budget, StringRef offload) {
  const LibraryModel& libraries = target.getLibraries();
  if (budget) passes.addPass(createRecomputePass(RecomputePassOptions{*budget, offload.str(), options.topology}));
  passes.addPass(createShareBuffersPass());
  if (!libraries.getCollectiveLimits().movesRows) passes.addPass(createAssignStagingPass());
  passes.addPass(createAssignWorkspacesPass(libraries));
  passes.addPass(
      createOverlapCollectivesPass(OverlapCollectivesPassOptions{options.topology, options.memoryLimit.value_or(0)}));
  passes.addPass(createGroupLaunchesPass());
  passes.addPass(createAssignOffsetsPass());
  passes.addPass(createVerifyChannelsPass());
  addClose(passes, EmitLevel::Plan);
}
