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
#include "passes/carry/passes.h"
#include "passes/choice/passes.h"
#include "passes/collectives/passes.h"
#include "passes/compress/passes.h"
#include "passes/context/passes.h"
#include "passes/hoist/passes.h"
#include "passes/layers/passes.h"
#include "passes/levels/passes.h"
#include "passes/library/passes.h"
#include "passes/manual/passes.h"
#include "passes/memory/passes.h"
#include "passes/partition/passes.h"
#include "passes/permutation/passes.h"
#include "passes/prefetch/passes.h"
#include "passes/programs/passes.h"
#include "passes/remat/passes.h"
#include "passes/rings/passes.h"
#include "passes/schedule/passes.h"
#include "passes/sequential/passes.h"
#include "passes/sharding/passes.h"
#include "passes/stages/passes.h"
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
  registerSchedulePasses();
  registerLibraryPasses();
  registerMemoryPasses();
  registerRematPasses();
  registerHoistPasses();
  registerPrefetchPasses();
  registerRingPasses();
}
