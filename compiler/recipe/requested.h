// The request of a compilation, as the passes of a recipe read it.
#ifndef SGD_COMPILER_RECIPE_REQUESTED_H
#define SGD_COMPILER_RECIPE_REQUESTED_H

#include "compiler/recipe/plan_options.h"
#include "compiler/request/request.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::sgd {

struct Requested {
  Request request;
  std::optional<Recipe> recipe;
  PlanOptions options;  ///< those of the request with what the recipe adds

  /// Fails with an error where the recipe of `request` cannot be read.
  static FailureOr<Requested> create(MLIRContext* context, Request request);
  /// Reads the request of `compilation`; an error if it has none.
  static FailureOr<Requested> read(ModuleOp compilation);

  /// The file of program `index` of the compilation, as messages call it.
  StringRef getFile(size_t index) const {
    return index < request.programs.size() ? StringRef(request.programs[index].file) : StringRef();
  }
};

/// While it lives, diagnostics without a location name `file`, which has no lines for them: a recipe, or a program that
/// a flag does not fit.
class FileOfDiagnostics {
 public:
  FileOfDiagnostics(MLIRContext* context, StringRef file);

 private:
  ScopedDiagnosticHandler handler;
};

}  // namespace mlir::sgd

#endif
