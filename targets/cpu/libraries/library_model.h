// The packed matmuls and convolutions of targets/cpu/device, as passes ask for them.
#ifndef SGD_TARGETS_CPU_LIBRARIES_LIBRARY_MODEL_H
#define SGD_TARGETS_CPU_LIBRARIES_LIBRARY_MODEL_H

#include "passes/kernels/library/library_model.h"

namespace mlir::sgd::cpu {

/// They multiply all types, take all layouts, add to what a result holds or to a bias, with relu or without, and need
/// no memory of the plan. Attention is computed in tiles around a kernel.
class CpuLibraries : public LibraryModel {
 public:
  bool multiplies(Type lhs, Type rhs, Type result) const override;
  CallTypes getMatmulTypes(Type lhs, Type rhs, Type result) const override;
  MatmulLimits getMatmulLimits() const override { return {.batchDims = 4, .elementsPerCall = 1000}; }
  bool takes(const MatmulCall& call) const override;
  int64_t getPackedColumns(Type element, int64_t m, int64_t n, int64_t k) const override;
  int64_t getMatmulWorkspace(Type result, int64_t touchedBytes) const override { return 0; }
  bool roundsToTf32() const override { return false; }
  std::optional<int64_t> getTileFlopsPerByte() const override;

  CallTypes getConvolutionTypes(Type operand, Type result) const override;
  bool takes(const ConvolutionCall& call) const override;
  bool readsDilated() const override { return false; }
  int64_t getConvolutionWorkspace(const ConvolutionCall& call) const override { return 0; }

  int64_t getAttentionDepth() const override { return 0; }
  std::optional<AttentionParts> getAttentionParts(const AttentionCall& call) const override { return std::nullopt; }

  CollectiveLimits getCollectiveLimits() const override { return {}; }
};

}  // namespace mlir::sgd::cpu

#endif
