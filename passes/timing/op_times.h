// Seconds of ops of any level on a machine: their cost by CostOpInterface, timed by the cost model.
#ifndef SGD_PASSES_TIMING_OP_TIMES_H
#define SGD_PASSES_TIMING_OP_TIMES_H

#include "dialects/cost/cost_op.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// - A kernel, a library call or a copy takes the roofline of its work.
/// - An op that kernels will compute together with others (CostOpInterface::isFused) takes its arithmetic, its share of
///   what the kernel reads and, if its results must be in memory, their bytes and a launch. Views write
///   nothing, and constants are filled in for each use that is no kernel's.
/// - A collective takes what the links of its axes need. Over the iterations of a sequential axis it adds up in memory.
/// - Loops and branches take what is in them: as often as known trips say, else once; of branches the longest.
/// - Copies between the device and its host take their link.
/// - Launches of a group are one launch.
/// - What runs beside the rank's work, as sends over a network do, takes none of its time.
class OpTimes {
 public:
  /// For ops of the module that `scope` is or is in. `cost` is of its mesh. Without `hasOverlap`, what the plan has in
  /// flight is waited for where it starts, and launches of a group are launches of their own: levels before and after
  /// the choice of an order compare.
  OpTimes(Operation* scope, const CostModel& cost, bool hasOverlap = true);

  /// The seconds of one execution; 0 for an op without work.
  double get(Operation* op) const;
  /// The seconds of all ops of the block, one after another. Collectives and host copies in flight run beside them,
  /// each link one after another.
  double get(Block& block) const;

  const CostModel& getCost() const { return cost; }

 private:
  double getFused(Operation* op) const;
  double getCollective(Operation* op, const Exchange& exchange) const;
  double getNested(Operation* op) const;

  CostModel cost;
  bool hasOverlap;
  MeshAttr mesh;            // of the module; null: none
  MeshAxisAttr sequential;  // the active axis of iterations; null: none
};

/// The cost model of the topology that loadTopology finds, for the ranks of the module's mesh, or for one rank. Fails
/// with an error.
FailureOr<CostModel> loadCosts(ModuleOp module, StringRef topologyName);

}  // namespace mlir::sgd

#endif
