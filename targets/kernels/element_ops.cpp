// Code of elementwise ops. Integer ops that the hardware traps on are guarded; every float op rounds to its own element
// type.
#include "targets/kernels/element_ops.h"

#include "llvm/ADT/StringMap.h"
#include "targets/kernels/math_functions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;
using llvm::CmpInst;
using LValue = llvm::Value;
using LType = llvm::Type;

static Type elementType(Value value) { return getElementTypeOrSelf(value.getType()); }

// Integers
// --------------------------------------------------------------------------------------------------------------

namespace {
struct IntegerOps {
  const VectorBuilder& v;
  LType* type;
  unsigned bits = type->getScalarSizeInBits();
  LValue* number(int64_t value) const { return v.integer(type, value); }
  LValue* minimum() const { return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits)); }

  /// Quotient or remainder; by zero it is `byZero`, and for the smallest number by -1 what wraps around.
  LValue* divide(bool isSigned, bool remainder, LValue* x, LValue* y, LValue* byZero) const {
    LValue *isZero = v.b.CreateICmpEQ(y, number(0)), *bad = isZero, *overflows = nullptr;
    if (isSigned) {
      overflows = v.b.CreateAnd(v.b.CreateICmpEQ(x, minimum()), v.b.CreateICmpEQ(y, number(-1)));
      bad = v.b.CreateOr(isZero, overflows);
    }
    LValue* safe = v.b.CreateSelect(bad, number(1), y);
    LValue* result = isSigned ? (remainder ? v.b.CreateSRem(x, safe) : v.b.CreateSDiv(x, safe))
                              : (remainder ? v.b.CreateURem(x, safe) : v.b.CreateUDiv(x, safe));
    return v.b.CreateSelect(isZero, byZero, result);  // x / 1 and x rem 1 are what overflow gives
  }

  LValue* shift(llvm::Instruction::BinaryOps opcode, LValue* x, LValue* amount) const {
    LValue* tooFar = v.b.CreateICmpUGE(amount, number(bits));
    if (opcode == llvm::Instruction::AShr) return v.b.CreateAShr(x, v.b.CreateSelect(tooFar, number(bits - 1), amount));
    LValue* shifted = v.b.CreateBinOp(opcode, x, v.b.CreateSelect(tooFar, number(0), amount));
    return v.b.CreateSelect(tooFar, number(0), shifted);
  }
};
}  // namespace

static LValue* emitTotalOp(const VectorBuilder& v, StringRef name, ArrayRef<LValue*> x) {
  IntegerOps ops{v, x[0]->getType()};
  if (ops.bits == 1) {  // One bit: 0 / -1 in the signed sense; all cases are boolean formulas.
    if (name == "divsi" || name == "divui") return v.b.CreateOr(x[0], v.b.CreateNot(x[1]));
    if (name == "remsi" || name == "remui") return v.b.CreateAnd(x[0], v.b.CreateNot(x[1]));
    return name == "shrsi" ? x[0] : v.b.CreateAnd(x[0], v.b.CreateNot(x[1]));
  }
  if (name == "divsi") return ops.divide(true, false, x[0], x[1], ops.number(-1));
  if (name == "divui") return ops.divide(false, false, x[0], x[1], ops.number(-1));
  if (name == "remsi") return ops.divide(true, true, x[0], x[1], x[0]);
  if (name == "remui") return ops.divide(false, true, x[0], x[1], x[0]);
  if (name == "shli") return ops.shift(llvm::Instruction::Shl, x[0], x[1]);
  if (name == "shrui") return ops.shift(llvm::Instruction::LShr, x[0], x[1]);
  if (name == "shrsi") return ops.shift(llvm::Instruction::AShr, x[0], x[1]);
  return nullptr;
}

/// x to the power of a non-negative or negative integer, by squaring; 1 / 0 as the total division gives it.
static LValue* emitIntegerPower(const VectorBuilder& v, LValue* base, LValue* exponent) {
  LType* type = base->getType();
  unsigned bits = type->getScalarSizeInBits();
  LValue *one = v.integer(type, 1), *zero = v.integer(type, 0), *result = one, *square = base;
  for (unsigned bit = 0; bit < bits - 1; ++bit) {
    LValue* isSet =
        v.b.CreateICmpNE(v.b.CreateAnd(exponent, llvm::ConstantInt::get(type, llvm::APInt(bits, 1).shl(bit))), zero);
    result = v.b.CreateSelect(isSet, v.b.CreateMul(result, square), result);
    square = v.b.CreateMul(square, square);
  }
  LValue* odd = v.b.CreateICmpNE(v.b.CreateAnd(exponent, one), zero);
  LValue* minusOne = v.integer(type, -1);
  LValue* reciprocal = v.b.CreateSelect(v.b.CreateICmpEQ(base, minusOne), v.b.CreateSelect(odd, minusOne, one),
                                        v.b.CreateSelect(v.b.CreateICmpEQ(base, one), one, zero));
  return v.b.CreateSelect(v.b.CreateICmpSLT(exponent, zero), reciprocal, result);
}

// Conversions
// -----------------------------------------------------------------------------------------------------------

/// Saturating, NaN to 0. Narrow integers by way of 32 bits, which processors convert to directly.
static LValue* emitFloatToInt(const VectorBuilder& v, Type to, bool isSigned, LValue* x) {
  LType* target = v.lanes(v.computeType(to));
  if (unsigned bits = to.getIntOrFloatBitWidth(); bits > 1 && bits <= 16) {
    LType* type = x->getType();
    LValue* low = v.constant(type, isSigned ? -static_cast<double>(1 << (bits - 1)) : 0);
    LValue* high = v.constant(type, isSigned ? (1 << (bits - 1)) - 1 : (1 << bits) - 1);
    LValue* limited = v.b.CreateSelect(v.b.CreateFCmpOGT(x, low), x, low);  // NaN too, for now
    limited = v.b.CreateSelect(v.b.CreateFCmpOLT(limited, high), limited, high);
    limited = v.b.CreateSelect(v.b.CreateFCmpUNO(x, x), v.constant(type, 0), limited);
    return v.b.CreateTrunc(v.b.CreateFPToSI(limited, v.lanes(v.b.getInt32Ty())), target);
  }
  return v.b.CreateIntrinsic(isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                             {target, x->getType()}, {x});
}

static LValue* emitIntToFloat(const VectorBuilder& v, Type to, bool isSigned, LValue* x) {
  LType* target = v.lanes(v.computeType(to));
  LValue* result = isSigned ? v.b.CreateSIToFP(x, target) : v.b.CreateUIToFP(x, target);
  return v.round(result, to);
}

/// double to a narrow float in one rounding: the float between is rounded to odd.
static LValue* emitFloatConversion(const VectorBuilder& v, Type from, Type to, LValue* x) {
  if (from.isF64() == to.isF64()) return v.round(x, to);
  if (to.isF64()) return v.b.CreateFPExt(x, v.lanes(v.b.getDoubleTy()));
  LValue* single = v.b.CreateFPTrunc(x, v.lanes(v.b.getFloatTy()));
  if (to.isF32()) return single;
  LValue *back = v.b.CreateFPExt(single, x->getType()), *bits = v.asInteger(single),
         *one = v.integer(bits->getType(), 1);
  LValue *magnitude = v.unary(llvm::Intrinsic::fabs, x), *rounded = v.unary(llvm::Intrinsic::fabs, back);
  LValue* truncated = v.b.CreateSelect(v.b.CreateFCmpOGT(rounded, magnitude), v.b.CreateSub(bits, one), bits);
  LValue* sticky = v.b.CreateSelect(v.b.CreateFCmpONE(back, x), v.b.CreateOr(truncated, one), bits);
  return v.round(v.asFloat(sticky, v.b.getFloatTy()), to);
}

static LValue* emitBitcast(const VectorBuilder& v, Operation* op, LValue* x) {
  Type from = elementType(op->getOperand(0)), to = elementType(op->getResult(0));
  LValue* memory = from.isInteger(1) ? x : v.toMemory(x, from);
  LType* target = to.isInteger(1) ? v.b.getInt1Ty() : v.memoryType(to);
  LValue* cast = v.b.CreateBitCast(memory, v.lanes(target));
  return to.isInteger(1) ? cast : v.fromMemory(cast, to);
}

// Floats
// ----------------------------------------------------------------------------------------------------------------

LValue* mlir::sgd::kernels::emitFloatExtreme(const VectorBuilder& v, bool larger, LValue* x, LValue* y) {
  // Written so that in a chain over x, y's test for NaN does not wait for x.
  LValue* picked = v.b.CreateSelect(larger ? v.b.CreateFCmpOGT(y, x) : v.b.CreateFCmpOLT(y, x), y, x);
  return v.b.CreateSelect(v.b.CreateFCmpUNO(y, y), y, picked);
}

static LValue* emitCompare(const VectorBuilder& v, Operation* op, ArrayRef<LValue*> x) {
  static constexpr CmpInst::Predicate kFloat[] = {
      CmpInst::FCMP_FALSE, CmpInst::FCMP_OEQ, CmpInst::FCMP_OGT, CmpInst::FCMP_OGE,
      CmpInst::FCMP_OLT,   CmpInst::FCMP_OLE, CmpInst::FCMP_ONE, CmpInst::FCMP_ORD,
      CmpInst::FCMP_UEQ,   CmpInst::FCMP_UGT, CmpInst::FCMP_UGE, CmpInst::FCMP_ULT,
      CmpInst::FCMP_ULE,   CmpInst::FCMP_UNE, CmpInst::FCMP_UNO, CmpInst::FCMP_TRUE};
  static constexpr CmpInst::Predicate kInteger[] = {
      CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,  CmpInst::ICMP_SLT, CmpInst::ICMP_SLE, CmpInst::ICMP_SGT,
      CmpInst::ICMP_SGE, CmpInst::ICMP_ULT, CmpInst::ICMP_ULE, CmpInst::ICMP_UGT, CmpInst::ICMP_UGE};
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return v.b.CreateFCmp(kFloat[static_cast<unsigned>(compare.getPredicate())], x[0], x[1]);
  return v.b.CreateICmp(kInteger[static_cast<unsigned>(cast<arith::CmpIOp>(op).getPredicate())], x[0], x[1]);
}

// Tables
// ----------------------------------------------------------------------------------------------------------------

static LValue* emitArith(const VectorBuilder& v, StringRef name, Operation* op, ArrayRef<LValue*> x) {
  using Inst = llvm::Instruction;
  namespace Intrinsic = llvm::Intrinsic;
  static const llvm::StringMap<Inst::BinaryOps> binary = {
      {"addf", Inst::FAdd}, {"subf", Inst::FSub}, {"mulf", Inst::FMul}, {"divf", Inst::FDiv}, {"addi", Inst::Add},
      {"subi", Inst::Sub},  {"muli", Inst::Mul},  {"andi", Inst::And},  {"ori", Inst::Or},    {"xori", Inst::Xor}};
  static const llvm::StringMap<Intrinsic::ID> intrinsics = {
      {"maxsi", Intrinsic::smax}, {"minsi", Intrinsic::smin}, {"maxui", Intrinsic::umax}, {"minui", Intrinsic::umin}};
  if (auto known = binary.find(name); known != binary.end()) return v.b.CreateBinOp(known->second, x[0], x[1]);
  if (auto known = intrinsics.find(name); known != intrinsics.end()) return v.binary(known->second, x[0], x[1]);
  if (name == "negf") return v.b.CreateFNeg(x[0]);
  if (name == "maximumf" || name == "minimumf") return emitFloatExtreme(v, name == "maximumf", x[0], x[1]);
  if (name == "maxnumf" || name == "minnumf") {
    LValue* picked =
        v.b.CreateSelect(name == "maxnumf" ? v.b.CreateFCmpOGT(x[0], x[1]) : v.b.CreateFCmpOLT(x[0], x[1]), x[0], x[1]);
    return v.b.CreateSelect(v.b.CreateFCmpUNO(x[1], x[1]), x[0], picked);
  }
  if (name == "remf") return emitRemainder(v, x[0], x[1]);
  if (name == "cmpf" || name == "cmpi") return emitCompare(v, op, x);
  if (name == "select") return v.b.CreateSelect(x[0], x[1], x[2]);
  Type from = elementType(op->getOperand(0)), to = elementType(op->getResult(0));
  LType* target = v.lanes(v.computeType(to));
  if (name == "extf" || name == "truncf") return emitFloatConversion(v, from, to, x[0]);
  if (name == "sitofp" || name == "uitofp") return emitIntToFloat(v, to, name == "sitofp", x[0]);
  if (name == "extsi") return v.b.CreateSExt(x[0], target);
  if (name == "extui") return v.b.CreateZExt(x[0], target);
  if (name == "trunci") return v.b.CreateTrunc(x[0], target);
  if (name == "bitcast") return emitBitcast(v, op, x[0]);
  return nullptr;
}

static LValue* emitMath(const VectorBuilder& v, StringRef name, ArrayRef<LValue*> x) {
  namespace Intrinsic = llvm::Intrinsic;
  LType* type = x[0]->getType();
  if (name == "absi") return v.b.CreateIntrinsic(type, Intrinsic::abs, {x[0], v.b.getFalse()});
  if (name == "ctpop") return v.unary(Intrinsic::ctpop, x[0]);
  if (name == "ctlz") return v.b.CreateIntrinsic(type, Intrinsic::ctlz, {x[0], v.b.getFalse()});
  if (name == "cttz") return v.b.CreateIntrinsic(type, Intrinsic::cttz, {x[0], v.b.getFalse()});
  if (name == "ipowi") return emitIntegerPower(v, x[0], x[1]);
  if (name == "isnan") return v.b.CreateFCmpUNO(x[0], x[0]);
  LValue* infinity = v.constant(type, std::numeric_limits<double>::infinity());
  if (name == "isfinite") return v.b.CreateFCmpOLT(v.unary(Intrinsic::fabs, x[0]), infinity);
  if (name == "isinf") return v.b.CreateFCmpOEQ(v.unary(Intrinsic::fabs, x[0]), infinity);
  if (name == "fpowi") return emitMathFunction(v, "powf", {x[0], v.b.CreateSIToFP(x[1], type)});
  return emitMathFunction(v, name, x);
}

LValue* mlir::sgd::kernels::emitElementOp(const VectorBuilder& v, Operation* op, ArrayRef<LValue*> operands) {
  StringRef dialect = op->getName().getDialectNamespace(), name = op->getName().stripDialect();
  Type type = elementType(op->getResult(0));
  LValue* result = nullptr;
  if (dialect == "sgd") {
    if (name == "fptosi" || name == "fptoui") return emitFloatToInt(v, type, name == "fptosi", operands[0]);
    return emitTotalOp(v, name, operands);
  }
  if (dialect == "arith") result = emitArith(v, name, op, operands);
  if (dialect == "math") result = emitMath(v, name, operands);
  return result && result->getType()->getScalarType()->isFloatTy() ? v.round(result, type) : result;
}

llvm::Constant* mlir::sgd::kernels::emitScalarConstant(const VectorBuilder& v, TypedAttr attribute, Type type) {
  LType* llvmType = v.computeType(type);
  auto number = dyn_cast<FloatAttr>(attribute);
  if (!number) return llvm::ConstantInt::get(llvmType, cast<IntegerAttr>(attribute).getValue());
  APFloat exact = number.getValue();
  bool losesInfo;
  exact.convert(type.isF64() ? APFloat::IEEEdouble() : APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &losesInfo);
  return llvm::ConstantFP::get(llvmType, exact);
}

LValue* mlir::sgd::kernels::emitCombiner(const VectorBuilder& v, ReduceKind kind, Type type, LValue* x, LValue* y) {
  bool isFloat = isa<FloatType>(type);
  namespace Intrinsic = llvm::Intrinsic;
  switch (kind) {
    case ReduceKind::Add:
      return isFloat ? v.b.CreateFAdd(x, y) : v.b.CreateAdd(x, y);
    case ReduceKind::Mul:
      return isFloat ? v.b.CreateFMul(x, y) : v.b.CreateMul(x, y);
    case ReduceKind::Max:
      return isFloat ? emitFloatExtreme(v, true, x, y) : v.binary(Intrinsic::smax, x, y);
    case ReduceKind::Min:
      return isFloat ? emitFloatExtreme(v, false, x, y) : v.binary(Intrinsic::smin, x, y);
    case ReduceKind::UMax:
      return v.binary(Intrinsic::umax, x, y);
    case ReduceKind::UMin:
      return v.binary(Intrinsic::umin, x, y);
    case ReduceKind::And:
      return v.b.CreateAnd(x, y);
    case ReduceKind::Or:
      return v.b.CreateOr(x, y);
    case ReduceKind::Xor:
      return v.b.CreateXor(x, y);
  }
  llvm_unreachable("all kinds are handled");
}

LValue* mlir::sgd::kernels::emitScatterCombiner(const VectorBuilder& v, ScatterKind kind, Type type, LValue* before,
                                                LValue* update) {
  if (kind == ScatterKind::Set) return update;
  // The other kinds are the reductions, in the same order.
  static_assert(static_cast<int>(ScatterKind::Add) == static_cast<int>(ReduceKind::Add) + 1 &&
                static_cast<int>(ScatterKind::Xor) == static_cast<int>(ReduceKind::Xor) + 1);
  LValue* result = emitCombiner(v, static_cast<ReduceKind>(static_cast<int>(kind) - 1), type, before, update);
  return result->getType()->getScalarType()->isFloatTy() ? v.round(result, type) : result;
}
