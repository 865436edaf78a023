// Each parameter is a piece of the forward pass: with all parameters on stages of their own, ops of the backward pass
// count where they would be too.
#include "passes/time/stages/balance.h"

using namespace mlir;
using namespace mlir::sgd;

/// How much longer than it must a stage may take for fewer bytes to be sent.
static constexpr double kSlack = 1.1;

namespace {
struct Part {
  double seconds = 0;  // of the slowest stage
  double bytes = 0;
  size_t begin = 0;  // of the last stage
};
}  // namespace

/// Ways to cut pieces [0, i) into stages, by stage and i: the best by `isBetter` of those where no stage takes longer
/// than `limit`.
static std::vector<std::vector<std::optional<Part>>> cutPieces(ArrayRef<Piece> pieces, unsigned numStages, double limit,
                                                               bool (*isBetter)(const Part&, const Part&)) {
  std::vector<double> until{0};
  for (const Piece& piece : pieces) until.push_back(until.back() + piece.seconds);
  std::vector<std::vector<std::optional<Part>>> best(numStages + 1,
                                                     std::vector<std::optional<Part>>(pieces.size() + 1));
  best[0][0] = Part();
  for (unsigned stage = 1; stage <= numStages; ++stage)
    for (size_t end = stage; end <= pieces.size(); ++end)
      for (size_t begin = stage - 1; begin < end; ++begin) {
        const std::optional<Part>& before = best[stage - 1][begin];
        double seconds = until[end] - until[begin];
        if (!before || seconds > limit) continue;
        double bytes = end < pieces.size() ? static_cast<double>(pieces[end - 1].bytes) : 0;
        Part part{std::max(before->seconds, seconds), before->bytes + bytes, begin};
        if (!best[stage][end] || isBetter(part, *best[stage][end])) best[stage][end] = part;
      }
  return best;
}

SmallVector<unsigned> mlir::sgd::balance(ArrayRef<Piece> pieces, unsigned numStages) {
  numStages = std::min<size_t>(numStages, pieces.size());
  auto isFaster = [](const Part& a, const Part& b) { return a.seconds < b.seconds; };
  auto sendsLess = [](const Part& a, const Part& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.seconds < b.seconds;
  };
  SmallVector<unsigned> stages(pieces.size(), 0);
  if (pieces.empty()) return stages;
  double least = cutPieces(pieces, numStages, INFINITY, isFaster)[numStages][pieces.size()]->seconds;
  auto best = cutPieces(pieces, numStages, least * kSlack, sendsLess);
  size_t end = pieces.size();
  for (unsigned stage = numStages; stage-- > 0;) {
    size_t begin = best[stage + 1][end]->begin;
    std::fill(stages.begin() + begin, stages.begin() + end, stage);
    end = begin;
  }
  return stages;
}

SmallVector<Piece> mlir::sgd::getPieces(const ProgramFlow& flow, const OpTimes& times) {
  ArrayRef<BlockArgument> parameters = flow.getParameters();
  SmallVector<Piece> pieces(parameters.size());
  if (parameters.empty()) return pieces;
  DenseMap<Value, unsigned> stages;
  for (auto [index, parameter] : llvm::enumerate(parameters)) stages[parameter] = index;
  Placement fine(flow, stages, parameters.size());
  for (Operation& op : flow.getOps())
    if (flow.isInGraph(&op))
      for (unsigned piece : fine.get(&op).set_bits()) pieces[piece].seconds += times.get(&op);
  for (auto [piece, bytes] : llvm::zip(pieces, fine.getForwardBytes())) piece.bytes = bytes;
  return pieces;
}

/// Each parameter that is not given is on the last stage of what it is first used with.
static DenseMap<Value, unsigned> placeByUse(const ProgramFlow& flow, DenseMap<Value, unsigned> stages) {
  DenseMap<Operation*, unsigned> depths;
  for (Operation& op : flow.getOps()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands()) {
      ArrayRef<BlockArgument> sources = flow.getSources(operand);
      for (BlockArgument source : sources)
        if (stages.contains(source)) depth = std::max(depth, stages.lookup(source));
      if (sources.empty() && operand.getDefiningOp()) depth = std::max(depth, depths.lookup(operand.getDefiningOp()));
    }
    depths[&op] = depth;
    if (op.getNumResults() > 0 && !flow.getSources(op.getResult(0)).empty()) continue;
    for (Value operand : op.getOperands())
      for (BlockArgument source : flow.getSources(operand))
        if (flow.isParameter(source)) stages.try_emplace(source, depth);
  }
  for (BlockArgument parameter : flow.getParameters()) stages.try_emplace(parameter, 0);
  return stages;
}

DenseMap<Value, unsigned> mlir::sgd::placeParameters(const ProgramFlow& flow, const DenseMap<Value, unsigned>& given,
                                                     unsigned numStages, ArrayRef<Piece> pieces) {
  if (!given.empty()) return placeByUse(flow, given);
  DenseMap<Value, unsigned> stages;
  for (auto [parameter, stage] : llvm::zip(flow.getParameters(), balance(pieces, numStages))) stages[parameter] = stage;
  return stages;
}
