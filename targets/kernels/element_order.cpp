// Comparators as scalar code, and keys of floats.
#include "targets/kernels/element_order.h"

#include "mlir/IR/Matchers.h"
#include "targets/kernels/element_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using LValue = llvm::Value;

LValue* mlir::sgd::kernels::emitComesFirst(const VectorBuilder& v, Block& comparator, llvm::ArrayRef<LValue*> x,
                                           llvm::ArrayRef<LValue*> y) {
  llvm::DenseMap<Value, LValue*> known;
  for (auto [index, argument] : llvm::enumerate(comparator.getArguments()))
    known[argument] = v.fromMemory((index % 2 == 0 ? x : y)[index / 2], argument.getType());
  for (Operation& inner : comparator.without_terminator()) {
    Value result = inner.getResult(0);
    LValue* value = nullptr;
    if (Attribute constant; matchPattern(&inner, m_Constant(&constant))) {
      value = emitScalarConstant(v, cast<TypedAttr>(constant), result.getType());
    } else {
      SmallVector<LValue*> operands;
      for (Value operand : inner.getOperands()) operands.push_back(known.lookup(operand));
      value = emitElementOp(v, &inner, operands);
    }
    if (!value) {
      inner.emitOpError("has no code on scalars");
      return nullptr;
    }
    known[result] = value;
  }
  return known.lookup(comparator.getTerminator()->getOperand(0));
}

LValue* mlir::sgd::kernels::emitOrderKey(const VectorBuilder& v, Type type, LValue* memory) {
  if (!isa<FloatType>(type)) return memory;
  LValue* bits = v.b.CreateBitCast(memory, v.b.getIntNTy(memory->getType()->getScalarSizeInBits()));
  llvm::Type* integer = bits->getType();
  unsigned width = integer->getScalarSizeInBits();
  LValue* sign = v.b.CreateAShr(bits, llvm::ConstantInt::get(integer, width - 1));
  LValue* most = llvm::ConstantInt::get(integer, llvm::APInt::getSignedMaxValue(width));
  return v.b.CreateXor(bits, v.b.CreateAnd(sign, most));
}
