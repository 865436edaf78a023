// Addresses of operands, and scores with their scale, bias and mask.
#include "targets/gpu/codegen/attention_emitter.h"

#include "dialects/sgd/tensor_type.h"
#include "targets/kernels/math_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using LValue = llvm::Value;

/// Strides of a row-major tensor.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

// Batch indices
// ---------------------------------------------------------------------------------------------------------------------

LValue* AttentionEmitter::splitBlock(int64_t squares, ArrayRef<int64_t> labels) {
  LValue* blockNumber = block.block();
  setDigits(labels, b.CreateUDiv(blockNumber, number(squares)));
  return b.CreateURem(blockNumber, number(squares));
}

void AttentionEmitter::setDigits(ArrayRef<int64_t> labels, LValue* rest) {
  for (int64_t label : llvm::reverse(labels)) {
    digits[label] = b.CreateURem(rest, number(sizes[label]));
    rest = b.CreateUDiv(rest, number(sizes[label]));
  }
}

SmallVector<int64_t> AttentionEmitter::batchLabels(bool ofKey) {
  SmallVector<int64_t> labels;
  for (int64_t label = Form::kBatch; label < static_cast<int64_t>(sizes.size()); ++label)
    if (llvm::is_contained(op.getKeyLabels(), label) == ofKey) labels.push_back(label);
  return labels;
}

// Operands
// ---------------------------------------------------------------------------------------------------------------------

LValue* AttentionEmitter::bufferOf(mlir::Value operand) {
  return entry.operands[cast<BlockArgument>(operand).getArgNumber()];
}

MatrixView AttentionEmitter::operandView(LValue* buffer, mlir::Value tensor, ArrayRef<int64_t> labels, int64_t row,
                                         int64_t column) {
  MatrixView view{buffer, getElementTypeOrSelf(tensor.getType()), sizes[row], sizes[column]};
  bool isAligned = sizes[column] % 4 == 0;
  LValue* offset = b.getInt64(0);
  for (auto [label, size, stride] : llvm::zip(labels, shapeOf(tensor), stridesOf(shapeOf(tensor)))) {
    if (label == row) view.rowStride = stride;
    if (label == column) view.columnStride = stride;
    isAligned &= label == column ? stride == 1 : size == 1 || stride % 4 == 0;
    if (label >= Form::kBatch)
      offset = b.CreateAdd(offset, b.CreateMul(b.CreateZExt(digits[label], b.getInt64Ty()), b.getInt64(stride)));
  }
  view.isAligned = isAligned;
  view.base = b.CreateInBoundsGEP(scalars().memoryType(view.element), buffer, offset);
  return view;
}

LValue* AttentionEmitter::elementAt(mlir::Value tensor, ArrayRef<int64_t> labels, LValue* row, LValue* column) {
  LValue* offset = b.getInt64(0);
  for (auto [label, size, stride] : llvm::zip(labels, shapeOf(tensor), stridesOf(shapeOf(tensor)))) {
    LValue* index = label == Form::kRow ? row : label == Form::kColumn ? column : digits[label];
    // Rows and columns outside are read where the last ones are.
    if (label < Form::kBatch) index = b.CreateSelect(b.CreateICmpULT(index, number(size)), index, number(size - 1));
    offset = b.CreateAdd(offset, b.CreateMul(b.CreateZExt(index, b.getInt64Ty()), b.getInt64(stride)));
  }
  llvm::Type* type = scalars().memoryType(getElementTypeOrSelf(tensor.getType()));
  return b.CreateLoad(type, b.CreateInBoundsGEP(type, bufferOf(tensor), offset));
}

LValue* AttentionEmitter::statisticAt(LValue* buffer, LValue* row) {
  LValue* position = b.getInt64(0);
  for (int64_t label = Form::kBatch; label < static_cast<int64_t>(sizes.size()); ++label)
    position =
        b.CreateAdd(b.CreateMul(position, b.getInt64(sizes[label])), b.CreateZExt(digits[label], b.getInt64Ty()));
  position = b.CreateAdd(b.CreateMul(position, b.getInt64(sizes[Form::kRow])), b.CreateZExt(row, b.getInt64Ty()));
  return b.CreateInBoundsGEP(b.getFloatTy(), buffer, position);
}

LValue* AttentionEmitter::loadStatistic(LValue* buffer, LValue* row) {
  LValue* last = number(sizes[Form::kRow] - 1);
  return b.CreateLoad(b.getFloatTy(), statisticAt(buffer, b.CreateSelect(b.CreateICmpULT(row, last), row, last)));
}

// Scores
// ---------------------------------------------------------------------------------------------------------------------

LValue* AttentionEmitter::isMasked(LValue* row, LValue* column) {
  if (!op.getMask()) return nullptr;
  LValue* visible = scalars().fromMemory(elementAt(op.getMask(), *op.getMaskLabels(), row, column),
                                         IntegerType::get(op->getContext(), 1));
  return b.CreateNot(visible);
}

LValue* AttentionEmitter::exists(LValue* row, LValue* column) {
  LValue* condition = nullptr;
  auto require = [&](LValue* next) { condition = condition ? b.CreateAnd(condition, next) : next; };
  if (sizes[Form::kRow] % kSquare != 0) require(b.CreateICmpULT(row, number(sizes[Form::kRow])));
  if (sizes[Form::kColumn] % kSquare != 0) require(b.CreateICmpULT(column, number(sizes[Form::kColumn])));
  if (op.getDiagonal())
    require(b.CreateICmpSLE(column, b.CreateAdd(row, number(static_cast<int64_t>(*op.getDiagonal())))));
  return condition;
}

LValue* AttentionEmitter::score(LValue* dot, LValue* row, LValue* column) {
  double scale = op.getScale().convertToDouble();
  LValue* score = scale == 1 ? dot : b.CreateFMul(dot, real(scale));
  if (mlir::Value bias = op.getBias()) {
    LValue* element = elementAt(bias, *op.getBiasLabels(), row, column);
    score = b.CreateFAdd(score, scalars().fromMemory(element, getElementTypeOrSelf(bias.getType())));
  }
  if (LValue* masked = isMasked(row, column))
    score = b.CreateSelect(masked, real(op.getFill()->convertToDouble()), score);
  LValue* counts = exists(row, column);
  return counts ? b.CreateSelect(counts, score, real(-INFINITY)) : score;
}

LValue* AttentionEmitter::exponential(LValue* x) { return emitMathFunction(scalars(), "exp", {x}); }

LValue* AttentionEmitter::columnEnd(LValue* firstRow) {
  LValue* all = number(sizes[Form::kColumn]);
  if (!op.getDiagonal()) return all;
  LValue* seen = b.CreateAdd(firstRow, number(static_cast<int64_t>(*op.getDiagonal()) + kSquare));
  return b.CreateSelect(b.CreateICmpSLT(seen, all), seen, all);
}
