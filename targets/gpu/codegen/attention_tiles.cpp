// Rows of shared arrays are 4 elements longer than chunks, so that the 8 threads that read 16 bytes each at a time, one
// row each, meet 8 different groups of banks. A thread's rows are far apart and its columns 16 apart for the same
// reason.
#include "targets/gpu/codegen/attention_tiles.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

static constexpr int64_t kPadding = 4;
/// Elements that one access covers.
static constexpr int64_t kLanes = 4;
/// Threads side by side.
static constexpr unsigned kAcross = 16;
static constexpr int64_t kSquareStride = kSquare + kPadding;

AttentionTiles::AttentionTiles(llvm::IRBuilder<>& b, unsigned threads, StringRef symbol)
    : b(b), block(b), threads(threads), rows(rowsOfThread(threads)), rowStep(threads / kAcross) {
  left = block.sharedArray(b.getFloatTy(), kSquare * kSquareStride, symbol + "_left");
  right = block.sharedArray(b.getFloatTy(), kSquare * kSquareStride, symbol + "_right");
  thread = block.thread();
  tx = b.CreateAnd(thread, b.getInt32(kAcross - 1));
  ty = b.CreateLShr(thread, llvm::Log2_32(kAcross));
}

int64_t AttentionTiles::chunkWidth(int64_t columns) { return columns <= 16 ? 16 : columns <= 32 ? 32 : 64; }

AttentionTiles::Registers AttentionTiles::makeRegisters(int64_t columns) const {
  Registers registers(rows);
  for (auto& row : registers)
    for (int64_t column = 0; column < columns; column += kAcross) row.push_back(block.variable(b.getFloatTy()));
  return registers;
}

void AttentionTiles::clear(const Registers& registers) const {
  for (const auto& row : registers)
    for (llvm::AllocaInst* variable : row) b.CreateStore(llvm::ConstantFP::get(b.getFloatTy(), 0), variable);
}

LValue* AttentionTiles::address(const MatrixView& matrix, LValue* row, LValue* column) const {
  LValue* rowOffset = b.CreateMul(b.CreateZExt(row, b.getInt64Ty()), b.getInt64(matrix.rowStride));
  LValue* columnOffset = b.CreateMul(b.CreateZExt(column, b.getInt64Ty()), b.getInt64(matrix.columnStride));
  return b.CreateInBoundsGEP(VectorBuilder(b, 1).memoryType(matrix.element), matrix.base,
                             b.CreateAdd(rowOffset, columnOffset));
}

LValue* AttentionTiles::sharedAt(llvm::GlobalVariable* array, LValue* position, int64_t offset) const {
  LValue* address = block.at(array, position);
  return offset == 0 ? address : b.CreateConstInBoundsGEP1_32(b.getFloatTy(), address, static_cast<unsigned>(offset));
}

LValue* AttentionTiles::loadShared(llvm::GlobalVariable* array, LValue* position, int64_t offset,
                                   unsigned lanes) const {
  llvm::Type* type = VectorBuilder(b, lanes).lanes(b.getFloatTy());
  return b.CreateAlignedLoad(type, sharedAt(array, position, offset), llvm::Align(4 * lanes));
}

// From global to shared memory
// ---------------------------------------------------------------------------------------------------------------------

/// `position`, or where it is outside the last place that is not; and whether it was inside (null: always).
static std::pair<LValue*, LValue*> clamp(llvm::IRBuilder<>& b, LValue* position, int64_t size, int64_t lanes,
                                         int64_t step) {
  if (size % step == 0) return {position, nullptr};
  LValue* isInside = b.CreateICmpULT(position, b.getInt32(static_cast<uint32_t>(size)));
  return {b.CreateSelect(isInside, position, b.getInt32(static_cast<uint32_t>(size - lanes))), isInside};
}

static LValue* zeroUnless(llvm::IRBuilder<>& b, LValue* condition, LValue* value) {
  return condition ? b.CreateSelect(condition, value, llvm::Constant::getNullValue(value->getType())) : value;
}

void AttentionTiles::loadChunk(llvm::GlobalVariable* to, const MatrixView& from, LValue* firstRow,
                               LValue* firstColumn) const {
  from.isAligned ? loadAligned(to, from, firstRow, firstColumn) : loadElements(to, from, firstRow, firstColumn);
}

/// All reads before all writes: they are in flight together.
void AttentionTiles::loadAligned(llvm::GlobalVariable* to, const MatrixView& from, LValue* firstRow,
                                 LValue* firstColumn) const {
  int64_t width = chunkWidth(from.columns), groups = width / kLanes;
  VectorBuilder v(b, kLanes);
  llvm::Type* type = v.lanes(v.memoryType(from.element));
  llvm::Align alignment(kLanes * from.element.getIntOrFloatBitWidth() / 8);
  // All accesses of a thread are to one column.
  LValue* row = b.CreateLShr(thread, number(llvm::Log2_64(groups)));
  LValue* column = b.CreateMul(b.CreateAnd(thread, number(groups - 1)), number(kLanes));
  auto [fromColumn, isColumn] = clamp(b, b.CreateAdd(firstColumn, column), from.columns, kLanes, width);
  LValue* begin = position(row, width + kPadding, column);
  int64_t rowsAtOnce = threads / groups;
  SmallVector<LValue*> loaded;
  for (int64_t first = 0; first < kSquare; first += rowsAtOnce) {
    auto [fromRow, isRow] = clamp(b, b.CreateAdd(b.CreateAdd(firstRow, row), number(first)), from.rows, 1, kSquare);
    LValue* lanes = b.CreateAlignedLoad(type, address(from, fromRow, fromColumn), alignment);
    LValue* values = v.fromMemory(lanes, from.element);
    loaded.push_back(zeroUnless(b, isRow, zeroUnless(b, isColumn, values)));
  }
  for (auto [i, values] : llvm::enumerate(loaded)) {
    int64_t offset = static_cast<int64_t>(i) * rowsAtOnce * (width + kPadding);
    b.CreateAlignedStore(values, sharedAt(to, begin, offset), llvm::Align(16));
  }
}

/// Neighbouring threads read neighbouring elements.
void AttentionTiles::loadElements(llvm::GlobalVariable* to, const MatrixView& from, LValue* firstRow,
                                  LValue* firstColumn) const {
  int64_t width = chunkWidth(from.columns);
  bool isTransposed = from.rowStride == 1 && from.columnStride != 1;
  int64_t inner = isTransposed ? kSquare : width;
  VectorBuilder v(b, 1);
  constexpr int64_t kTogether = 4;
  block.count(thread, number(kSquare * width), number(threads * kTogether), [&](LValue* begin) {
    SmallVector<std::pair<LValue*, LValue*>> loaded;
    for (int64_t i = 0; i < kTogether; ++i) {
      LValue* item = b.CreateAdd(begin, number(i * threads));
      LValue *minor = b.CreateAnd(item, number(inner - 1)), *major = b.CreateLShr(item, number(llvm::Log2_64(inner)));
      LValue *row = isTransposed ? minor : major, *column = isTransposed ? major : minor;
      auto [fromRow, isRow] = clamp(b, b.CreateAdd(firstRow, row), from.rows, 1, kSquare);
      auto [fromColumn, isColumn] = clamp(b, b.CreateAdd(firstColumn, column), from.columns, 1, width);
      LValue* value = b.CreateLoad(v.memoryType(from.element), address(from, fromRow, fromColumn));
      value = zeroUnless(b, isRow, zeroUnless(b, isColumn, v.fromMemory(value, from.element)));
      loaded.push_back({sharedAt(to, position(row, width + kPadding, column), 0), value});
    }
    for (auto [where, value] : loaded) b.CreateStore(value, where);
  });
}

// Matmuls
// ---------------------------------------------------------------------------------------------------------------------

void AttentionTiles::multiply(const Registers& square, const MatrixView& leftMatrix, LValue* leftRow,
                              const MatrixView& rightMatrix, LValue* rightRow) const {
  int64_t width = chunkWidth(leftMatrix.columns), chunks = numChunks(leftMatrix.columns);
  clear(square);
  block.count(number(0), number(chunks), number(1), [&](LValue* chunk) {
    LValue* column = b.CreateMul(chunk, number(width));
    block.barrier();  // what was there has been read
    loadChunk(left, leftMatrix, leftRow, column);
    loadChunk(right, rightMatrix, rightRow, column);
    block.barrier();
    multiplyChunk(square, width);
  });
}

void AttentionTiles::multiplyChunk(const Registers& square, int64_t width) const {
  int64_t stride = width + kPadding;
  block.count(number(0), number(width), number(kLanes), [&](LValue* at) {
    LValue *leftAt = position(ty, stride, at), *rightAt = position(tx, stride, at);
    SmallVector<LValue*> y;
    for (unsigned j = 0; j < kColumns; ++j) y.push_back(loadShared(right, rightAt, kAcross * j * stride, kLanes));
    for (unsigned i = 0; i < rows; ++i) {
      LValue* x = loadShared(left, leftAt, rowStep * i * stride, kLanes);
      for (uint64_t lane = 0; lane < kLanes; ++lane)
        for (unsigned j = 0; j < kColumns; ++j)
          multiplyAdd(square[i][j], b.CreateExtractElement(x, lane), b.CreateExtractElement(y[j], lane));
    }
  });
}

void AttentionTiles::accumulate(const Registers& accumulators, const Registers& square, const MatrixView& rightMatrix,
                                LValue* rightRow) const {
  int64_t width = chunkWidth(rightMatrix.columns);
  block.barrier();
  LValue* first = position(ty, kSquareStride, tx);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < kColumns; ++j)
      b.CreateStore(read(square[i][j]), sharedAt(left, first, rowStep * i * kSquareStride + kAcross * j));
  for (int64_t chunk = 0; chunk < numChunks(rightMatrix.columns); ++chunk) {
    if (chunk > 0) block.barrier();
    loadChunk(right, rightMatrix, rightRow, number(chunk * width));
    block.barrier();
    accumulateChunk(accumulators, chunk, width);
  }
}

void AttentionTiles::accumulateChunk(const Registers& accumulators, int64_t chunk, int64_t width) const {
  auto lanes = static_cast<unsigned>(width / kAcross);
  LValue* column = b.CreateMul(tx, number(lanes));
  block.count(number(0), number(kSquare), number(kLanes), [&](LValue* at) {
    LValue *leftAt = position(ty, kSquareStride, at), *rightAt = position(at, width + kPadding, column);
    SmallVector<LValue*> y;
    for (int64_t row = 0; row < kLanes; ++row) y.push_back(loadShared(right, rightAt, row * (width + kPadding), lanes));
    for (unsigned i = 0; i < rows; ++i) {
      LValue* x = loadShared(left, leftAt, rowStep * i * kSquareStride, kLanes);
      for (uint64_t row = 0; row < kLanes; ++row)
        for (uint64_t lane = 0; lane < lanes; ++lane)
          multiplyAdd(accumulators[i][chunk * lanes + lane], b.CreateExtractElement(x, row),
                      lanes == 1 ? y[row] : b.CreateExtractElement(y[row], lane));
    }
  });
}

// Results
// ---------------------------------------------------------------------------------------------------------------------

void AttentionTiles::store(const Registers& accumulators, const MatrixView& to, LValue* firstRow,
                           ArrayRef<LValue*> factors) const {
  int64_t width = chunkWidth(to.columns);
  auto lanes = static_cast<unsigned>(width / kAcross);
  bool isWide = to.isAligned && lanes == kLanes;
  unsigned together = isWide ? lanes : 1;
  VectorBuilder v(b, together);
  for (unsigned i = 0; i < rows; ++i) {
    LValue* row = b.CreateAdd(firstRow, rowInSquare(i));
    LValue* isRow = b.CreateICmpULT(row, number(to.rows));
    for (unsigned first = 0; first < accumulators[i].size(); first += together) {
      LValue* column = b.CreateAdd(b.CreateMul(tx, number(lanes)), number(first / lanes * width + first % lanes));
      LValue* values = llvm::PoisonValue::get(v.lanes(b.getFloatTy()));
      for (unsigned lane = 0; lane < together; ++lane) {
        LValue* value = read(accumulators[i][first + lane]);
        if (!factors.empty()) value = b.CreateFMul(value, factors[i]);
        values = together == 1 ? value : b.CreateInsertElement(values, value, uint64_t{lane});
      }
      block.runIf(b.CreateAnd(isRow, b.CreateICmpULT(column, number(to.columns))), [&] {
        llvm::Align alignment(together * to.element.getIntOrFloatBitWidth() / 8);
        b.CreateAlignedStore(v.toMemory(values, to.element), address(to, row, column), alignment);
      });
    }
  }
}

LValue* AttentionTiles::combineColumns(LValue* value, llvm::function_ref<LValue*(LValue*, LValue*)> combine) const {
  for (unsigned distance = 1; distance < kAcross; distance *= 2)
    value = combine(value, block.exchange(value, distance));
  return value;
}
