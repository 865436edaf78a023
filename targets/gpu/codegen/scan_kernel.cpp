// The order in which elements are combined follows from shapes alone.
#include "targets/gpu/codegen/scan_kernel.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_layout.h"
#include "targets/gpu/codegen/block_builder.h"
#include "targets/gpu/codegen/entry_point.h"
#include "targets/gpu/codegen/schedule.h"
#include "targets/kernels/element_ops.h"
#include "targets/kernels/in_place.h"
#include "targets/kernels/row_ops.h"
#include "targets/kernels/vector_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

namespace {

/// How a scan is dealt out: `slices` neighbouring threads share a row, or have neighbouring columns.
struct ScanShape {
  int64_t length = 1, rows = 1, columns = 1;  // a row-major tensor of rows x length x columns
  unsigned lanes = 1;                         // neighbouring elements of a row that a thread loads at once
  unsigned slices = 1, threads = 256;

  bool isAlongRows() const { return columns == 1; }
  unsigned rowsOfBlock() const { return threads / slices; }
  int64_t items() const { return isAlongRows() ? rows : rows * columns; }
  int64_t blocks() const { return llvm::divideCeil(items(), isAlongRows() ? rowsOfBlock() : threads); }
};

/// Elements whose loads a thread that goes through a column begins before it needs the first.
constexpr int64_t kColumnLoads = 4;

ScanShape scanShapeOf(CumulativeOp scan) {
  RankedTensorType type = tensorType(scan.getInput());
  auto dim = static_cast<int64_t>(scan.getDimension());
  ScanShape shape;
  shape.length = type.getDimSize(dim);
  for (auto [number, size] : llvm::enumerate(type.getShape())) {
    if (static_cast<int64_t>(number) < dim) shape.rows *= size;
    if (static_cast<int64_t>(number) > dim) shape.columns *= size;
  }
  if (!shape.isAlongRows()) return shape;
  int64_t bytes = getElementBytes(type.getElementType());
  shape.lanes = std::max<int64_t>(1, std::min<int64_t>(16 / bytes, 8));
  while (shape.lanes > 1 && (shape.length % shape.lanes != 0 || shape.length < kWarp * shape.lanes)) shape.lanes /= 2;
  int64_t chunks = std::max<int64_t>(1, shape.length / shape.lanes);
  shape.slices = std::min<int64_t>(llvm::PowerOf2Ceil(chunks), 256);
  return shape;
}

class ScanEmitter {
 public:
  ScanEmitter(llvm::Module& module, CumulativeOp scan, const KernelRequest& request)
      : scan(scan),
        shape(scanShapeOf(scan)),
        type(tensorType(scan.getInput()).getElementType()),
        b(module.getContext()),
        block(b),
        entry(createEntryPoint(module, b, request, 0, shape.threads)) {
    OpBuilder attributes(scan.getContext());
    neutral = emitScalarConstant(scalars(), getNeutralElement(attributes, scan.getKind(), type), type);
  }

  void run() {
    if (shape.items() > 0 && shape.length > 0) shape.isAlongRows() ? emitRows() : emitColumns();
    b.CreateRetVoid();
  }

 private:
  VectorBuilder scalars() { return VectorBuilder(b, 1); }
  LValue* number(int64_t value) { return b.getInt64(value); }
  LValue* wide(LValue* value) { return b.CreateZExt(value, b.getInt64Ty()); }
  LValue* combine(LValue* earlier, LValue* later) {
    return emitCombiner(scalars(), scan.getKind(), type, earlier, later);
  }
  LValue* at(LValue* buffer, LValue* index) { return b.CreateInBoundsGEP(scalars().memoryType(type), buffer, index); }

  void emitRows();
  void emitTile(LValue* row, LValue* exists, LValue* chunk, llvm::AllocaInst* carry);
  SmallVector<LValue*> loadChunk(LValue* row, LValue* chunk);
  void storeChunk(ArrayRef<LValue*> values, LValue* row, LValue* chunk);
  LValue* chunkOffset(LValue* row, LValue* chunk);
  LValue* combineWarps(LValue*& before, LValue* total);
  void emitColumns();

  CumulativeOp scan;
  ScanShape shape;
  Type type;
  llvm::IRBuilder<> b;
  BlockBuilder block;
  EntryPoint entry;
  LValue* neutral = nullptr;
  LValue *slice = nullptr, *rowInBlock = nullptr;  // i32
  llvm::GlobalVariable* totals = nullptr;          // of warps
};

/// Of chunk `chunk` in the order of the scan: where it begins in memory.
LValue* ScanEmitter::chunkOffset(LValue* row, LValue* chunk) {
  LValue* place = scan.getReverse() ? b.CreateSub(number(shape.length / shape.lanes - 1), chunk) : chunk;
  return b.CreateAdd(b.CreateMul(row, number(shape.length)), b.CreateMul(place, number(shape.lanes)));
}

/// Values in the order of the scan.
SmallVector<LValue*> ScanEmitter::loadChunk(LValue* row, LValue* chunk) {
  llvm::Type* memory = scalars().memoryType(type);
  unsigned bytes = memory->getScalarSizeInBits() / 8;
  LValue* where = at(entry.operands[0], chunkOffset(row, chunk));
  SmallVector<LValue*> values;
  if (shape.lanes == 1) {
    values.push_back(b.CreateAlignedLoad(memory, where, llvm::Align(bytes)));
  } else {
    auto* vector = llvm::FixedVectorType::get(memory, shape.lanes);
    LValue* loaded = b.CreateAlignedLoad(vector, where, llvm::Align(bytes * shape.lanes));
    for (unsigned lane = 0; lane < shape.lanes; ++lane)
      values.push_back(b.CreateExtractElement(loaded, scan.getReverse() ? shape.lanes - 1 - lane : lane));
  }
  for (LValue*& value : values) value = scalars().fromMemory(value, type);
  return values;
}

void ScanEmitter::storeChunk(ArrayRef<LValue*> values, LValue* row, LValue* chunk) {
  llvm::Type* memory = scalars().memoryType(type);
  unsigned bytes = memory->getScalarSizeInBits() / 8;
  LValue* where = at(entry.results[0], chunkOffset(row, chunk));
  LValue* stored = nullptr;
  if (shape.lanes == 1) {
    stored = scalars().toMemory(values.front(), type);
  } else {
    stored = llvm::PoisonValue::get(llvm::FixedVectorType::get(memory, shape.lanes));
    for (auto [lane, value] : llvm::enumerate(values))
      stored = b.CreateInsertElement(stored, scalars().toMemory(value, type),
                                     scan.getReverse() ? shape.lanes - 1 - lane : lane);
  }
  b.CreateAlignedStore(stored, where, llvm::Align(bytes * shape.lanes));
}

/// `before` and `total` are of the warp's threads; the first becomes that of the block's, the result is the block's
/// total.
LValue* ScanEmitter::combineWarps(LValue*& before, LValue* total) {
  unsigned warps = shape.slices / kWarp;
  if (warps <= 1) return total;
  llvm::Type* compute = total->getType();
  bool isBoolean = compute->isIntegerTy(1);
  llvm::Type* memory = isBoolean ? b.getInt8Ty() : compute;
  LValue* first = b.CreateMul(rowInBlock, b.getInt32(warps));
  LValue* warp = b.CreateUDiv(slice, b.getInt32(kWarp));
  // The tile before has been read.
  block.barrier();
  block.runIf(b.CreateICmpEQ(b.CreateAnd(slice, b.getInt32(kWarp - 1)), b.getInt32(0)), [&] {
    b.CreateStore(isBoolean ? b.CreateZExt(total, memory) : total, block.at(totals, b.CreateAdd(first, warp)));
  });
  block.barrier();
  LValue *all = nullptr, *earlier = neutral;
  for (unsigned other = 0; other < warps; ++other) {
    LValue* part = b.CreateLoad(memory, block.at(totals, b.CreateAdd(first, b.getInt32(other))));
    if (isBoolean) part = b.CreateTrunc(part, compute);
    all = all ? combine(all, part) : part;
    earlier = b.CreateSelect(b.CreateICmpUGT(warp, b.getInt32(other)), all, earlier);
  }
  before = combine(earlier, before);
  return all;
}

/// A chunk for each thread of the row; `carry` holds all that comes before.
void ScanEmitter::emitTile(LValue* row, LValue* exists, LValue* chunk, llvm::AllocaInst* carry) {
  int64_t chunks = shape.length / shape.lanes;
  LValue* isInside = nullptr;
  if (chunks % shape.slices != 0) {
    isInside = b.CreateICmpSLT(chunk, number(chunks));
    exists = exists ? b.CreateAnd(exists, isInside) : isInside;
    chunk = b.CreateSelect(isInside, chunk, number(chunks - 1));
  }
  SmallVector<LValue*> values = loadChunk(row, chunk);
  if (isInside)
    for (LValue*& value : values) value = b.CreateSelect(isInside, value, neutral);
  for (unsigned lane = 1; lane < shape.lanes; ++lane) values[lane] = combine(values[lane - 1], values[lane]);
  LValue *before = neutral, *total = values.back();
  for (unsigned distance = 1; distance < std::min(shape.slices, kWarp); distance *= 2) {
    LValue* other = block.exchange(total, distance);
    LValue* isLater = b.CreateICmpNE(b.CreateAnd(slice, b.getInt32(distance)), b.getInt32(0));
    before = b.CreateSelect(isLater, combine(other, before), before);
    total = b.CreateSelect(isLater, combine(other, total), combine(total, other));
  }
  total = combineWarps(before, total);
  LValue* carried = b.CreateLoad(neutral->getType(), carry);
  before = combine(carried, before);
  for (LValue*& value : values) value = combine(before, value);
  b.CreateStore(combine(carried, total), carry);
  if (exists)
    block.runIf(exists, [&] { storeChunk(values, row, chunk); });
  else
    storeChunk(values, row, chunk);
}

void ScanEmitter::emitRows() {
  slice = b.CreateURem(block.thread(), b.getInt32(shape.slices));
  rowInBlock = b.CreateUDiv(block.thread(), b.getInt32(shape.slices));
  if (shape.slices > kWarp) {
    llvm::Type* memory = neutral->getType()->isIntegerTy(1) ? b.getInt8Ty() : neutral->getType();
    totals = block.sharedArray(memory, shape.threads / kWarp, entry.function->getName() + "_totals");
  }
  LValue* row = b.CreateAdd(b.CreateMul(wide(block.block()), number(shape.rowsOfBlock())), wide(rowInBlock));
  LValue* exists = nullptr;
  // Threads without a row go along with the last one: all are needed where threads wait for each other.
  if (shape.rows % shape.rowsOfBlock() != 0) {
    exists = b.CreateICmpSLT(row, number(shape.rows));
    row = b.CreateSelect(exists, row, number(shape.rows - 1));
  }
  llvm::AllocaInst* carry = block.variable(neutral->getType());
  b.CreateStore(neutral, carry);
  int64_t chunks = shape.length / shape.lanes;
  block.count(number(0), number(chunks), number(shape.slices),
              [&](LValue* first) { emitTile(row, exists, b.CreateAdd(first, wide(slice)), carry); });
}

void ScanEmitter::emitColumns() {
  LValue* item = b.CreateAdd(b.CreateMul(wide(block.block()), number(shape.threads)), wide(block.thread()));
  llvm::Type* memory = scalars().memoryType(type);
  auto emitColumn = [&] {
    LValue* row = b.CreateUDiv(item, number(shape.columns));
    LValue* column = b.CreateURem(item, number(shape.columns));
    LValue* begin = b.CreateAdd(b.CreateMul(row, number(shape.length * shape.columns)), column);
    llvm::AllocaInst* carry = block.variable(neutral->getType());
    b.CreateStore(neutral, carry);
    auto walk = [&](int64_t low, int64_t high, int64_t atOnce) {
      block.count(number(low), number(high), number(atOnce), [&](LValue* position) {
        SmallVector<LValue*> places, values;
        for (int64_t turn = 0; turn < atOnce; ++turn) {
          LValue* index = b.CreateAdd(position, number(turn));
          if (scan.getReverse()) index = b.CreateSub(number(shape.length - 1), index);
          places.push_back(b.CreateAdd(begin, b.CreateMul(index, number(shape.columns))));
          values.push_back(b.CreateLoad(memory, at(entry.operands[0], places.back())));
        }
        LValue* carried = b.CreateLoad(neutral->getType(), carry);
        for (auto [place, value] : llvm::zip(places, values)) {
          carried = combine(carried, scalars().fromMemory(value, type));
          b.CreateStore(scalars().toMemory(carried, type), at(entry.results[0], place));
        }
        b.CreateStore(carried, carry);
      });
    };
    int64_t whole = shape.length / kColumnLoads * kColumnLoads;
    walk(0, whole, kColumnLoads);
    if (whole < shape.length) walk(whole, shape.length, 1);
  };
  if (shape.items() % shape.threads == 0) return emitColumn();
  block.runIf(b.CreateICmpSLT(item, number(shape.items())), emitColumn);
}

}  // namespace

CumulativeOp mlir::sgd::gpu::getScan(fusion::ClusterOp cluster) {
  return dyn_cast<CumulativeOp>(cluster.getBody().front().front());
}

unsigned mlir::sgd::gpu::scanThreads(CumulativeOp scan) { return scanShapeOf(scan).threads; }

KernelInterface mlir::sgd::gpu::describeScanKernel(CumulativeOp scan) {
  ScanShape shape = scanShapeOf(scan);
  KernelInterface kernel;
  kernel.range = shape.length > 0 ? shape.blocks() : 0;
  return kernel;
}

void mlir::sgd::gpu::emitScanKernel(llvm::Module& module, CumulativeOp scan, const KernelRequest& request) {
  ScanEmitter(module, scan, request).run();
}
