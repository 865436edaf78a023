// A line per question; answers are in the files of each library.
#include "targets/gpu/libraries/library_model.h"

#include "targets/gpu/codegen/attention_kernels.h"
#include "targets/gpu/libraries/cublaslt_matmuls.h"
#include "targets/gpu/libraries/cudnn_attention.h"
#include "targets/gpu/libraries/cudnn_convolutions.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

GpuLibraries::GpuLibraries(ArrayRef<Architecture> architectures, int64_t elementsPerLaunch)
    : elementsPerLaunch(elementsPerLaunch) {
  for (const Architecture& architecture : architectures) capabilities.push_back(architecture.getCapability());
}

bool GpuLibraries::multiplies(Type lhs, Type rhs, Type result) const {
  return multipliesByCublasLt(lhs, rhs, result, capabilities);
}

CallTypes GpuLibraries::getMatmulTypes(Type lhs, Type rhs, Type result) const {
  return getCublasLtTypes(lhs, rhs, result);
}

MatmulLimits GpuLibraries::getMatmulLimits() const { return {.batchDims = 1, .elementsPerCall = elementsPerLaunch}; }

bool GpuLibraries::takes(const MatmulCall& call) const { return isCublasLtMatmul(call, capabilities); }

int64_t GpuLibraries::getMatmulWorkspace(Type result, int64_t touchedBytes) const {
  return isa<FloatType>(result) ? getCublasLtWorkspace(touchedBytes, capabilities) : 0;
}

CallTypes GpuLibraries::getConvolutionTypes(Type operand, Type result) const {
  return getCudnnConvolutionTypes(operand, result);
}

bool GpuLibraries::takes(const ConvolutionCall& call) const { return isCudnnConvolution(call); }

int64_t GpuLibraries::getConvolutionWorkspace(const ConvolutionCall& call) const {
  return getCudnnConvolutionWorkspace(call);
}

int64_t GpuLibraries::getAttentionDepth() const { return kMostDepth; }

std::optional<AttentionParts> GpuLibraries::getAttentionParts(const AttentionCall& call) const {
  return getCudnnAttentionParts(call, capabilities);
}

CollectiveLimits GpuLibraries::getCollectiveLimits() const {
  // NCCL's types and operators.
  return {.combinesShortIntegers = false, .combinesBits = false, .movesRows = false};
}
