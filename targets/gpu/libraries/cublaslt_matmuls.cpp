// Limits of cublasLtMatmul's documentation, and what was measured.
#include "targets/gpu/libraries/cublaslt_matmuls.h"

#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/library/call_types.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isHopperOrLater(int capability) { return capability >= 90; }

bool mlir::sgd::gpu::multipliesByCublasLt(Type lhs, Type rhs, Type result, ArrayRef<int> capabilities) {
  if (!isFloat8(lhs)) return isa<FloatType>(result) && lhs == rhs;
  return llvm::all_of(capabilities, [](int capability) { return capability >= 89; }) && mayMultiply(lhs, rhs, result) &&
         !(isa<Float8E5M2Type>(lhs) && isa<Float8E5M2Type>(rhs));
}

/// The type of 16 bits that holds all values of f8, as the matmul's other types have it.
static Type widenFloat8(Type type, ArrayRef<Type> others) {
  if (!isFloat8(type)) return type;
  bool hasHalf = llvm::any_of(others, [](Type other) { return other.isF16(); });
  Builder builder(type.getContext());
  return hasHalf ? Type(builder.getF16Type()) : Type(builder.getBF16Type());
}

CallTypes mlir::sgd::gpu::getCublasLtTypes(Type lhs, Type rhs, Type result) {
  if (!isa<FloatType>(result)) return {result, result};
  // Rounded once, from the sum.
  if (isFloat8(result)) result = Float32Type::get(result.getContext());
  std::tie(lhs, rhs) = std::pair(widenFloat8(lhs, {rhs, result}), widenFloat8(rhs, {lhs, result}));
  if (lhs == rhs && result == getAccumulatorType(lhs)) return {lhs, result};
  Type widest = getWidestFloat(lhs, rhs, result);
  return {widest, widest};
}

/// The one form that FP8 kernels have on all GPUs: the contracted dimension has stride 1 in both operands, and sizes
/// and other strides are multiples of 16 elements.
static bool hasFloat8Form(const ContractionShape& shape) {
  constexpr int64_t kMultiple = 16;
  auto isMultiple = [](int64_t value) { return value % kMultiple == 0; };
  int64_t cLeading = shape.cN == 1 ? shape.cM : shape.cN;
  return shape.aK == 1 && shape.bK == 1 && (shape.cN == 1 || shape.cM == 1) &&
         llvm::all_of(
             ArrayRef<int64_t>{shape.m, shape.n, shape.k, shape.aM, shape.bN, cLeading, shape.aStep, shape.bStep},
             isMultiple) &&
         llvm::all_of(shape.aBatch, isMultiple) && llvm::all_of(shape.bBatch, isMultiple) &&
         llvm::all_of(shape.cBatch, isMultiple);
}

/// One matrix, row by row, of f16 or bf16 (in f32 the library's tanh is an approximation); rows of what is kept beside
/// the result are of a multiple of 8 elements (CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD). Before Hopper gelu is a kernel of
/// the library's own, slower than ours is (karpathy/llm.c, pull request 338).
static bool takesGelu(const MatmulCall& call, ArrayRef<int> capabilities) {
  constexpr int64_t kRowMultiple = 8;
  const ContractionShape& shape = call.shape;
  return llvm::all_of(capabilities, isHopperOrLater) && isa<BFloat16Type, Float16Type>(call.result) &&
         call.lhs == call.result && shape.batch.empty() && shape.n % kRowMultiple == 0 && shape.cN == 1 &&
         (shape.m == 1 || shape.cM == shape.n);
}

/// One matrix, computed in full precision.
static bool reducesOperand(const MatmulCall& call) {
  return isa<Float32Type, Float16Type, BFloat16Type>(call.result) && call.lhs == call.result && !call.tf32 &&
         call.shape.batch.empty();
}

/// Not with an f32 result of f8 operands.
static bool takesBias(const MatmulCall& call) { return !isFloat8(call.lhs) || !call.result.isF32(); }

bool mlir::sgd::gpu::isCublasLtMatmul(const MatmulCall& call, ArrayRef<int> capabilities) {
  if (!multipliesByCublasLt(call.lhs, call.rhs, call.result, capabilities)) return false;
  if (isFloat8(call.lhs) && !hasFloat8Form(call.shape)) return false;
  // The library's relu makes 0 of NaN (forums.developer.nvidia.com/t/329783), which the graph's maximum keeps: it is in
  // none of these.
  const fusion::Epilogue& epilogue = call.epilogue;
  if (epilogue.empty() || epilogue == fusion::Epilogue{fusion::EpilogueStep::kResidual}) return true;
  if (epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias}) return takesBias(call);
  if (epilogue == fusion::Epilogue{fusion::EpilogueStep::kLhsReduction} ||
      epilogue == fusion::Epilogue{fusion::EpilogueStep::kRhsReduction})
    return reducesOperand(call);
  return (epilogue == fusion::Epilogue{fusion::EpilogueStep::kGelu} ||
          epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias, fusion::EpilogueStep::kGelu} ||
          epilogue == fusion::Epilogue{fusion::EpilogueStep::kGeluGradient}) &&
         takesGelu(call, capabilities);
}

int64_t mlir::sgd::gpu::getCublasLtWorkspace(int64_t touchedBytes, ArrayRef<int> capabilities) {
  constexpr int64_t kAlignment = 256;  // of the library's operands, anywhere in a buffer
  // NVIDIA's recommendation (cublasSetWorkspace): 32 MiB from Hopper on, 4 MiB before. The largest of the
  // architectures: an algorithm that needs less leaves the rest alone.
  int64_t most = int64_t{llvm::any_of(capabilities, isHopperOrLater) ? 32 : 4} << 20;
  return std::min<int64_t>(llvm::alignTo(touchedBytes, kAlignment), most) + kAlignment;
}
