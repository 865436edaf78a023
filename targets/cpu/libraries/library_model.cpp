// Types and epilogues of targets/cpu/device.
#include "targets/cpu/libraries/library_model.h"

#include "dialects/fusion/fusion_dialect.h"
#include "passes/kernels/library/call_types.h"
#include "runtime/library/packed_columns.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

/// A bias, a bias and relu, or a tensor that is added to.
static bool takesEpilogue(const fusion::Epilogue& epilogue) {
  return epilogue.empty() || epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias} ||
         epilogue == fusion::Epilogue{fusion::EpilogueStep::kBias, fusion::EpilogueStep::kRelu} ||
         epilogue == fusion::Epilogue{fusion::EpilogueStep::kResidual};
}

bool CpuLibraries::multiplies(Type lhs, Type rhs, Type result) const { return lhs == rhs && !isFloat8(lhs); }

CallTypes CpuLibraries::getMatmulTypes(Type lhs, Type rhs, Type result) const {
  if (!isa<FloatType>(result)) return {result, result};
  auto widen = [](Type type) { return isFloat8(type) ? Float32Type::get(type.getContext()) : type; };
  Type widest = getWidestFloat(widen(lhs), widen(rhs), widen(result));
  return {widest, widest};
}

bool CpuLibraries::takes(const MatmulCall& call) const { return takesEpilogue(call.epilogue); }

int64_t CpuLibraries::getPackedColumns(Type element, int64_t m, int64_t n, int64_t k) const {
  // With more rows, a stripe that is packed each time is read often enough.
  constexpr int64_t kMostRows = 256;
  constexpr auto columns = static_cast<int64_t>(::sgd::library::kPackedColumns);
  bool pays = m <= std::min(n, kMostRows) && m * n * k >= static_cast<int64_t>(::sgd::library::kLeastSharedWork);
  return (element.isF32() || element.isF64()) && n % columns == 0 && pays ? columns : 0;
}

std::optional<int64_t> CpuLibraries::getTileFlopsPerByte() const {
  // Measured on AVX-512 with f32: matmuls in tiles run at 200 GFLOP/s, memory gives 10 GB/s to one thread.
  return 20;
}

CallTypes CpuLibraries::getConvolutionTypes(Type operand, Type result) const {
  return {operand, getAccumulatorType(result)};
}

bool CpuLibraries::takes(const ConvolutionCall& call) const { return takesEpilogue(call.epilogue); }
