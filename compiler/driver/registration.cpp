// Lists all dialects and passes; nothing else.
#include "compiler/driver/registration.h"

#include "compiler/export/export_interface.h"
#include "compiler/recipe/passes.h"
#include "compiler/report/passes.h"
#include "compiler/request/passes.h"
#include "compiler/search/passes.h"
#include "dialects/cost/cost_op.h"
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/plan_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#include "frontends/frontends.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/graph/autodiff/passes.h"
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
#include "passes/timing/passes.h"

void mlir::sgd::registerDialects(DialectRegistry& registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect, memref::MemRefDialect,
                  SgdDialect, spmd::SpmdDialect, fusion::FusionDialect, plan::PlanDialect>();
  for (const Frontend* frontend : getFrontends()) frontend->registerDialects(registry);
  registerCostModels(registry);
  registerShardingRules(registry);
  registerCompressedReductions(registry);
  registerExports(registry);
}

using namespace mlir;
using namespace mlir::sgd;

/// The first registration of a name holds: these come before those of their folders.
static void registerLibraryUsers(const LibraryModel& libraries) {
  registerPass([&] { return createLowerConvolutionsPass(libraries); });
  registerPass([&] { return createLowerDotGeneralsPass(libraries); });
  registerPass([&] { return createPackWeightsPass(libraries); });
  registerPass([&] { return createOffloadAttentionPass(libraries); });
  registerPass([&] { return createLowerToPlanPass(KernelModel(), libraries); });
  registerPass([&] { return createFuseEpiloguesPass(libraries); });
  registerPass([&] { return createAssignWorkspacesPass(libraries); });
}

void mlir::sgd::registerPasses(const LibraryModel& libraries) {
  registerLibraryUsers(libraries);
  for (const Frontend* frontend : getFrontends()) frontend->registerPasses();
  registerProgramsPasses();
  registerRequestPasses();
  registerRecipePasses();
  registerReportPasses();
  registerSearchPasses();
  registerAutodiffPasses();
  registerCarryPasses();
  registerManualPasses();
  registerShardingPasses();
  registerPartitionPasses();
  registerCollectivePasses();
  registerChoicePasses();
  registerCompressPasses();
  registerContextPasses();
  registerPermutationPasses();
  registerSequentialPasses();
  registerLayersPasses();
  registerStagesPasses();
  registerLevelPasses();
  registerTimingPasses();
  registerLibraryPasses();
  registerNormalizePasses();
  registerKernelLoweringPasses();
  registerEpiloguePasses();
  registerClusterPasses();
  registerTilePasses();
  registerOrderPasses();
  registerPlanLoweringPasses();
  registerMemoryPasses();
  registerOverlapPasses();
  registerChannelPasses();
  registerLoopRecomputePasses();
  registerRecomputePasses();
  registerHoistPasses();
  registerPrefetchPasses();
  registerRingPasses();
}
