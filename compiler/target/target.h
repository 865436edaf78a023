// A target as the compiler sees it: what passes may know about it, what it says about kernels, and their code. Passes
// read the description; none knows a target's name.
#ifndef SGD_COMPILER_TARGET_H
#define SGD_COMPILER_TARGET_H

#include <memory>

#include "compiler/options.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/memory/passes.h"
#include "passes/library/attention_model.h"
#include "passes/schedule/contraction_shape.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// What differs between targets for the passes before code generation.
struct TargetDescription {
  /// Links and devices whose times are scheduled for and reported where the user names no others: a name that
  /// loadTopology knows. What is sent is decided for "host" then, so that it is the same on all targets.
  std::string topology = "host";
  /// What large reductions are cut for: workers, and the neighbouring columns that one of them takes.
  int64_t reductionParts = 32, reductionColumns = 1024;
  /// What a kernel handles in the time that its launch takes; 0: none.
  int64_t elementsPerLaunch = 0;
  /// Cumulative ops are kernels, for which long rows are cut in so many parts; 0: they are steps of elementwise
  /// kernels.
  int64_t scanWorkers = 0;
  /// Products around a kernel are computed in tiles that stay in a thread's cache.
  bool hasTiles = true;
  /// Matrices of integers are multiplied by the device; else by kernels.
  bool multipliesIntegers = true;
  /// Products can take the maximum with zero, of NaN being NaN as in the graph.
  bool productsTakeRelu = true;
  /// Products of bf16 or f16 can take gelu, in the form with tanh, and its derivative.
  bool productsTakeGelu = false;
  /// Products can write an operand's sums over what they contract.
  bool productsTakeSums = false;
  /// Products of bf16 or f16 can have results of the type that their sums are taken in.
  bool productsKeepSums = false;
  /// Products can have operands of f8, summed up in f32.
  bool productsTakeFloat8 = false;
  /// Products of f32 can round their operands to TF32 where the program allows it.
  bool hasTf32 = false;
  /// What one call of a product takes.
  ProductLimits products;
  /// Between ranks, integers of 16 bits are combined as they are, and integers by and and or. What is not is replaced.
  bool combinesShortIntegers = true, combinesBits = true;
  /// Collectives move only what lies together: the rest is packed, in memory of the plan.
  bool collectivesPack = false;
  /// Memory that a product's library may use while it computes, at most; 0: none.
  uint64_t productWorkspaceBytes = 0;
  /// How convolutions are computed.
  ConvolutionModel convolutions;
  /// The epilogues that they take.
  ConvolutionEpilogues convolutionEpilogues;
  /// Attention and its gradients are kernels for keys and values of at most so many elements; 0: they are not.
  int64_t attentionDepth = 0;
  /// Attention that is a call of a library instead.
  AttentionModel attention;
};

class Target {
 public:
  virtual ~Target() = default;

  /// As Artifact.target calls it.
  virtual StringRef getName() const = 0;

  virtual TargetDescription getDescription() const = 0;

  /// How the target compiles kernels; the time that takes goes to `timings` unless null.
  virtual KernelModel getKernelModel(Timings* timings) const = 0;

  /// Compiles all kernels of `plan` and gives their code, and what it needs to run, to `writer`, which has the plan's
  /// tables already. Emits an error where that fails.
  virtual LogicalResult compileKernels(ModuleOp plan, ::sgd::artifact::ArtifactWriter& writer,
                                       Timings* timings) const = 0;

  /// Everything of the target that changes the code: its part of a compilation's name in the cache.
  virtual std::string getIdentity() const = 0;

  /// The target that `options` name, or why there is none.
  static llvm::Expected<std::unique_ptr<Target>> create(const CompileOptions& options);
};

}  // namespace mlir::sgd

#endif
