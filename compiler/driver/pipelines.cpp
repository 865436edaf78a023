// The table of contents of a compilation. Import comes before (frontends/), export after (export.cpp).
#include "compiler/driver/pipelines.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "passes/collectives/passes.h"
#include "passes/library/passes.h"
#include "passes/partition/passes.h"
#include "passes/schedule/passes.h"
#include "passes/sharding/passes.h"

using namespace mlir;
using namespace mlir::sgd;

std::string mlir::sgd::getTopologyName(const CompileOptions& options, const TargetDescription& target) {
  return options.topologyFile.empty() ? target.topology : options.topologyFile;
}

void mlir::sgd::addShardingStage(OpPassManager& passes) {
  passes.addNestedPass<func::FuncOp>(createNormalizeOrderPass());
  passes.addPass(createFindBatchingPass());
  passes.addPass(createShardPass());
  passes.addPass(createSplitTopKPass());
  passes.addPass(createVerifyShardingPass());
}

void mlir::sgd::addSpmdStage(OpPassManager& passes, const CompileOptions& options) {
  std::string topology = getTopologyName(options, TargetDescription());
  passes.addPass(createPlaceReductionsPass(PlaceReductionsPassOptions{topology}));
  passes.addPass(createLocalizePass(LocalizePassOptions{topology}));
  passes.addNestedPass<func::FuncOp>(createSimplifyCollectivesPass());
  passes.addNestedPass<func::FuncOp>(createSettleControlFlowPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createSimplifyCollectivesPass());
  passes.addNestedPass<func::FuncOp>(createMergeRangesPass());
  passes.addNestedPass<func::FuncOp>(createCombineCollectivesPass(CombineCollectivesPassOptions{topology}));
  passes.addPass(createVerifySpmdPass());
}

void mlir::sgd::addKernelStage(OpPassManager& passes, const CompileOptions& options, const TargetDescription& target) {
  passes.addNestedPass<func::FuncOp>(
      createReplaceReductionsPass(ReplaceReductionsPassOptions{target.combinesShortIntegers, target.combinesBits}));
  passes.addNestedPass<func::FuncOp>(createExpandGroupedDotsPass());
  passes.addNestedPass<func::FuncOp>(createFormScansPass(FormScansPassOptions{target.scanWorkers}));
  passes.addNestedPass<func::FuncOp>(createFormSortsPass());
  passes.addNestedPass<func::FuncOp>(createFormConvolutionsPass(target.convolutions));
  passes.addNestedPass<func::FuncOp>(createFormContractionsPass(
      FormContractionsPassOptions{target.multipliesIntegers, target.productsKeepSums, target.productsTakeFloat8,
                                  target.products.batchDims, target.products.elementsPerCall}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createPairTransformsPass());
  if (target.attentionDepth > 0)
    passes.addNestedPass<func::FuncOp>(createFormAttentionPass(FormAttentionPassOptions{target.attentionDepth}));
  if (target.attention.getParts) passes.addNestedPass<func::FuncOp>(createGiveAttentionToLibraryPass(target.attention));
  if (target.productsTakeGelu) passes.addNestedPass<func::FuncOp>(createFormGeluProductsPass());
  if (target.productsTakeSums) passes.addNestedPass<func::FuncOp>(createFormProductSumsPass());
  passes.addNestedPass<func::FuncOp>(createReuseActivationsPass());
  passes.addNestedPass<func::FuncOp>(
      createSplitReductionsPass(SplitReductionsPassOptions{target.reductionParts, target.reductionColumns}));
  passes.addNestedPass<func::FuncOp>(createFormClustersPass(FormClustersPassOptions{target.elementsPerLaunch}));
  FormTilesPassOptions tiles;
  if (options.tileScratch) tiles.scratchBytes = static_cast<int64_t>(*options.tileScratch);
  if (target.hasTiles) passes.addNestedPass<func::FuncOp>(createFormTilesPass(tiles));
  passes.addNestedPass<func::FuncOp>(createOrderPass());
}

void mlir::sgd::addPlanStage(OpPassManager& passes, const CompileOptions& options, const TargetDescription& target,
                             KernelModel model) {
  model.convolutions = target.convolutions;
  passes.addPass(createToPlanPass(std::move(model), target.products));
  passes.addPass(
      createFuseEpiloguesPass(FuseEpiloguesPassOptions{target.productsTakeRelu}, target.convolutionEpilogues));
  passes.addPass(createShareBuffersPass());
  if (target.collectivesPack) passes.addPass(createGiveStagingPass());
  if (target.productWorkspaceBytes != 0)
    passes.addPass(createGiveWorkspacesPass(GiveWorkspacesPassOptions{target.productWorkspaceBytes}));
  passes.addPass(createOverlapCollectivesPass(
      OverlapCollectivesPassOptions{getTopologyName(options, target), options.memoryLimit.value_or(0)}));
  passes.addPass(createGroupLaunchesPass());
  passes.addPass(createAssignOffsetsPass());
}
