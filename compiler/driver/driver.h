// The compiler as a library: texts of programs and options in; artifact, report, explanation and printed IR out.
// Nothing a user can write makes it crash: every refusal is one line, `file:line:col: error: ...`, on the error stream.
#ifndef SGD_COMPILER_DRIVER_H
#define SGD_COMPILER_DRIVER_H

#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/files.h"
#include "compiler/options.h"
#include "compiler/report/explain.h"
#include "compiler/report/report.h"
#include "compiler/timings.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Support/LogicalResult.h"

namespace mlir::sgd {

struct Compilation {
  std::string emitted;   ///< text of CompileOptions::emit, of all programs one after another; empty without it
  std::string request;   ///< of CompileOptions::emitsRequest
  std::string artifact;  ///< the bytes of the .sgda; empty when CompileOptions::writeArtifact is false
  Report report;         ///< complete only with an artifact
  ExplanationReport explanation;
};

/// Compiles all programs for one mesh into one artifact. The same sources and options give the same bytes. Warnings and
/// one-line errors go to `errors`, the time that each stage takes to `timings` unless that is null.
FailureOr<Compilation> compile(llvm::ArrayRef<ProgramSource> sources, const CompileOptions& options,
                               llvm::raw_ostream& errors, Timings* timings = nullptr);

/// Goes on with a compilation from Compilation::request, to the artifact, report and explanation that it gives.
FailureOr<Compilation> replay(const ProgramSource& request, llvm::raw_ostream& errors, Timings* timings = nullptr);

/// Compiles the same programs many times, with options that differ in what comes after their texts are read: that is
/// done once. Of one thread.
class CompileSession {
 public:
  /// `sources` must outlive it.
  explicit CompileSession(llvm::ArrayRef<ProgramSource> sources);
  ~CompileSession();

  /// As compile().
  FailureOr<Compilation> compile(const CompileOptions& options, llvm::raw_ostream& errors, Timings* timings = nullptr);

  /// Calls `visit` with the module of a compilation as the recipe of `options` finds it: programs on the graph level,
  /// what steps carry decided, with annotations as the recipe's field says.
  LogicalResult visitPrograms(const CompileOptions& options, llvm::raw_ostream& errors,
                              llvm::function_ref<LogicalResult(ModuleOp)> visit);

 private:
  struct State;
  std::unique_ptr<State> state;
};

}  // namespace mlir::sgd

#endif
