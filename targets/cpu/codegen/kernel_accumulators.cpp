// Reductions of a kernel: one accumulator of each width that a row's lane loops use, joined when the row has been
// walked.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/element_ops.h"
#include "targets/cpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

void KernelEmitter::declareAccumulators(unsigned phase) {
  fusion::ClusterOp cluster = plan.cluster;
  SmallVector<unsigned, 3> widths;
  if (plan.laneInRow)
    for (auto [lanes, points] : laneParts(plan.space.extent(plan.laneVar))) widths.push_back(lanes);
  else
    widths.push_back(width);
  OpBuilder attributes(cluster.getContext());
  for (auto [number, node] : llvm::enumerate(plan.nodes)) {
    if (node.kind != NodeKind::Reduce || node.phase != phase) continue;
    Accumulator accumulator{static_cast<unsigned>(number), {}, widths};
    TypedAttr neutral = getNeutralElement(attributes, cast<ReduceOp>(node.op).getKind(), node.type);
    for (unsigned lanes : widths) {
      VectorBuilder v(b, lanes);
      llvm::Type* type = v.lanes(v.computeType(node.type));
      llvm::IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
      auto* slot = top.CreateAlloca(type);
      b.CreateStore(v.splat(emitScalarConstant(VectorBuilder(b, 1), neutral, node.type)), slot);
      accumulator.parts.push_back(slot);
    }
    accumulators.push_back(std::move(accumulator));
  }
}

void KernelEmitter::accumulate() {
  VectorBuilder v = vectors();
  for (Accumulator& accumulator : accumulators) {
    const Node& node = plan.nodes[accumulator.node];
    auto part = llvm::find(accumulator.widths, width) - accumulator.widths.begin();
    llvm::AllocaInst* slot = accumulator.parts[part];
    LValue* element = lanesOf(node.operands[0]);
    if (!element) return;
    LValue* before = b.CreateLoad(slot->getAllocatedType(), slot);
    LValue* after = emitCombiner(v, cast<ReduceOp>(node.op).getKind(), node.type, before, element);
    b.CreateStore(mask ? b.CreateSelect(mask, after, before) : after, slot);
  }
}

/// Halves of a vector are combined until `lanes` are left.
LValue* KernelEmitter::fold(LValue* vector, unsigned from, unsigned to, ReduceKind kind, Type type) {
  for (; from > to; from /= 2) {
    VectorBuilder half(b, from / 2);
    SmallVector<int> low, high;
    for (unsigned lane = 0; lane < from / 2; ++lane) low.push_back(lane), high.push_back(lane + from / 2);
    LValue* left = from == 2 ? b.CreateExtractElement(vector, uint64_t{0}) : b.CreateShuffleVector(vector, low);
    LValue* right = from == 2 ? b.CreateExtractElement(vector, uint64_t{1}) : b.CreateShuffleVector(vector, high);
    vector = emitCombiner(half, kind, type, left, right);
  }
  return vector;
}

LValue* KernelEmitter::finishAccumulator(Accumulator& accumulator) {
  const Node& node = plan.nodes[accumulator.node];
  ReduceKind kind = cast<ReduceOp>(node.op).getKind();
  LValue* sum = nullptr;
  unsigned lanes = 0;
  for (auto [slot, partLanes] : llvm::zip(accumulator.parts, accumulator.widths)) {
    LValue* part = b.CreateLoad(slot->getAllocatedType(), slot);
    VectorBuilder v(b, partLanes);
    sum = sum ? emitCombiner(v, kind, node.type, fold(sum, lanes, partLanes, kind, node.type), part) : part;
    lanes = partLanes;
  }
  if (plan.laneInRow) {
    sum = fold(sum, lanes, 1, kind, node.type);
    lanes = 1;
  }
  return VectorBuilder(b, lanes).round(sum, node.type);
}
