// The table. Ops of one dialect with one rule stand together. A new op of the graph is taken for one that kernels
// compute; any other new op needs a line here, or nothing compiles with it.
#include "passes/levels/levels.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr auto kGraph = Level::Graph, kSharded = Level::Sharded, kSpmd = Level::Spmd, kKernels = Level::Kernels,
                      kPlan = Level::Plan;
static constexpr std::nullopt_t kNever = std::nullopt;

static constexpr StringLiteral kForever = "", kLocalize = "sgd-localize", kFuse = "sgd-fuse-clusters",
                               kLower = "sgd-lower-to-plan";

ArrayRef<LevelRule> mlir::sgd::getLevelRules() {
  static const LevelRule rules[] = {
      // Containers of programs.
      {"builtin.module", kGraph, kPlan, kNever, kForever},
      {"func.func", kGraph, kPlan, kNever, kForever},
      {"func.return", kGraph, kPlan, kNever, kForever},
      {"sgd.mesh", kGraph, kPlan, kNever, kForever},

      // Annotations, and what is there for the sake of shardings alone.
      {"sgd.manual_computation", kGraph, kGraph, kNever, "sgd-expand-manual"},
      {"sgd.permute_ranks", kGraph, kGraph, kNever, "sgd-expand-manual"},
      {"sgd.sharding_constraint", kGraph, kGraph, kNever, "sgd-shard"},
      {"sgd.reshard", kSharded, kSharded, kNever, kLocalize},
      {"sgd.summands", kGraph, kSharded, kNever, kLocalize},
      {"sgd.compressed_reduction", kSharded, kSharded, kNever, kLocalize},

      // Scalar ops on each element, of sgd too: computed in kernels.
      {"arith", kGraph, kSpmd, kGraph, kFuse},
      {"math", kGraph, kSpmd, kGraph, kFuse},

      // Structured ops that kernels compute together with others: what is not said of an op of the graph below.
      {"sgd", kGraph, kSpmd, kKernels, kFuse},
      {"spmd.partition_id", kSpmd, kSpmd, kKernels, kFuse},
      {"spmd.shard_slice", kSpmd, kSpmd, kKernels, kFuse},

      // Structured ops that become a kernel or a call each.
      {"sgd.dot_general", kGraph, kSpmd, kNever, "sgd-lower-dot-generals"},
      {"sgd.grouped_dot", kGraph, kSpmd, kNever, "sgd-expand-grouped-dots"},
      {"sgd.convolution", kGraph, kSpmd, kNever, "sgd-lower-convolutions"},
      {"sgd.sort", kGraph, kSpmd, kNever, "sgd-lower-sorts"},
      {"sgd.top_k", kGraph, kKernels, kPlan, kLower},
      {"sgd.cumulative", kGraph, kKernels, kPlan, kLower},
      {"sgd.linear_algebra", kGraph, kKernels, kNever, kLower},
      {"sgd.host_call", kGraph, kKernels, kNever, kLower},

      // Views of memory, constants, order.
      {"arith.constant", kGraph, kKernels, kGraph, kLower},
      {"sgd.reshape", kGraph, kKernels, kKernels, kLower},
      {"sgd.slice", kGraph, kKernels, kKernels, kLower},
      {"sgd.optimization_barrier", kGraph, kKernels, kNever, kLower},

      // Loops and branches; comparators end in sgd.yield too.
      {"sgd.while", kGraph, kKernels, kNever, kLower},
      {"sgd.case", kGraph, kKernels, kNever, kLower},
      {"sgd.yield", kGraph, kKernels, kGraph, kLower},

      // Collectives.
      {"spmd.all_reduce", kSpmd, kKernels, kNever, kLower},
      {"spmd.all_gather", kSpmd, kKernels, kNever, kLower},
      {"spmd.reduce_scatter", kSpmd, kKernels, kNever, kLower},
      {"spmd.all_to_all", kSpmd, kKernels, kNever, kLower},
      {"spmd.collective_permute", kSpmd, kKernels, kNever, kLower},
      {"spmd.gather_range", kSpmd, kKernels, kNever, kLower},
      {"spmd.broadcast", kSpmd, kKernels, kNever, kLower},

      // Messages between stages.
      {"spmd.send", kSpmd, kKernels, kNever, kLower},
      {"spmd.receive", kSpmd, kKernels, kNever, kLower},

      // Kernels, calls and what they consist of.
      {"fusion.cluster", kKernels, kKernels, kPlan, kLower},
      {"fusion.yield", kKernels, kKernels, kKernels, kLower},
      {"fusion.tiled", kKernels, kKernels, kNever, kLower},
      {"fusion.tile_store", kKernels, kKernels, kNever, kLower},
      {"fusion.sort_rows", kKernels, kKernels, kPlan, kLower},
      {"fusion.matmul", kKernels, kKernels, kNever, kLower},
      {"fusion.convolution", kKernels, kKernels, kKernels, kLower},
      {"fusion.library_matmul", kKernels, kKernels, kNever, kLower},
      {"fusion.library_convolution", kKernels, kKernels, kNever, kLower},
      {"fusion.attention", kKernels, kKernels, kPlan, kLower},
      {"fusion.attention_query_gradient", kKernels, kKernels, kPlan, kLower},
      {"fusion.attention_key_gradient", kKernels, kKernels, kPlan, kLower},
      {"fusion.library_attention", kKernels, kKernels, kNever, kLower},
      {"fusion.library_attention_gradient", kKernels, kKernels, kNever, kLower},

      // Instructions.
      {"plan", kPlan, kPlan, kNever, kForever},
  };
  return rules;
}

const LevelRule* mlir::sgd::findLevelRule(OperationName op) {
  StringRef name = op.getStringRef(), scalars = op.hasTrait<OpTrait::Elementwise>() ? "arith" : "";
  for (StringRef wanted : {name, scalars, name.split('.').first}) {
    const LevelRule* rule = llvm::find_if(getLevelRules(), [&](const LevelRule& rule) { return rule.name == wanted; });
    if (rule != getLevelRules().end()) return rule;
  }
  return nullptr;
}
