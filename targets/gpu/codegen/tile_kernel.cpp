// Kernels with loads that are contiguous along another variable than the results: a block reads a square tile of each
// along its own rows into shared memory and picks columns of it.
#include "targets/gpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

/// Elements from one row of a tile to the next: padded by a bank's word, so that neighbours along either side of the
/// tile are in different banks.
static int64_t tileStride(llvm::Type* element) {
  constexpr int64_t kWordBits = 32;
  return kTile + std::max<int64_t>(1, kWordBits / element->getScalarSizeInBits());
}

void KernelEmitter::emitTiles() {
  int64_t tileExtent = plan.space.extent(plan.tileVar), laneExtent = plan.space.extent(plan.laneVar);
  SmallVector<unsigned> outerVars;
  for (unsigned var : plan.parallelVars)
    if (var != plan.tileVar && var != plan.laneVar) outerVars.push_back(var);
  llvm::Type* type = numberType(schedule.blocks);
  LValue* number = b.CreateZExt(block.block(), type);
  auto takeDigit = [&](int64_t extent) {
    auto* divisor = llvm::ConstantInt::get(type, extent);
    LValue* digit = b.CreateURem(number, divisor);
    number = b.CreateUDiv(number, divisor);
    return b.CreateMul(widen(digit), b.getInt64(kTile));
  };
  LValue* firstLane = takeDigit(llvm::divideCeil(laneExtent, kTile));
  LValue* firstTile = takeDigit(llvm::divideCeil(tileExtent, kTile));
  LValue* thread = block.thread();
  LValue* column = widen(b.CreateURem(thread, b.getInt32(kTile)));
  LValue* row = widen(b.CreateUDiv(thread, b.getInt32(kTile)));
  Scope outer;
  setDigits(outer, outerVars, number, 1);
  // `body` at each point of this thread: along the tile variable where it reads, along the lane variable where it
  // computes.
  auto forEachRow = [&](bool reads, llvm::function_ref<void(LValue*)> body) {
    for (int64_t first = 0; first < kTile; first += kTileRows) {
      LValue* inRow = b.CreateAdd(row, b.getInt64(first));
      LValue* lane = b.CreateAdd(firstLane, reads ? inRow : column);
      LValue* tile = b.CreateAdd(firstTile, reads ? column : inRow);
      LValue* exists = nullptr;
      if (laneExtent % kTile != 0) exists = b.CreateICmpULT(lane, b.getInt64(laneExtent));
      if (tileExtent % kTile != 0) exists = both(exists, b.CreateICmpULT(tile, b.getInt64(tileExtent)));
      runWhere(exists, [&] {
        Scope point;
        point.set(plan.laneVar, lane);
        point.set(plan.tileVar, tile);
        values.inScope(point, [&] { body(inRow); });
      });
    }
  };
  values.inScope(outer, [&] {
    for (auto [number, node] : llvm::enumerate(plan.nodes)) {
      if (!plan.isTransposed(node) || node.index.coefficient(plan.tileVar) != 1) continue;
      llvm::Type* element = scalars().memoryType(node.type);
      int64_t stride = tileStride(element);
      llvm::GlobalVariable* tile =
          block.sharedArray(element, kTile * stride, llvm::Twine(request.symbol) + "_tile" + llvm::Twine(number));
      forEachRow(/*reads=*/true, [&, load = static_cast<unsigned>(number)](LValue* inRow) {
        LValue* place = b.CreateAdd(b.CreateMul(inRow, b.getInt64(stride)), column);
        b.CreateStore(values.loadElement(load), block.at(tile, place));
      });
      tiles.push_back({static_cast<unsigned>(number), tile});
    }
    block.barrier();
    SmallVector<const Store*> stores;
    for (const Store& store : plan.stores) stores.push_back(&store);
    forEachRow(/*reads=*/false, [&](LValue* inRow) {
      for (auto [load, tile] : tiles)
        values.setLoad(load, [this, column, inRow, tile = tile] {
          llvm::Type* element = llvm::cast<llvm::ArrayType>(tile->getValueType())->getElementType();
          LValue* place = b.CreateAdd(b.CreateMul(column, b.getInt64(tileStride(element))), inRow);
          return b.CreateLoad(element, block.at(tile, place));
        });
      Chunk chunk;
      storeChunk(chunk, stores, nullptr);
    });
  });
}
