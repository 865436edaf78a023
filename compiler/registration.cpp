// Lists all dialects and passes; nothing else.
#include "compiler/registration.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/spmd/spmd_dialect.h"
#if __has_include("dialects/plan/plan_dialect.h")
#include "dialects/plan/plan_dialect.h"
#define HAS_PLAN
#endif
#if __has_include("frontends/stablehlo/import.h")
#include "frontends/stablehlo/import.h"
#define HAS_HLO
#endif
#if __has_include("passes/sharding/passes.h")
#include "passes/sharding/passes.h"
#define HAS_SHARDING
#endif
#if __has_include("passes/partition/passes.h")
#include "passes/partition/passes.h"
#define HAS_PARTITION
#endif
#if __has_include("passes/collectives/passes.h")
#include "passes/collectives/passes.h"
#define HAS_COLLECTIVES
#endif
#if __has_include("passes/schedule/passes.h")
#include "passes/schedule/passes.h"
#define HAS_SCHEDULE
#endif
#if __has_include("passes/memory/passes.h")
#include "passes/memory/passes.h"
#define HAS_MEMORY
#endif

void mlir::sgd::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect, memref::MemRefDialect, SgdDialect, spmd::SpmdDialect>();
#ifdef HAS_PLAN
  registry.insert<plan::PlanDialect>();
#endif
#ifdef HAS_HLO
  registerStablehloDialects(registry);
#endif
#ifdef HAS_SHARDING
  registerShardingRules(registry);
#endif
}

void mlir::sgd::registerPasses() {
#ifdef HAS_HLO
  registerStablehloPasses();
#endif
#ifdef HAS_SHARDING
  registerShardingPasses();
#endif
#ifdef HAS_PARTITION
  registerPartitionPasses();
#endif
#ifdef HAS_COLLECTIVES
  registerCollectivePasses();
#endif
#ifdef HAS_SCHEDULE
  registerSchedulePasses();
#endif
#ifdef HAS_MEMORY
  registerMemoryPasses();
#endif
}
