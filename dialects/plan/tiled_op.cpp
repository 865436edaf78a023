// The verifier of plan.tiled: the tiles of all runs lie inside their operands, and the body holds what a thread can run
// by itself.
#include "dialects/plan/plan_dialect.h"

using namespace mlir;
using namespace mlir::plan;

ArrayRef<int64_t> TiledOp::getOperandStrides(unsigned operand) {
  return getStrides().slice(operand * getLoops().size(), getLoops().size());
}

int64_t TiledOp::getNumTiles() {
  int64_t tiles = 1;
  for (int64_t size : getLoops()) tiles *= size;
  return tiles;
}

/// Whether a run's first step that touches `part` overwrites all of it, as far as that is known without `kernels`.
static bool isOverwrittenFirst(BlockArgument part, const SymbolTable* kernels) {
  for (auto step : part.getOwner()->getOps<InstructionOpInterface>()) {
    SmallVector<BufferAccess> accesses = kernels ? getAccesses(step, *kernels) : getAccesses(step.getOperation());
    bool isTouched = false, isOverwritten = false, isRead = false;
    for (auto [operand, access] : llvm::zip(step->getOpOperands(), accesses)) {
      if (getRoot(operand.get()).root != part) continue;
      isTouched = true;
      isRead |= access.reads;
      isOverwritten |= access.isWhole && getByteSize(cast<MemRefType>(operand.get().getType())) ==
                                             getByteSize(cast<MemRefType>(part.getType()));
    }
    if (isTouched) return isOverwritten && !isRead;
  }
  return false;
}

/// Whether the runs together overwrite all of an output: they write to different bytes, so parts as large as the whole
/// together are the whole.
static bool overwrites(TiledOp tiled, OpOperand& output, const SymbolTable* kernels) {
  BlockArgument part = tiled.getBody().front().getArgument(output.getOperandNumber());
  int64_t bytes = getByteSize(cast<MemRefType>(part.getType())) * tiled.getNumTiles();
  return bytes == getByteSize(cast<MemRefType>(output.get().getType())) && isOverwrittenFirst(part, kernels);
}

void TiledOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& list) {
  EffectBuilder effects(list);
  effects.read(getInputsMutable());
  for (OpOperand& output : MutableArrayRef<OpOperand>(getOutputsMutable())) {
    bool isWhole = overwrites(*this, output, /*kernels=*/nullptr);
    if (!isWhole) effects.read(output);
    effects.write(output, isWhole);
  }
}

void TiledOp::refineAccesses(MutableArrayRef<BufferAccess> accesses, const SymbolTable& kernels) {
  for (OpOperand& output : MutableArrayRef<OpOperand>(getOutputsMutable())) {
    BufferAccess& access = accesses[output.getOperandNumber()];
    access.isWhole = overwrites(*this, output, &kernels);
    access.reads = !access.isWhole;
  }
}

static LogicalResult verifyTile(TiledOp op, unsigned operand) {
  auto whole = cast<MemRefType>(op->getOperand(operand).getType());
  auto tile = dyn_cast<MemRefType>(op.getBody().front().getArgument(operand).getType());
  if (!tile || !isBuffer(tile) || tile.getElementType() != whole.getElementType() ||
      tile.getMemorySpace() != whole.getMemorySpace())
    return op.emitOpError() << "block argument " << operand << " is not a part of operand " << operand;
  int64_t end = getByteSize(tile);
  for (auto [stride, size] : llvm::zip(op.getOperandStrides(operand), op.getLoops())) {
    if (stride < 0) return op.emitOpError() << "operand " << operand << " has a negative stride";
    end += stride * (size - 1);
  }
  if (end > getByteSize(whole))
    return op.emitOpError() << "the tiles of operand " << operand << " reach byte " << end << " of "
                            << getByteSize(whole);
  return success();
}

static LogicalResult verifyBody(TiledOp tiled) {
  for (Operation& op : tiled.getBody().front()) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      if (alloc.getOffset() && static_cast<int64_t>(*alloc.getOffset()) + getByteSize(alloc.getType()) >
                                   static_cast<int64_t>(tiled.getScratchBytes()))
        return alloc.emitOpError("does not lie inside the scratch memory of its plan.tiled");
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (launch.getCoordinates()) return launch.emitOpError("depends on the rank, which a tile cannot");
    } else if (auto matmul = dyn_cast<MatmulOp>(op)) {
      if (!matmul.getEpilogue().Without(EpilogueStep::kResidual).empty())
        return matmul.emitOpError("has an epilogue other than a residual, which a tile cannot");
    } else if (!isa<ViewOp>(op)) {
      return op.emitOpError("cannot be part of a tile");
    }
  }
  return success();
}

LogicalResult TiledOp::verify() {
  if (llvm::any_of(getLoops(), [](int64_t size) { return size < 1; })) return emitOpError("has an empty loop");
  if (getStrides().size() != getLoops().size() * getNumOperands() ||
      getBody().front().getNumArguments() != getNumOperands())
    return emitOpError("needs a block argument, and a stride per loop, for each operand");
  for (unsigned operand = 0; operand < getNumOperands(); ++operand)
    if (failed(verifyTile(*this, operand))) return failure();
  return verifyBody(*this);
}
