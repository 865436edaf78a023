// cuBLASLt, cuDNN and NCCL, and the target's own attention, as passes ask for them.
#ifndef SGD_TARGETS_GPU_LIBRARIES_LIBRARY_MODEL_H
#define SGD_TARGETS_GPU_LIBRARIES_LIBRARY_MODEL_H

#include "passes/kernels/library/library_model.h"
#include "targets/gpu/codegen/architecture.h"

namespace mlir::sgd::gpu {

/// The library calls of GPUs of each of the architectures.
class GpuLibraries : public LibraryModel {
 public:
  /// `elementsPerLaunch`: what a kernel handles in the time of a launch.
  GpuLibraries(ArrayRef<Architecture> architectures, int64_t elementsPerLaunch);

  bool multiplies(Type lhs, Type rhs, Type result) const override;
  CallTypes getMatmulTypes(Type lhs, Type rhs, Type result) const override;
  MatmulLimits getMatmulLimits() const override;
  bool takes(const MatmulCall& call) const override;
  int64_t getPackedColumns(Type element, int64_t m, int64_t n, int64_t k) const override { return 0; }
  int64_t getMatmulWorkspace(Type result, int64_t touchedBytes) const override;
  bool roundsToTf32() const override { return true; }
  std::optional<int64_t> getTileFlopsPerByte() const override { return std::nullopt; }

  CallTypes getConvolutionTypes(Type operand, Type result) const override;
  bool takes(const ConvolutionCall& call) const override;
  bool readsDilated() const override { return true; }
  int64_t getConvolutionWorkspace(const ConvolutionCall& call) const override;

  int64_t getAttentionDepth() const override;
  std::optional<AttentionParts> getAttentionParts(const AttentionCall& call) const override;

  CollectiveLimits getCollectiveLimits() const override;

 private:
  SmallVector<int> capabilities;
  int64_t elementsPerLaunch;
};

}  // namespace mlir::sgd::gpu

#endif
