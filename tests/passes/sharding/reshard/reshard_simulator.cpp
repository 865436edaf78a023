// Collectives on plain vectors. Padding is a value of its own, which sums keep.
#include "reshard_simulator.h"

#include <limits>
#include <numeric>

using namespace mlir::sgd;
using namespace mlir::sgd::test;
using llvm::ArrayRef;

namespace {
constexpr int64_t kPadding = std::numeric_limits<int64_t>::min();

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

/// Elements [begin, begin + size) along `dim`; what lies beyond the end is padding.
LocalTensor takeRange(const LocalTensor& tensor, int64_t dim, int64_t begin, int64_t size) {
  LocalTensor result;
  result.shape = tensor.shape;
  result.shape[dim] = size;
  int64_t inner = product(ArrayRef<int64_t>(tensor.shape).drop_front(dim + 1));
  for (int64_t outer = 0; outer < product(ArrayRef<int64_t>(tensor.shape).take_front(dim)); ++outer)
    for (int64_t at = begin; at < begin + size; ++at)
      for (int64_t i = 0; i < inner; ++i)
        result.values.push_back(at < tensor.shape[dim] ? tensor.values[(outer * tensor.shape[dim] + at) * inner + i]
                                                       : kPadding);
  return result;
}

LocalTensor sum(const std::vector<LocalTensor>& parts) {
  LocalTensor result = parts[0];
  for (size_t i = 1; i < parts.size(); ++i)
    for (size_t j = 0; j < result.values.size(); ++j) {
      bool isPadding = result.values[j] == kPadding || parts[i].values[j] == kPadding;
      result.values[j] = isPadding ? kPadding : result.values[j] + parts[i].values[j];
    }
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
  for (auto [dim, parts] : llvm::enumerate(state.dims)) {
    int64_t tile = (shape[dim] + getGroupSize(parts) - 1) / getGroupSize(parts);
    tensor = takeRange(tensor, dim, getIndex(rank, parts) * tile, tile);
  }
  return tensor;
}

/// The tile of `size` elements at this rank's index over `step.axes`, from the tiles of its peers over `step.fromAxes`.
LocalTensor ReshardSimulator::gatherRange(const ReshardStep& step, int64_t rank,
                                          const std::vector<LocalTensor>& before) const {
  std::vector<LocalTensor> tiles;
  for (int64_t peer : getGroup(rank, step.fromAxes)) tiles.push_back(before[peer]);
  LocalTensor joined = takeRange(concatenate(tiles, step.dim), step.dim, 0, shape[step.dim]);
  return takeRange(joined, step.dim, getIndex(rank, step.axes) * step.size, step.size);
}

/// Gathers what leaves a dimension, its minor end first, and slices what arrives, in order.
void ReshardSimulator::runMoves(llvm::ArrayRef<ReshardStep::Move> moves, std::vector<LocalTensor>& ranks) const {
  for (const ReshardStep::Move& move : llvm::reverse(moves))
    run({ReshardStep::Kind::AllGather, move.from, 0, move.axes, {}}, ranks);
  for (const ReshardStep::Move& move : moves) run({ReshardStep::Kind::Slice, move.to, 0, move.axes, {}}, ranks);
}

void ReshardSimulator::run(const ReshardStep& step, std::vector<LocalTensor>& ranks) const {
  if (!step.moves.empty()) return runMoves(step.moves, ranks);
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
      case ReshardStep::Kind::Place:
        for (LocalTensor& operand : operands)
          if (&operand != &operands[index]) std::fill(operand.values.begin(), operand.values.end(), 0);
        ranks[rank] = concatenate(operands, step.dim);
        break;
      case ReshardStep::Kind::Resize:
        ranks[rank] = takeRange(before[rank], step.dim, 0, step.size);
        break;
      case ReshardStep::Kind::GatherRange:
        ranks[rank] = gatherRange(step, rank, before);
        break;
    }
  }
}

bool ReshardSimulator::isWhole(const LocalTensor& tensor) const {
  int64_t held = 1;
  for (size_t dim = 0; dim < shape.size(); ++dim) held *= std::min(tensor.shape[dim], shape[dim]);
  return held >= product(shape);
}

std::string ReshardSimulator::check(const ReshardPlan& plan, const ShardState& from, const ShardState& to) const {
  std::vector<LocalTensor> ranks;
  for (int64_t rank = 0; rank < getRanks(); ++rank) {
    // Summands differ between the ranks of a partial group and add up to the block.
    LocalTensor block = getBlock(rank, from);
    int64_t summands = getGroupSize(from.partial), index = getIndex(rank, from.partial);
    for (int64_t& value : block.values)
      if (value != kPadding) value = index == 0 ? value - 1000 * (summands * (summands - 1) / 2) : 1000 * index;
    ranks.push_back(std::move(block));
  }
  bool mayBeWhole = isWhole(getBlock(0, from)) || isWhole(getBlock(0, to));
  for (const ReshardStep& step : plan.steps) {
    run(step, ranks);
    if (!mayBeWhole && !plan.materialises && isWhole(ranks[0])) return "ranks hold the whole tensor";
  }
  for (int64_t rank = 0; rank < getRanks(); ++rank) {
    std::vector<LocalTensor> summands;
    for (int64_t peer : getGroup(rank, to.partial)) summands.push_back(ranks[peer]);
    LocalTensor expected = getBlock(rank, to);
    if (ranks[rank].shape != expected.shape) return "rank " + std::to_string(rank) + " has a wrong shape";
    LocalTensor result = sum(summands);
    for (size_t i = 0; i < expected.values.size(); ++i)
      if (expected.values[i] == kPadding) result.values[i] = kPadding;
    if (result.values != expected.values) return "rank " + std::to_string(rank) + " has wrong values";
  }
  return "";
}
