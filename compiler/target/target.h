// A target as the compiler sees it: what passes may know about it, what it says about kernels, and their code. Passes
// read the description; none knows a target's name.
#ifndef SGD_COMPILER_TARGET_H
#define SGD_COMPILER_TARGET_H

#include <memory>

#include "compiler/options.h"
#include "compiler/timings.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/kernels/library/library_model.h"
#include "passes/plan/lowering/passes.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// The device; the calls that its libraries compute are in its LibraryModel.
struct TargetDescription {
  /// Links and devices that plans are made for where the user names no others: a name that loadTopology knows.
  std::string topology = "host";
  /// How large reductions are cut: into parts for so many workers, and so many neighbouring columns for each.
  int64_t reductionParts = 32, reductionColumns = 1024;
  /// Elements that a kernel handles in the time of its launch; 0: launches are free.
  int64_t elementsPerLaunch = 0;
  /// Cumulative ops are kernels, for which long rows are cut in so many parts; 0: they are steps of elementwise
  /// kernels.
  int64_t scanWorkers = 0;
  /// The device's memory is not the host's, where buffers may be meanwhile.
  bool hasOwnMemory = false;
};

class Target {
 public:
  virtual ~Target() = default;

  /// As Artifact.target calls it.
  virtual StringRef getName() const = 0;

  virtual TargetDescription getDescription() const = 0;

  /// The calls that the target's libraries compute; lives as long as the target.
  virtual const LibraryModel& getLibraries() const = 0;

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
