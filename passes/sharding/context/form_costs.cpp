// Times of one rank, forward and backward together. Matmuls overlap with blocks that travel in a ring; gathers and
// all-to-alls come before or behind all matmuls.
#include "passes/sharding/context/form_costs.h"

#include "dialects/cost/cost_op.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/clock/ring.h"
#include "passes/sharding/context/ring_writer.h"
#include "passes/sharding/context/visited_blocks.h"

using namespace mlir;
using namespace mlir::sgd;

/// The part of a device's memory that whole keys and values of an attention may take: layers have one each.
static constexpr double kMemoryDivisor = 1024;
/// Backward matmuls beside the two of the forward pass: scores again, and four gradients.
static constexpr double kBackwardMatmuls = 2.5;
/// Share of scores that is computed under a causal mask, in tiles of four widths; equal on all ranks.
static constexpr double kSeenShare = 0.63;

int64_t ContextSharding::getOtherRanks() const {
  int64_t ranks = 1;
  for (const AxisParts& parts : others) ranks *= getGroupSize(parts);
  return ranks;
}

std::optional<int64_t> mlir::sgd::findExchangedDim(const AttentionPattern& pattern, const ContextSharding& sharding) {
  std::optional<int64_t> best;
  auto getSize = [&](int64_t dim) { return pattern.shape[dim] / sharding.parts[dim]; };
  for (int64_t dim : pattern.getKeyDims()) {
    if (dim == pattern.getColumn()) continue;
    int64_t tiles = sharding.getRanks() * getGroupSize(sharding.others[dim]) * sharding.parts[dim];
    if (pattern.shape[dim] % tiles == 0 && (!best || getSize(dim) > getSize(*best))) best = dim;
  }
  return best;
}

namespace {
class Estimator {
 public:
  Estimator(const AttentionPattern& pattern, const ContextSharding& sharding, const CostModel& cost)
      : pattern(pattern), sharding(sharding), cost(cost), ranks(sharding.getRanks()) {
    query = getLocalBytes(pattern.query);
    keys = getLocalBytes(pattern.key) + getLocalBytes(pattern.value);
    out = query * AttentionPattern::getDepth(pattern.value) /
          std::max<int64_t>(1, AttentionPattern::getDepth(pattern.query));
    double depths = AttentionPattern::getDepth(pattern.query) + AttentionPattern::getDepth(pattern.value);
    double elements = 1;
    for (int64_t size : pattern.shape) elements *= size;
    precision = getPrecision(tensorType(pattern.key.value).getElementType());
    flops = 2 * elements * depths / ranks / sharding.getOtherRanks() * (hasGradients() ? 1 + kBackwardMatmuls : 1);
    isCausal = pattern.shape[pattern.row] == pattern.shape[pattern.getColumn()] && pattern.getDiagonal() == 0;
  }

  FormEstimate estimate(ContextForm form) const {
    switch (form) {
      case ContextForm::Gathered:
        return estimateGathered();
      case ContextForm::Ring:
        return estimateRing();
      case ContextForm::Striped:
        return estimateStriped();
      case ContextForm::AllToAll:
        return estimateAllToAll();
    }
    llvm_unreachable("all forms have estimates");
  }

 private:
  bool hasGradients() const { return pattern.hasGradients(); }

  double getLocalBytes(const LabelledValue& operand) const {
    RankedTensorType type = tensorType(operand.value);
    double bytes = type.getElementTypeBitWidth() / 8.0 / ranks;
    for (auto [label, size] : llvm::zip(operand.labels, type.getShape()))
      bytes *= label >= 0 ? llvm::divideCeil(size, getGroupSize(sharding.others[label])) : size;
    return bytes;
  }

  double send(CollectiveKind kind, double bytes) const {
    return cost.getCollectiveSeconds(kind, sharding.positions, static_cast<uint64_t>(bytes));
  }

  double compute(double flops) const { return cost.getSeconds(Work().add(OperationKind::Matmul, precision, flops)); }

  /// Of elementwise kernels that read and write `bytes` together.
  double move(double bytes) const { return cost.getSeconds(Work::ofCopy(bytes / 2)); }

  FormEstimate estimateGathered() const {
    if (ranks * keys > static_cast<double>(cost.getTopology().device.memoryBytes) / kMemoryDivisor)
      return {ContextForm::Gathered, 0,
              "whole keys and values would take " + getMegabytes(ranks * keys) + " MB of a rank"};
    double seconds = compute(flops) + send(CollectiveKind::kAllGather, ranks * keys);
    if (hasGradients()) seconds += send(CollectiveKind::kReduceScatter, ranks * keys);
    return {ContextForm::Gathered, seconds, ""};
  }

  FormEstimate estimateRing() const {
    if (!canComputeInRing(pattern))
      return {ContextForm::Ring, 0, "its mask or bias is a tensor with an entry for each pair of positions"};
    return {ContextForm::Ring, getRingSeconds(flops, countVisitedBlocks(pattern, ranks)), ""};
  }

  FormEstimate estimateStriped() const {
    if (!canComputeInRing(pattern) || !isCausal)
      return {ContextForm::Striped, 0, "its mask is none that hides all later positions and no others"};
    return {ContextForm::Striped, getRingSeconds(kSeenShare * flops, ranks) + getExchangeSeconds(), ""};
  }

  /// Blocks arrive beside what is computed; results are read and written again in each step.
  double getRingSeconds(double flops, int64_t visited) const {
    double share = hasGradients() ? 1 / (1 + kBackwardMatmuls) : 1;
    double forward = getSteps(visited, flops * share / ranks, keys, 3 * out + 4 * keys);
    if (!hasGradients()) return forward;
    return forward + getSteps(visited, flops * (1 - share) / ranks, 2 * keys, 3 * query + 11 * keys);
  }

  /// Of queries, keys, values and results, and of their gradients: there, or back.
  double getExchangeSeconds() const {
    double seconds = 0;
    for (double bytes : {query, keys / 2, keys / 2, out})
      seconds += (hasGradients() ? 2 : 1) * (send(CollectiveKind::kAllToAll, bytes) + move(4 * bytes));
    return seconds;
  }

  double getSteps(int64_t visited, double flops, double sent, double moved) const {
    return mlir::sgd::getRingSeconds(visited, compute(flops) + move(moved), send(CollectiveKind::kGatherRange, sent));
  }

  FormEstimate estimateAllToAll() const {
    if (!sharding.exchanged)
      return {ContextForm::AllToAll, 0, "no dimension of heads or batch entries is a multiple of the ranks"};
    double seconds = compute((isCausal ? kSeenShare : 1) * flops) + getExchangeSeconds();
    return {ContextForm::AllToAll, seconds, ""};
  }

  static std::string getMegabytes(double bytes) { return std::to_string(static_cast<int64_t>(bytes / 1e6 + 0.5)); }

  const AttentionPattern& pattern;
  const ContextSharding& sharding;
  const CostModel& cost;
  int64_t ranks;
  double query, keys, out;  // bytes of a rank: keys with values
  double flops;
  Precision precision;
  bool isCausal;
};
}  // namespace

std::vector<FormEstimate> mlir::sgd::estimateForms(const AttentionPattern& pattern, const ContextSharding& sharding,
                                                   const CostModel& cost) {
  Estimator estimator(pattern, sharding, cost);
  std::vector<FormEstimate> estimates;
  for (ContextForm form : kContextForms) estimates.push_back(estimator.estimate(form));
  return estimates;
}
