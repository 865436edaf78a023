// The pass sgd-choose-shardings. Each form is sharded and localised in a copy of the module, by the passes that will do
// it to the program.
#include "dialects/sgd/decision.h"
#include "dialects/sgd/programs.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/sharding/propagation/passes.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/choice/candidates.h"
#include "passes/spmd/choice/passes.h"
#include "passes/spmd/choice/program_cost.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/collectives/update_decision.h"
#include "passes/spmd/compress/compression_settings.h"
#include "passes/spmd/partition/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_CHOOSESHARDINGSPASS
#include "passes/spmd/choice/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// The part of what the program sends that another form must save, and the part by which it may hold more.
static constexpr double kLeastSaved = 0.02, kMoreBytes = 0.1;

namespace {
/// A form of a program, partitioned.
struct Partitioned {
  ProgramCost cost;
  SmallVector<Attribute> boundary;  // shardings of arguments and results that stay
};

struct ChooseShardingsPass : mlir::sgd::impl::ChooseShardingsPassBase<ChooseShardingsPass> {
  using ChooseShardingsPassBase::ChooseShardingsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    if (functions.size() != 1 || functions[0].isExternal() || !llvm::hasSingleElement(functions[0].getBody())) return;
    // Compressed along named axes, reductions over more of them would not be.
    if (!CompressionSettings(getOperation()).empty()) return;
    SmallVector<Candidate> candidates = findCandidates(functions[0], mesh, weighsConstraints);
    if (candidates.empty()) return;
    choose(functions[0], candidates);
  }

 private:
  void choose(func::FuncOp function, ArrayRef<Candidate> candidates);
  std::optional<Partitioned> partition(const Candidate& candidate);
};
}  // namespace

/// The shardings of arguments and results that another form must keep: the user's, and those of arguments that other
/// programs of the artifact have too. Called on a function that sgd-shard has left.
static SmallVector<Attribute> getBoundary(func::FuncOp function, const llvm::BitVector& free) {
  SmallVector<Attribute> shardings;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    shardings.push_back(free[index] ? Attribute() : function.getArgAttr(index, kShardingAttr));
  SmallVector<BlockArgument> next = getNextArguments(function);
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    bool isFree = next[index] && free[next[index].getArgNumber()];
    shardings.push_back(isFree ? Attribute() : function.getResultAttr(index, kShardingAttr));
  }
  return shardings;
}

static bool isOpen(ShardingAttr annotation) {
  return llvm::any_of(annotation.getDims(), [](DimShardingAttr dim) { return dim.getIsOpen(); });
}

/// Arguments without annotations, or with ones that leave some to the compiler, if it is known which of them other
/// programs have.
static llvm::BitVector findFreeArguments(func::FuncOp function, bool arePinned) {
  llvm::BitVector free(function.getNumArguments());
  for (unsigned index = 0; arePinned && index < free.size(); ++index) {
    auto annotation = function.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
    free[index] = !function.getArgAttr(index, kPinnedAttr) && (!annotation || isOpen(annotation));
  }
  return free;
}

/// Nothing where the form cannot be partitioned; what passes say about it is dropped, since the program may take
/// another.
std::optional<Partitioned> ChooseShardingsPass::partition(const Candidate& candidate) {
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic&) { return success(); });
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  func::FuncOp function = *copy->getOps<func::FuncOp>().begin();
  candidate.apply(function);
  llvm::BitVector free = findFreeArguments(function, sharedArePinned);
  PassManager sharding(&getContext()), rest(&getContext());
  sharding.enableVerifier(false);
  rest.enableVerifier(false);
  sharding.addPass(createShardPass());
  rest.addPass(createPlaceReductionsPass(PlaceReductionsPassOptions{topologyName}));
  rest.addPass(createLocalizePass(LocalizePassOptions{topologyName}));
  rest.addNestedPass<func::FuncOp>(createSimplifyCollectivesPass());
  Partitioned result;
  if (failed(sharding.run(*copy))) return std::nullopt;
  result.boundary = getBoundary(function, free);
  if (failed(rest.run(*copy))) return std::nullopt;
  result.cost = measureProgram(function);
  return result;
}

/// True when `other` may replace `current`: neither sends nor holds more for what it saves.
static bool isBetter(const Partitioned& other, const Partitioned& current) {
  const ProgramCost &cost = other.cost, &now = current.cost;
  return other.boundary == current.boundary && cost.getCommunication() <= now.getCommunication() &&
         cost.getTotal() + kLeastSaved * now.getCommunication() < now.getTotal() &&
         static_cast<double>(cost.peakBytes) <= (1 + kMoreBytes) * static_cast<double>(now.peakBytes);
}

void ChooseShardingsPass::choose(func::FuncOp function, ArrayRef<Candidate> candidates) {
  std::optional<Partitioned> current = partition(Candidate()), best;
  if (!current) return;  // the passes after this one will say why
  const Candidate* chosen = nullptr;
  for (const Candidate& candidate : candidates) {
    ++numCompared;
    std::optional<Partitioned> other = partition(candidate);
    if (!other || !isBetter(*other, *current)) continue;
    if (best && other->cost.getTotal() >= best->cost.getTotal()) continue;
    best = std::move(other);
    chosen = &candidate;
  }
  if (!chosen) return;
  ++numChosen;
  Decision decision{.kind = DecisionKind::Choice};
  decision.chosen = chosen->getText(function);
  decision.bytes = static_cast<uint64_t>(best->cost.sentBytes);
  decision.alternatives = {{.name = "as annotated", .bytes = static_cast<uint64_t>(current->cost.sentBytes)}};
  llvm::raw_string_ostream(decision.why) << decision.chosen << ", the program sends about " << decision.bytes
                                         << " bytes a step instead of " << decision.alternatives.front().bytes;
  chosen->apply(function);
  addDecision(function, decision);
}
