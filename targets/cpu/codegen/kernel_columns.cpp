// Reductions over rows of memory whose lanes are columns: rows are read in the order of memory, and one accumulator per
// column stays in a buffer that the nearest cache holds.
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/element_ops.h"
#include "targets/cpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

/// Rows that are added to the accumulators between loading and storing them; fewer where functions take longer than
/// that.
static constexpr int64_t kRowsAtOnce = 8, kHeavyRowsAtOnce = 2;

/// Values that differ between rows but not between columns are computed once per row, not once per row and vector;
/// loads and their indices are as cheap either way.
static bool hasRowValues(const KernelPlan& plan) {
  uint64_t row = plan.mask(plan.rowVars);
  return llvm::any_of(plan.nodes, [&](const Node& node) {
    return node.kind == NodeKind::Elementwise && (node.vars & row) != 0 && !(node.vars >> plan.laneVar & 1);
  });
}

llvm::AllocaInst* KernelEmitter::buffer(unsigned node, int64_t elements) {
  llvm::AllocaInst*& slot = buffers[node];
  if (!slot) {
    llvm::IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    slot = top.CreateAlloca(llvm::ArrayType::get(bufferType(node), elements));
    slot->setAlignment(llvm::Align(64));
  }
  return slot;
}

/// As computed with, but a byte for a boolean.
llvm::Type* KernelEmitter::bufferType(unsigned node) {
  llvm::Type* type = VectorBuilder(b, 1).computeType(plan.nodes[node].type);
  return type->isIntegerTy(1) ? b.getInt8Ty() : type;
}

LValue* KernelEmitter::loadBuffer(unsigned node, LValue* position) {
  llvm::AllocaInst* slot = buffers.lookup(node);
  LValue* where = b.CreateInBoundsGEP(slot->getAllocatedType(), slot, {b.getInt64(0), position});
  llvm::Type* type = bufferType(node);
  LValue* lanes = b.CreateAlignedLoad(vectors().lanes(type), where, llvm::Align(type->getScalarSizeInBits() / 8));
  bool isBoolean = plan.nodes[node].type.isInteger(1);
  return isBoolean ? b.CreateTrunc(lanes, vectors().lanes(b.getInt1Ty())) : lanes;
}

void KernelEmitter::storeBuffer(unsigned node, LValue* position, LValue* lanes) {
  llvm::AllocaInst* slot = buffers.lookup(node);
  LValue* where = b.CreateInBoundsGEP(slot->getAllocatedType(), slot, {b.getInt64(0), position});
  llvm::Type* type = bufferType(node);
  if (plan.nodes[node].type.isInteger(1)) lanes = b.CreateZExt(lanes, vectors().lanes(type));
  b.CreateAlignedStore(lanes, where, llvm::Align(type->getScalarSizeInBits() / 8));
}

/// One parallel iteration: `extent` columns from `base` on.
void KernelEmitter::emitColumns(int64_t extent, LValue* base) {
  fusion::ClusterOp cluster = plan.cluster;
  OpBuilder attributes(cluster.getContext());
  inScope(0, [&] {
    for (walk = 1; walk <= walks.walks; ++walk) {
      SmallVector<unsigned> reductions;
      for (auto [number, node] : llvm::enumerate(plan.nodes))
        if (node.kind == NodeKind::Reduce && node.phase == walk) reductions.push_back(number);
      for (unsigned number : reductions) buffer(number, llvm::alignTo(laneBlock(plan), 64));
      emitLanes(extent, base, [&] {
        for (unsigned number : reductions) {
          const Node& node = plan.nodes[number];
          TypedAttr neutral = getNeutralElement(attributes, cast<ReduceOp>(node.op).getKind(), node.type);
          storeBuffer(number, lanePosition, vectors().splat(emitScalarConstant(vectors(), neutral, node.type)));
        }
      });
      emitColumnRows(plan.rowVars, reductions, extent, base);
      scopes.back().phase = walk;
    }
    walk = 0;
    emitLanes(extent, base, [&] { emitStores(0); });
  });
}

void KernelEmitter::emitColumnRows(ArrayRef<unsigned> vars, ArrayRef<unsigned> reductions, int64_t extent,
                                   LValue* base) {
  int64_t rows = plan.space.extent(vars.front());
  auto rowsAt = [&](LValue* position, int64_t count) {
    emitLanes(extent, base, [&] { addRows(vars.front(), position, count, reductions); });
  };
  if (vars.size() > 1 || hasRowValues(plan)) {
    return loop(0, rows, 1, [&](LValue* position) {
      varValues[vars.front()] = position;
      inScope(uint64_t{1} << vars.front(), [&] {
        if (vars.size() > 1) return emitColumnRows(vars.drop_front(), reductions, extent, base);
        emitLanes(extent, base, [&] { addRow(reductions); });
      });
    });
  }
  int64_t atOnce = isHeavy ? kHeavyRowsAtOnce : kRowsAtOnce, whole = rows / atOnce * atOnce;
  loop(0, whole, atOnce, [&](LValue* position) { rowsAt(position, atOnce); });
  if (whole < rows) rowsAt(b.getInt64(whole), rows - whole);
}

/// Adds rows [first, first + count) of row variable `var` at the current lanes. They are summed by themselves first:
/// that costs no more, and a long sum of similar numbers loses less precision.
void KernelEmitter::addRows(unsigned var, LValue* first, int64_t count, ArrayRef<unsigned> reductions) {
  VectorBuilder v = vectors();
  SmallVector<LValue*> sums(reductions.size(), nullptr);
  auto combine = [&](unsigned number, LValue* left, LValue* right) {
    const Node& node = plan.nodes[number];
    return left ? emitCombiner(v, cast<ReduceOp>(node.op).getKind(), node.type, left, right) : right;
  };
  for (int64_t row = 0; row < count; ++row) {
    varValues[var] = b.CreateAdd(first, b.getInt64(row));
    inScope(uint64_t{1} << var, [&] {
      for (auto [number, sum] : llvm::zip(reductions, sums))
        if (LValue* element = lanesOf(plan.nodes[number].operands[0])) sum = combine(number, sum, element);
      emitStores(walk);
    });
  }
  for (auto [number, sum] : llvm::zip(reductions, sums))
    if (sum) storeBuffer(number, lanePosition, combine(number, loadBuffer(number, lanePosition), sum));
}

void KernelEmitter::addRow(ArrayRef<unsigned> reductions) {
  for (unsigned number : reductions) {
    const Node& node = plan.nodes[number];
    LValue *before = loadBuffer(number, lanePosition), *element = lanesOf(node.operands[0]);
    if (element)
      storeBuffer(number, lanePosition,
                  emitCombiner(vectors(), cast<ReduceOp>(node.op).getKind(), node.type, before, element));
  }
  emitStores(walk);
}
