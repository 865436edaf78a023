// Square tiles of loads that are contiguous across the lanes' rows: read along their own rows, transposed in registers,
// kept on the stack while the tile's rows are walked.
#include "targets/cpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

/// Transposes n vectors of n lanes in log2(n) rounds: each swaps off-diagonal blocks of half the size of the round
/// before.
static void transpose(llvm::IRBuilder<>& b, MutableArrayRef<LValue*> rows) {
  unsigned size = rows.size();
  for (unsigned distance = size / 2; distance > 0; distance /= 2) {
    SmallVector<int> upper, lower;
    for (unsigned lane = 0; lane < size; ++lane) {
      upper.push_back(lane & distance ? size + lane - distance : lane);
      lower.push_back(lane & distance ? size + lane : lane + distance);
    }
    for (unsigned row = 0; row < size; ++row) {
      if (row & distance) continue;
      LValue *first = rows[row], *second = rows[row + distance];
      rows[row] = b.CreateShuffleVector(first, second, upper);
      rows[row + distance] = b.CreateShuffleVector(first, second, lower);
    }
  }
}

/// Fills the tiles of `rows` points of the tile variable from `firstRow` on, at the current lanes.
void KernelEmitter::loadTiles(int64_t rows, LValue* firstRow) {
  VectorBuilder v = vectors();
  LValue* firstLane = varValues[plan.laneVar];
  int64_t lanes = width;
  if (mask)
    for (lanes = 0; lanes < width && mask->getAggregateElement(static_cast<unsigned>(lanes))->isOneValue();) ++lanes;
  for (auto [number, node] : llvm::enumerate(plan.nodes)) {
    if (!plan.isTransposed(node) || node.index.coefficient(plan.tileVar) != 1) continue;
    llvm::Type *scalar = v.memoryType(node.type), *type = v.lanes(scalar);
    llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
    SmallVector<llvm::Constant*> exists;
    for (unsigned row = 0; row < width; ++row) exists.push_back(b.getInt1(row < rows));
    SmallVector<LValue*> vectorsOfTile;
    varValues[plan.tileVar] = firstRow;
    for (int64_t lane = 0; lane < width; ++lane) {
      if (lane >= lanes) {
        vectorsOfTile.push_back(llvm::Constant::getNullValue(type));
        continue;
      }
      varValues[plan.laneVar] = b.CreateAdd(firstLane, b.getInt64(lane));
      LValue* where = b.CreateGEP(scalar, pointer(node.buffer), address(node.index).scalar);
      bool whole = rows == width;
      vectorsOfTile.push_back(
          whole ? static_cast<LValue*>(invariant(b.CreateAlignedLoad(type, where, align), node.buffer))
                : b.CreateMaskedLoad(type, where, align, llvm::ConstantVector::get(exists),
                                     llvm::Constant::getNullValue(type)));
    }
    varValues[plan.laneVar] = firstLane;
    transpose(b, vectorsOfTile);
    llvm::IRBuilder<> top(&function->getEntryBlock(), function->getEntryBlock().begin());
    llvm::AllocaInst* tile = top.CreateAlloca(llvm::ArrayType::get(type, width));
    for (int64_t row = 0; row < rows; ++row)
      b.CreateStore(vectorsOfTile[row], b.CreateConstInBoundsGEP2_64(tile->getAllocatedType(), tile, 0, row));
    tiles[number] = [this, tile, firstRow] {
      LValue* row = b.CreateSub(varValues[plan.tileVar], firstRow);
      return b.CreateInBoundsGEP(tile->getAllocatedType(), tile, {b.getInt64(0), row});
    };
  }
}

void KernelEmitter::emitTiles(Body body) {
  int64_t extent = plan.space.extent(plan.tileVar);
  emitLanes(plan.space.extent(plan.laneVar), b.getInt64(0), [&] {
    auto block = [&](int64_t rows, LValue* first) {
      if (width > 1) loadTiles(rows, first);
      loop(0, rows, 1, [&](LValue* row) {
        varValues[plan.tileVar] = b.CreateAdd(first, row);
        inScope(uint64_t{1} << plan.tileVar, body);
      });
      tiles.clear();
    };
    int64_t whole = extent / width * width;
    loop(0, whole, width, [&](LValue* first) { inScope(0, [&] { block(width, first); }); });
    if (whole < extent) block(extent - whole, b.getInt64(whole));
  });
}
