// The pass sgd-shard-attention.
#include "dialects/sgd/sequential.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/sharding/context/exchange_writer.h"
#include "passes/sharding/context/passes.h"
#include "passes/sharding/context/ring_writer.h"
#include "passes/sharding/context/sequential_dims.h"
#include "passes/sharding/reshard/sharding_state.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARDATTENTIONPASS
#include "passes/sharding/context/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The shardings that sgd-shard would give a function's values, computed on a copy; nothing where positions of no
/// attention can be sharded.
class LookAhead {
 public:
  LookAhead(func::FuncOp function, ArrayRef<math::ExpOp> exponentials, const MeshAxes& mesh)
      : copy(function, mesh, [](func::FuncOp) {}) {
    // Conflicts are resolved by what propagation has found, which takes as long.
    arePositionsSharded =
        copy && llvm::any_of(exponentials, [&](math::ExpOp exponential) { return hasShardedPositions(exponential); });
    if (arePositionsSharded) copy.resolveConflicts();
  }

  explicit operator bool() const { return arePositionsSharded; }
  AxisParts getAxes(Value value, int64_t dim) const { return copy.getAxes(value, dim); }

 private:
  /// Of scores, or of queries and keys: dimensions that only one of these has.
  bool hasShardedPositions(math::ExpOp exponential) const {
    AttentionScores scores = *matchAttentionScores(exponential);
    auto isSharded = [&](Value value, ArrayRef<int64_t> labels) {
      return llvm::any_of(llvm::enumerate(labels), [&](auto label) {
        bool isShared = llvm::is_contained(scores.matmul.getLhsLabels(), label.value()) &&
                        llvm::is_contained(scores.matmul.getRhsLabels(), label.value());
        return !isShared && !getAxes(value, label.index()).empty();
      });
    };
    return isSharded(scores.matmul.getLhs(), scores.matmul.getLhsLabels()) ||
           isSharded(scores.matmul.getRhs(), scores.matmul.getRhsLabels()) ||
           isSharded(scores.matmul.getResult(), scores.matmul.getResultLabels());
  }

  PropagatedCopy copy;
  bool arePositionsSharded;
};

/// 0, 1, 2, ...: positions that a frontend has computed.
bool counts(arith::ConstantOp constant) {
  auto numbers = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!numbers || numbers.isSplat() || numbers.getType().getRank() != 1 || numbers.getElementType().isInteger(1))
    return false;
  int64_t next = 0;
  return llvm::all_of(numbers.getValues<APInt>(), [&](const APInt& number) { return number == next++; });
}

/// Positions of masks as iotas, of which a block has its own without being sent it.
void makeIotas(Block& block) {
  for (auto constant : llvm::make_early_inc_range(block.getOps<arith::ConstantOp>())) {
    if (!counts(constant)) continue;
    OpBuilder builder(constant);
    auto iota = IotaOp::create(builder, constant.getLoc(), cast<RankedTensorType>(constant.getType()), 0);
    constant.replaceAllUsesWith(iota.getResult());
    constant.erase();
  }
}

/// Whether a matmul of the weights with something else than queries and keys follows: a softmax of logits has none.
bool weighsValues(const AttentionScores& scores) {
  auto strip = [](Value value) {
    return stripLayout(value, SmallVector<int64_t>(cast<RankedTensorType>(value.getType()).getRank())).value;
  };
  Value query = strip(scores.matmul.getLhs()), key = strip(scores.matmul.getRhs());
  SetVector<Value> weights;
  weights.insert(AttentionScores(scores).exponential.getResult());
  for (size_t next = 0; next < weights.size(); ++next)
    for (Operation* user : weights[next].getUsers()) {
      if (LabelledMatmul matmul{user}) {
        Value other = strip(matmul.getLhs() == weights[next] ? matmul.getRhs() : matmul.getLhs());
        if (other != query && other != key) return true;
      } else if (isa<arith::DivFOp, arith::TruncFOp, arith::ExtFOp, TransposeOp>(user)) {
        weights.insert(user->getResult(0));
      }
    }
  return false;
}

struct ShardAttentionPass : mlir::sgd::impl::ShardAttentionPassBase<ShardAttentionPass> {
  using ShardAttentionPassBase::ShardAttentionPassBase;

  void runOnOperation() final {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh || mesh.getMesh().getNumRanks() == 1) return;
    if (auto asked = mesh->getAttrOfType<StringAttr>(kAttentionAttr); asked && form.empty()) form = asked.str();
    if (!form.empty() && !parseContextForm(form)) {
      getOperation().emitError() << "attention in the form '" << form
                                 << "'; expected ring, striped_ring, all_to_all or gathered";
      return signalPassFailure();
    }
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(visit(function, axes, *cost))) return signalPassFailure();
    if (!form.empty() && !hasDecisions)
      mesh.emitWarning()
          << "attention in the form '" << form
          << "' has no effect: no attention has sharded positions; shard the dimension of its positions over a mesh "
             "axis, or ask for no form";
  }

  LogicalResult visit(func::FuncOp function, const MeshAxes& mesh, const CostModel& cost) {
    SmallVector<math::ExpOp> exponentials;
    for (Block* block : getProgramBlocks(function))
      for (auto exponential : block->getOps<math::ExpOp>())
        if (matchAttentionScores(exponential)) exponentials.push_back(exponential);
    if (exponentials.empty()) return success();
    for (Block* block : getProgramBlocks(function)) makeIotas(*block);
    LookAhead shardings(function, exponentials, mesh);
    // Positions are whole. (What propagation refuses is refused by the pass that does it.)
    if (!shardings) return success();
    SequentialDims sequential(function, mesh.getName(), getSequentialAxis(getMesh(getOperation())));
    for (math::ExpOp exponential : exponentials) {
      // Matched again, since it may be of values that have been replaced.
      std::optional<AttentionPattern> pattern = matchAttention(exponential);
      if (!pattern) {
        FailureOr<std::optional<ContextDecision>> decision = leave(exponential, shardings);
        if (failed(decision)) return failure();
        if (*decision) record(function, exponential, **decision);
        continue;
      }
      std::optional<ContextSharding> sharding = getSharding(*pattern, shardings, sequential);
      if (!sharding) continue;
      FailureOr<ContextDecision> decision = decide(*pattern, *sharding, cost);
      if (failed(decision)) return failure();
      record(function, exponential, *decision);
      write(*pattern, *sharding, decision->form, mesh);
    }
    return success();
  }

  void record(func::FuncOp function, math::ExpOp exponential, const ContextDecision& decision) {
    addDecision(function, decision.toDecision(exponential.getLoc()));
    hasDecisions = true;
  }

  /// Nullopt where positions are whole.
  static std::optional<ContextSharding> getSharding(const AttentionPattern& pattern, const LookAhead& shardings,
                                                    const SequentialDims& sequential) {
    Value exponential = AttentionScores(pattern.scores).exponential.getResult();
    ContextSharding sharding;
    sharding.positions = shardings.getAxes(exponential, pattern.row);
    if (sharding.positions.empty()) sharding.positions = shardings.getAxes(exponential, pattern.getColumn());
    if (sharding.positions.empty()) return std::nullopt;
    for (int64_t dim = 0; dim < static_cast<int64_t>(pattern.shape.size()); ++dim) {
      bool isPosition = dim == pattern.row || dim == pattern.getColumn();
      sharding.others.push_back(isPosition ? AxisParts() : shardings.getAxes(exponential, dim));
      sharding.parts.push_back(sequential.getParts(exponential, dim));
    }
    sharding.exchanged = findExchangedDim(pattern, sharding);
    return sharding;
  }

  InFlightDiagnostic refuse(math::ExpOp exponential, StringRef why) {
    return exponential.emitError() << "attention cannot be computed in the form '" << form
                                   << "' that the recipe asks for: " << why
                                   << "; expected a form that it has; ask for another one, or for none";
  }

  /// The decision about a softmax of scores that matches no pattern; nothing if its positions are not sharded.
  FailureOr<std::optional<ContextDecision>> leave(math::ExpOp exponential, const LookAhead& shardings) {
    AttentionScores scores = *matchAttentionScores(exponential);
    if (!weighsValues(scores)) return std::optional<ContextDecision>();
    ContextDecision decision;
    // Dimensions of one operand alone are positions: of queries, or of keys.
    for (auto [label, dim] : llvm::zip(scores.matmul.getResultLabels(), scores.matmulDims)) {
      bool isShared = llvm::is_contained(scores.matmul.getLhsLabels(), label) &&
                      llvm::is_contained(scores.matmul.getRhsLabels(), label);
      if (!isShared && dim >= 0)
        decision.ranks = std::max(decision.ranks, getGroupSize(shardings.getAxes(exponential, dim)));
    }
    if (decision.ranks <= 1) return std::optional<ContextDecision>();
    decision.why =
        "its weights, or what they are computed from, are read by more than matmuls with values and gradients (a loop "
        "over layers stacks them: "
        "jax.checkpoint computes them again instead)";
    std::optional<ContextForm> asked = parseContextForm(form);
    if (asked && asked != ContextForm::Gathered) return refuse(exponential, decision.why), failure();
    if (!asked) exponential.emitRemark() << decision.getText();
    return std::optional(decision);
  }

  FailureOr<ContextDecision> decide(const AttentionPattern& pattern, const ContextSharding& sharding,
                                    const CostModel& cost) {
    math::ExpOp exponential = pattern.scores.exponential;
    ContextDecision decision;
    decision.ranks = sharding.getRanks();
    decision.estimates = estimateForms(pattern, sharding, cost);
    std::optional<ContextForm> asked = parseContextForm(form);
    decision.isAskedFor = asked.has_value();
    const FormEstimate* best = nullptr;
    for (const FormEstimate& estimate : decision.estimates) {
      // A requested gather is done for any size.
      if (asked == estimate.form && !estimate.why.empty() && asked != ContextForm::Gathered) {
        refuse(exponential, estimate.why);
        return failure();
      }
      bool isBetter =
          asked ? asked == estimate.form : estimate.why.empty() && (!best || estimate.seconds < best->seconds);
      if (isBetter) best = &estimate;
    }
    decision.form = best ? best->form : ContextForm::Gathered;
    bool hasChoice = llvm::any_of(decision.estimates, [](const FormEstimate& estimate) {
      return estimate.form != ContextForm::Gathered && estimate.why.empty();
    });
    if (!asked && !hasChoice) exponential.emitRemark() << decision.getText();
    return decision;
  }

  void write(const AttentionPattern& pattern, const ContextSharding& sharding, ContextForm chosen,
             const MeshAxes& mesh) {
    if (chosen == ContextForm::Gathered) return;
    if (chosen == ContextForm::AllToAll) {
      ++numExchanged;
      return writeExchange(pattern, sharding, mesh);
    }
    ++numRings;
    Block* block = math::ExpOp(pattern.scores.exponential)->getBlock();
    ContextAxes context{mesh.getName(), {}, sharding.getRanks(), chosen == ContextForm::Striped};
    for (const AxisPart& part : sharding.positions) context.axes.push_back(getAxisRef(mesh.getMesh(), part));
    writeRing(pattern, context);
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op)) op.erase();
  }

  bool hasDecisions = false;
};

}  // namespace
