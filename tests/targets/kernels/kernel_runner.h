// Compiles one cluster given as text, loads it as the runtime does, and runs it on tensors.
#ifndef SGD_TESTS_TARGETS_KERNELS_KERNEL_RUNNER_H
#define SGD_TESTS_TARGETS_KERNELS_KERNEL_RUNNER_H

#include <memory>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "dialects/fusion/fusion_dialect.h"
#include "tests/targets/kernels/compiled_kernels.h"

namespace mlir::sgd::kernels {

/// A tensor as bytes, with access to its elements as doubles.
struct Tensor {
  RankedTensorType type;
  std::vector<char> bytes;

  explicit Tensor(RankedTensorType type);
  int64_t size() const { return type.getNumElements(); }
  double get(int64_t index) const;
  int64_t getInteger(int64_t index) const;
  void set(int64_t index, double value);
  void setInteger(int64_t index, int64_t value);
  /// Values spread over [low, high) by a counter; integers are whole.
  void fill(double low, double high, unsigned seed);
};

class KernelRunner {
 public:
  /// `text` is a module with one function whose body holds one cluster. Test failures are reported by `ok()`.
  explicit KernelRunner(llvm::StringRef text, llvm::StringRef variant = CompiledKernels::variants().front(),
                        llvm::ArrayRef<InPlacePair> inPlace = {});

  bool ok() const { return kernels != nullptr; }
  const KernelInterface& interface() const { return kernel; }
  fusion::ClusterOp cluster() const { return body; }
  std::vector<Tensor> makeInputs() const;
  /// Runs the parts [cuts[i], cuts[i + 1]); with no cuts, all at once.
  std::vector<Tensor> run(std::vector<Tensor> inputs, std::vector<int64_t> cuts = {},
                          std::vector<int64_t> coordinates = {}) const;

 private:
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  fusion::ClusterOp body;
  KernelInterface kernel;
  std::vector<InPlacePair> inPlace;
  std::unique_ptr<CompiledKernels> kernels;
};

/// A context with the dialects that kernels are made of.
std::unique_ptr<MLIRContext> makeContext();

}  // namespace mlir::sgd::kernels

#endif
