// Collectives on plain vectors.
#include "reshard_simulator.h"

#include <numeric>

using namespace mlir::sgd;
using namespace mlir::sgd::test;
using llvm::ArrayRef;

namespace {
int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>());
}

/// Part `index` of `parts` along `dim`.
LocalTensor slice(const LocalTensor& tensor, int64_t dim, int64_t parts, int64_t index) {
  LocalTensor result;
  result.shape = tensor.shape;
  result.shape[dim] /= parts;
  int64_t inner = product(ArrayRef<int64_t>(tensor.shape).drop_front(dim + 1)), size = result.shape[dim];
  for (int64_t outer = 0; outer < product(ArrayRef<int64_t>(tensor.shape).take_front(dim)); ++outer) {
    auto begin = tensor.values.begin() + (outer * tensor.shape[dim] + index * size) * inner;
    result.values.insert(result.values.end(), begin, begin + size * inner);
  }
  return result;
}

LocalTensor concatenate(const std::vector<LocalTensor>& parts, int64_t dim) {
  LocalTensor result;
  result.shape = parts[0].shape;
  result.shape[dim] *= parts.size();
  int64_t run = product(ArrayRef<int64_t>(parts[0].shape).drop_front(dim));
  for (int64_t outer = 0; outer < product(ArrayRef<int64_t>(parts[0].shape).take_front(dim)); ++outer)
    for (const LocalTensor& part : parts)
      result.values.insert(result.values.end(), part.values.begin() + outer * run,
                           part.values.begin() + (outer + 1) * run);
  return result;
}

LocalTensor sum(const std::vector<LocalTensor>& parts) {
  LocalTensor result = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    for (size_t j = 0; j < result.values.size(); ++j) result.values[j] += parts[i].values[j];
  return result;
}
}  // namespace

int64_t ReshardSimulator::getRanks() const { return product(mesh); }

static int64_t getDigit(ArrayRef<int64_t> mesh, int64_t rank, const AxisPart& part) {
  return rank / getRankStride(mesh, part) % part.size;
}

int64_t ReshardSimulator::getIndex(int64_t rank, ArrayRef<AxisPart> parts) const {
  int64_t index = 0;
  for (const AxisPart& part : parts) index = index * part.size + getDigit(mesh, rank, part);
  return index;
}

std::vector<int64_t> ReshardSimulator::getGroup(int64_t rank, ArrayRef<AxisPart> parts) const {
  int64_t base = rank;
  for (const AxisPart& part : parts) base -= getDigit(mesh, rank, part) * getRankStride(mesh, part);
  std::vector<int64_t> group(getGroupSize(parts), base);
  for (int64_t index = 0; index < getGroupSize(parts); ++index) {
    int64_t rest = index;
    for (const AxisPart& part : llvm::reverse(parts)) {
      group[index] += rest % part.size * getRankStride(mesh, part);
      rest /= part.size;
    }
  }
  return group;
}

LocalTensor ReshardSimulator::getBlock(int64_t rank, const ShardState& state) const {
  LocalTensor tensor{shape, std::vector<int64_t>(product(shape))};
  std::iota(tensor.values.begin(), tensor.values.end(), 1);
  for (auto [dim, parts] : llvm::enumerate(state.dims))
    tensor = slice(tensor, dim, getGroupSize(parts), getIndex(rank, parts));
  return tensor;
}

void ReshardSimulator::run(const ReshardStep& step, std::vector<LocalTensor>& ranks) const {
  std::vector<LocalTensor> before = ranks;
  for (int64_t rank = 0; rank < getRanks(); ++rank) {
    int64_t index = getIndex(rank, step.axes), parts = getGroupSize(step.axes);
    std::vector<LocalTensor> operands;
    for (int64_t peer : getGroup(rank, step.axes)) operands.push_back(before[peer]);
    switch (step.kind) {
      case ReshardStep::Kind::Slice:
        ranks[rank] = slice(before[rank], step.dim, parts, index);
        break;
      case ReshardStep::Kind::AllGather:
        ranks[rank] = concatenate(operands, step.dim);
        break;
      case ReshardStep::Kind::AllReduce:
        ranks[rank] = sum(operands);
        break;
      case ReshardStep::Kind::ReduceScatter:
        ranks[rank] = slice(sum(operands), step.dim, parts, index);
        break;
      case ReshardStep::Kind::AllToAll:
        for (LocalTensor& operand : operands) operand = slice(operand, step.dim, parts, index);
        ranks[rank] = concatenate(operands, step.concat);
        break;
      case ReshardStep::Kind::Permute:
        for (int64_t peer : getGroup(rank, step.axes))
          if (getIndex(peer, step.fromAxes) == index) ranks[rank] = before[peer];
        break;
      case ReshardStep::Kind::Mask:
        if (index != 0) std::fill(ranks[rank].values.begin(), ranks[rank].values.end(), 0);
        break;
    }
  }
}

std::string ReshardSimulator::check(const ReshardPlan& plan, const ShardState& from, const ShardState& to) const {
  std::vector<LocalTensor> ranks;
  for (int64_t rank = 0; rank < getRanks(); ++rank) {
    // Summands differ between the ranks of a partial group and add up to the block.
    LocalTensor block = getBlock(rank, from);
    int64_t summands = getGroupSize(from.partial), index = getIndex(rank, from.partial);
    for (int64_t& value : block.values)
      value = index == 0 ? value - 1000 * (summands * (summands - 1) / 2) : 1000 * index;
    ranks.push_back(std::move(block));
  }
  for (const ReshardStep& step : plan.steps) run(step, ranks);
  for (int64_t rank = 0; rank < getRanks(); ++rank) {
    std::vector<LocalTensor> summands;
    for (int64_t peer : getGroup(rank, to.partial)) summands.push_back(ranks[peer]);
    LocalTensor expected = getBlock(rank, to);
    if (ranks[rank].shape != expected.shape) return "rank " + std::to_string(rank) + " has a wrong shape";
    if (sum(summands).values != expected.values) return "rank " + std::to_string(rank) + " has wrong values";
  }
  return "";
}
