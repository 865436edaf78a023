// Sine, cosine and the inverse trigonometric functions.
#include "llvm/IR/Module.h"
#include "targets/kernels/math_function_set.h"

using namespace mlir::sgd::kernels;
using llvm::SmallVector;
using llvm::Type;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

// sin(x) = x + x t P(t), cos(x) = 1 - t/2 + t^2 P(t), t = x^2, |x| <= pi/4.
static constexpr double kSinFloat[] = {-0.166666666, 0.00833332929, -0.000198393011, 2.71797862e-6};
static constexpr double kSinDouble[] = {-0.166666666666666666,  0.00833333333333332238,  -0.000198412698412545685,
                                        2.75573192139092535e-6, -2.50521048339373671e-8, 1.60583562821178988e-10,
                                        -7.5781662363218617e-13};
static constexpr double kCosFloat[] = {0.0416666666, -0.00138888837, 2.47995009e-5, -2.72083689e-7};
static constexpr double kCosDouble[] = {0.0416666666666666666,   -0.0013888888888888878, 0.0000248015873015742401,
                                        -2.75573192163471545e-7, 2.08767545493004108e-9, -1.14703108584045051e-11,
                                        4.73878591940901688e-14};
// atan(x) = x + x t P(t), t = x^2; floats on |x| <= 1, doubles on |x| <= tan(pi/8). asin likewise on |x| <= 1/2.
static constexpr double kAtanFloat[] = {-0.333333277, 0.199996997,   -0.142802151, 0.110607562,    -0.0882065127,
                                        0.0676347662, -0.0449991814, 0.0228036468, -0.00744242235, 0.00113873495};
static constexpr double kAtanDouble[] = {-0.333333333333333278,  0.199999999999977386,   -0.142857142853954025,
                                         0.111111110885861675,   -0.0909090815795137893, 0.0769228304041970715,
                                         -0.0666623067261168315, 0.0587705824199766438,  -0.0521862913088902296,
                                         0.0450443027843619151,  -0.033494321386669731,  0.0152147747479898134};
static constexpr double kAsinFloat[] = {0.166667508, 0.0749534325, 0.0454662964, 0.0241946397, 0.0421463422};
static constexpr double kAsinDouble[] = {
    0.1666666666666676,    0.0749999999997077209,  0.0446428571747217132, 0.0303819427000612886, 0.0223722152506300147,
    0.0173516067308550357, 0.0139808885874265993,  0.0113983279694715489, 0.0107836388995925712, 0.00369331449070467039,
    0.0217398379678128571, -0.0210454320153627233, 0.0326578494915654272};

// 2/pi in pieces of 22 bits: products with 27 bits have four to spare for sums of them.
static constexpr int32_t kTwoOverPi[] = {
    0x28BE60, 0x36E4E4, 0x1054A7, 0x3C2757, 0x347D4D, 0x0DDC0D, 0x2D8A56, 0x193C43, 0x24107F, 0x25163A,
    0x2F7AEF, 0x0561B7, 0x091B8E, 0x2424DD, 0x0B8019, 0x092EEA, 0x027464, 0x21CFE1, 0x37AC72, 0x3129A7,
    0x0FBA20, 0x235F52, 0x3AED12, 0x04E99C, 0x1C09AD, 0x05F7E4, 0x04E647, 0x163983, 0x14CE7D, 0x09C845,
    0x3E2EF7, 0x39283B, 0x07FE25, 0x3FFDE0, 0x16603F, 0x2F2F11, 0x22D682, 0x26D1F6, 0x34D9FB, 0x0F27CB,
    0x026DD3, 0x3463F6, 0x1A797F, 0x2A2D75, 0x09EEB1, 0x3EBE5F, 0x05ECF4, 0x0739F7, 0x2294A4, 0x2EA6BF,
    0x2D7EC4, 0x1F8D5D, 0x021580, 0x33046F, 0x31EDAE, 0x2BF0CF, 0x2F0826, 0x2F4361};

/// Payne and Hanek: quarter turns of any finite x, without those that are whole turns; returns the nearest integer and
/// the rest as an angle. x is cut in two, so that products with pieces of 2/pi are exact; pieces whose products are
/// whole turns only are skipped. What cancels, cancels exactly.
std::pair<Value*, Value*> MathFunctions::hugeQuarterTurns(Value* x, int mantissaOfX) const {
  bool isWide = mantissaOfX > 26;
  Value* bits = v.asInteger(x);
  Type* integer = bits->getType();
  Value* exponent = b.CreateSub(b.CreateAnd(b.CreateLShr(bits, v.integer(integer, 52)), v.integer(integer, 0x7FF)),
                                v.integer(integer, 1023 + mantissaOfX + 2));
  Value* above = v.binary(Intrinsic::smax, exponent, v.integer(integer, 0));
  Value* first = b.CreateLShr(b.CreateMul(above, v.integer(integer, 2979)), v.integer(integer, 16));  // above / 22
  Value* scaled = b.CreateFMul(x, powerOfTwo(b.CreateMul(first, v.integer(integer, -22))));
  Value* high =
      v.asFloat(b.CreateAnd(v.asInteger(scaled), v.integer(integer, -(int64_t{1} << 27))), type->getScalarType());
  Value* low = b.CreateFSub(scaled, high);
  SmallVector<Value*> quarters;
  auto add = [&](Value* part, int piece) {
    Value* bitsOfTurn = v.lookUp(kTwoOverPi, b.CreateAdd(first, v.integer(integer, piece)));
    Value* factor = b.CreateFMul(b.CreateSIToFP(bitsOfTurn, type), c(std::ldexp(1.0, -22 * (piece + 1))));
    Value* product = b.CreateFMul(part, factor);
    Value* turns = v.unary(Intrinsic::rint, b.CreateFMul(product, c(0.25)));
    quarters.push_back(v.fma(turns, c(-4), product));
  };
  // From large to small: what low (2^-26 of high) gives with a piece is less than what high gives with the next.
  for (int piece = 0; piece < (isWide ? 11 : 7); ++piece) {
    add(high, piece);
    if (isWide && piece > 0) add(low, piece - 1);
  }
  Value* sum = quarters.front();
  for (Value* quarter : llvm::drop_begin(quarters)) sum = b.CreateFAdd(sum, quarter);
  Value *nearest = v.unary(Intrinsic::rint, sum), *rest = negate(nearest), *lost = c(0);
  for (Value* quarter : quarters) {
    Value* next = b.CreateFAdd(rest, quarter);
    if (isWide) {  // Knuth's sum of two: what rounding lost
      Value *added = b.CreateFSub(next, rest), *kept = b.CreateFSub(next, added);
      lost = b.CreateFAdd(lost, b.CreateFAdd(b.CreateFSub(rest, kept), b.CreateFSub(quarter, added)));
    }
    rest = next;
  }
  Value* quarterTurn = c(1.57079632679489661923);
  rest = v.fma(rest, quarterTurn, v.fma(rest, c(6.1232339957367660359e-17), b.CreateFMul(lost, quarterTurn)));
  return {nearest, rest};
}

/// A function of its own, since it branches: hugeQuarterTurns for the lanes above 2^16, entered when there are any.
static llvm::Function* declareHugeTurns(llvm::Module& module, unsigned width, Type* type, int mantissaOfX) {
  std::string name = "huge.quarter.turns." + std::to_string(width) + "." + std::to_string(mantissaOfX);
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  auto* result = llvm::StructType::get(context, {type, type});
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, {type, type, type}, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setDoesNotAccessMemory();  // but constants
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", function));
  VectorBuilder v(b, width);
  MathFunctions f(v, type);
  Value *x = function->getArg(0), *nearest = function->getArg(1), *rest = function->getArg(2);
  Value *isHuge = b.CreateFCmpOGT(f.abs(x), f.c(65536)), *isAny = width == 1 ? isHuge : b.CreateOrReduce(isHuge);
  auto* huge = llvm::BasicBlock::Create(context, "huge", function);
  auto* usual = llvm::BasicBlock::Create(context, "usual", function);
  b.CreateCondBr(isAny, huge, usual);
  auto finish = [&](llvm::BasicBlock* block, Value* n, Value* r) {
    b.SetInsertPoint(block);
    b.CreateRet(b.CreateInsertValue(b.CreateInsertValue(llvm::PoisonValue::get(result), n, 0), r, 1));
  };
  b.SetInsertPoint(huge);
  auto [hugeNearest, hugeRest] = f.hugeQuarterTurns(x, mantissaOfX);
  finish(huge, b.CreateSelect(isHuge, hugeNearest, nearest), b.CreateSelect(isHuge, hugeRest, rest));
  finish(usual, nearest, rest);
  return function;
}

/// Cody and Waite with pi/2 in two parts; above 2^16 as hugeQuarterTurns.
std::pair<Value*, Value*> MathFunctions::reduceQuarterTurns(Value* x, int mantissaOfX, int quarterTurns) const {
  Value* n = v.unary(Intrinsic::rint, b.CreateFMul(x, c(0.63661977236758134308)));
  Value* r = v.fma(n, c(-1.5707963267948965580), x);
  r = v.fma(n, c(-6.1232339957367660359e-17), r);
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  Value* reduced = b.CreateCall(declareHugeTurns(module, v.width, x->getType(), mantissaOfX), {x, n, r});
  n = b.CreateExtractValue(reduced, 0);
  r = b.CreateExtractValue(reduced, 1);
  Value* turns = b.CreateFAdd(n, c(quarterTurns));
  return {r, b.CreateFSub(turns, b.CreateFMul(c(4), v.unary(Intrinsic::floor, b.CreateFMul(turns, c(0.25)))))};
}

Value* MathFunctions::sinInQuadrant(Value* r, Value* quadrant) const {
  Value* t = b.CreateFMul(r, r);
  Value* sine = v.fma(b.CreateFMul(r, t), poly(t, kSinFloat, kSinDouble), r);
  Value* cosine = v.fma(b.CreateFMul(t, t), poly(t, kCosFloat, kCosDouble), v.fma(t, c(-0.5), c(1)));
  Value* odd = b.CreateOr(b.CreateFCmpOEQ(quadrant, c(1)), b.CreateFCmpOEQ(quadrant, c(3)));
  Value* result = b.CreateSelect(odd, cosine, sine);
  return b.CreateSelect(b.CreateFCmpOGE(quadrant, c(2)), negate(result), result);
}

/// Floats are reduced in double.
Value* MathFunctions::trigonometric(Value* x, int quarterTurns) const {
  if (isDouble) {
    auto [r, quadrant] = reduceQuarterTurns(x, 53, quarterTurns);
    return sinInQuadrant(r, quadrant);
  }
  Type* wide = v.lanes(b.getDoubleTy());
  auto [r, quadrant] = MathFunctions(v, wide).reduceQuarterTurns(b.CreateFPExt(x, wide), 24, quarterTurns);
  Value* single = b.CreateFPTrunc(r, type);
  return sinInQuadrant(single, b.CreateFPTrunc(quadrant, type));
}

Value* MathFunctions::asin(Value* x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value* t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value* s = b.CreateSelect(isSmall, a, sqrt(t));
  Value* core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  return copySign(b.CreateSelect(isSmall, core, v.fma(core, c(-2), c(1.57079632679489661923))), x);
}

Value* MathFunctions::acos(Value* x) const {
  Value *a = abs(x), *isSmall = b.CreateFCmpOLE(a, c(0.5));
  Value* t = b.CreateSelect(isSmall, b.CreateFMul(a, a), b.CreateFMul(c(0.5), b.CreateFSub(c(1), a)));
  Value* s = b.CreateSelect(isSmall, a, sqrt(t));
  Value* core = v.fma(b.CreateFMul(s, t), poly(t, kAsinFloat, kAsinDouble), s);
  Value* small = b.CreateFSub(c(1.57079632679489661923), copySign(core, x));
  Value* twice = b.CreateFMul(core, c(2));
  Value* large = b.CreateSelect(b.CreateFCmpOLT(x, c(0)), b.CreateFSub(c(3.14159265358979323846), twice), twice);
  return b.CreateSelect(isSmall, small, large);
}

Value* MathFunctions::atan(Value* x) const {
  Value *a = abs(x), *isLarge = b.CreateFCmpOGT(a, c(1));
  Value* z = b.CreateSelect(isLarge, reciprocal(a), a);  // in [0, 1]
  Value* offset = c(0);
  if (isDouble) {
    Value* high = b.CreateFCmpOGT(z, c(0.41421356237309504880));
    z = b.CreateSelect(high, b.CreateFDiv(b.CreateFSub(z, c(1)), b.CreateFAdd(z, c(1))), z);
    offset = b.CreateSelect(high, c(0.78539816339744830962), c(0));
  }
  Value* t = b.CreateFMul(z, z);
  Value* core = b.CreateFAdd(offset, v.fma(b.CreateFMul(z, t), poly(t, kAtanFloat, kAtanDouble), z));
  return copySign(b.CreateSelect(isLarge, b.CreateFSub(c(1.57079632679489661923), core), core), x);
}

Value* MathFunctions::atan2(Value* y, Value* x) const {
  Value *ax = abs(x), *ay = abs(y);
  Value* bothInfinite = b.CreateAnd(b.CreateFCmpOEQ(ax, c(kInfinity)), b.CreateFCmpOEQ(ay, c(kInfinity)));
  Value* bothZero = b.CreateAnd(b.CreateFCmpOEQ(ax, c(0)), b.CreateFCmpOEQ(ay, c(0)));
  Value* ratio = b.CreateFDiv(ay, ax);
  ratio = b.CreateSelect(bothInfinite, c(1), b.CreateSelect(bothZero, c(0), ratio));
  Value* angle = atan(ratio);
  Value* negative = b.CreateICmpSLT(v.asInteger(x), v.integer(v.asInteger(x)->getType(), 0));
  angle = b.CreateSelect(negative, b.CreateFSub(c(3.14159265358979323846), angle), angle);
  Value* unordered = b.CreateFCmpUNO(x, y);
  return b.CreateSelect(unordered, b.CreateFAdd(x, y), copySign(angle, y));
}
