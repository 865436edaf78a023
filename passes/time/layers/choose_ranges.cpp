// A layer of a family is a piece of the forward pass, with what the backward pass takes for it; so is what is in front
// of a family, and what is behind the last one: the head and its gradients.
#include "passes/time/layers/layer_families.h"
#include "passes/time/stages/balance.h"

using namespace mlir;
using namespace mlir::sgd;

/// Seconds of the ops in front of family 0, 1, .., and behind the last one. What comes behind all loops is for the
/// first layers; updates of state are none of the pipeline's time.
static SmallVector<double> getSeconds(func::FuncOp function, ArrayRef<LayerFamily> families, const OpTimes& times) {
  SmallVector<double> seconds(families.size() + 1, 0);
  DenseMap<Operation*, size_t> begins;
  llvm::SmallDenseSet<Operation*> loops;
  for (auto [number, family] : llvm::enumerate(families)) {
    begins[family.loops.front().op] = number + 1;
    for (const LayerLoop& layers : family.loops) loops.insert(layers.op);
  }
  size_t left = loops.size(), place = 0;
  for (Operation& op : function.front().without_terminator()) {
    if (auto begin = begins.find(&op); begin != begins.end()) place = begin->second;
    if (loops.contains(&op)) {
      --left;
      continue;
    }
    if (left > 0)
      seconds[place] += times.get(&op);
    else if (isa<DotGeneralOp, ConvolutionOp, GatherOp, ScatterOp>(op))
      seconds.front() += times.get(&op);
  }
  return seconds;
}

SmallVector<unsigned> mlir::sgd::chooseRanges(func::FuncOp function, MutableArrayRef<LayerFamily> families,
                                              unsigned numStages, const OpTimes& times) {
  int64_t numLayers = 0;
  for (const LayerFamily& family : families) numLayers += family.getNumLayers();
  if (numLayers < numStages) {
    for (LayerFamily& family : families)
      for (int64_t layer = 0; layer < family.getNumLayers(); ++layer) family.ranges.push_back({layer, 1, std::nullopt});
    return {};
  }
  SmallVector<double> others = getSeconds(function, families, times);
  SmallVector<Piece> pieces;
  for (auto [family, before] : llvm::zip(families, others)) {
    double seconds = 0;
    for (const LayerLoop& layers : family.loops) seconds += times.get(layers.op) / layers.trips;
    pieces.push_back({before, 0});
    pieces.append(family.getNumLayers(), {seconds, 0});
  }
  pieces.push_back({others.back(), 0});
  SmallVector<unsigned> stages = balance(pieces, numStages);
  SmallVector<unsigned> around;
  size_t next = 0;
  for (LayerFamily& family : families) {
    around.push_back(stages[next++]);
    for (int64_t layer = 0; layer < family.getNumLayers(); ++layer, ++next) {
      if (family.ranges.empty() || family.ranges.back().stage != stages[next])
        family.ranges.push_back({layer, 0, stages[next]});
      ++family.ranges.back().count;
    }
    if (!family.loops.front().isReversed) continue;
    for (RowRange& range : family.ranges) range.first = family.getNumLayers() - range.first - range.count;
    std::reverse(family.ranges.begin(), family.ranges.end());
  }
  around.push_back(stages[next]);
  return around;
}
