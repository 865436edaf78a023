// A loop is made again with more iter_args; inner loops come first, so that a reshard leaves all loops it can.
#include "passes/spmd/collectives/loop_collectives.h"

#include "passes/graph/loops/edit_loop.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Reshards of one iter_arg to one type.
struct Candidate {
  unsigned first, iterArg;  // first: its index among the candidates
  RankedTensorType type;
  SmallVector<ReshardOp> reshards;
  ReshardCost cost;
  int64_t bytes = 0;  // of a rank, more than the iter_arg itself
};

SmallVector<Candidate> findCandidates(WhileOp loop, ReshardCosts& costs) {
  SmallVector<Candidate> candidates;
  for (ReshardOp reshard : loop.getBody().getOps<ReshardOp>()) {
    auto argument = dyn_cast<BlockArgument>(reshard.getInput());
    if (!argument || !loop.isInvariant(argument.getArgNumber())) continue;
    auto type = cast<RankedTensorType>(reshard.getType());
    auto known = llvm::find_if(candidates, [&](const Candidate& candidate) {
      return candidate.iterArg == argument.getArgNumber() && candidate.type == type;
    });
    std::optional<ReshardCost> cost = costs.get(cast<RankedTensorType>(argument.getType()), type);
    if (!cost || cost->sentBytes == 0) continue;
    if (known == candidates.end()) {
      MeshAttr mesh = lookupMesh(loop, getSharding(type).getMesh());
      candidates.push_back({static_cast<unsigned>(candidates.size()),
                            argument.getArgNumber(),
                            type,
                            {},
                            *cost,
                            getLocalBytes(type, mesh)});
      known = std::prev(candidates.end());
    }
    known->reshards.push_back(reshard);
  }
  llvm::sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.cost < b.cost || b.cost < a.cost) return b.cost < a.cost;
    return a.first < b.first;
  });
  return candidates;
}

unsigned hoist(WhileOp loop, ReshardCosts& costs, int64_t heldBytes) {
  if (loop.getTrips() && *loop.getTrips() < 2) return 0;
  SmallVector<Candidate> chosen;
  for (Candidate& candidate : findCandidates(loop, costs)) {
    if (candidate.bytes > heldBytes) continue;
    heldBytes -= candidate.bytes;
    chosen.push_back(std::move(candidate));
  }
  if (chosen.empty()) return 0;
  OpBuilder builder(loop);
  SmallVector<Value> inits;
  for (const Candidate& candidate : chosen)
    inits.push_back(
        ReshardOp::create(builder, loop.getLoc(), candidate.type, loop.getInits()[candidate.iterArg]).getResult());
  unsigned first = loop.getNumResults();
  WhileOp larger = addInvariants(loop, inits);
  for (auto [index, candidate] : llvm::enumerate(chosen))
    for (ReshardOp reshard : candidate.reshards) {
      reshard.replaceAllUsesWith(Value(larger.getBody().getArgument(first + index)));
      reshard.erase();
    }
  return chosen.size();
}

}  // namespace

int64_t mlir::sgd::getLocalBytes(RankedTensorType type, MeshAttr mesh) {
  int64_t elements = 1;
  for (int64_t size : getSharding(type).getLocalShape(type.getShape(), mesh)) elements *= size;
  return elements * getElementBytes(type.getElementType());
}

unsigned mlir::sgd::hoistReshards(func::FuncOp function, ReshardCosts& costs, int64_t heldBytes) {
  unsigned numMoved = 0;
  for (Block* block : getProgramBlocks(function)) {
    SmallVector<WhileOp> loops(block->getOps<WhileOp>());
    for (WhileOp loop : loops) numMoved += hoist(loop, costs, heldBytes);
  }
  return numMoved;
}
