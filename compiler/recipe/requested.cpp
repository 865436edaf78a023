// The recipe's text is in the request.
#include "compiler/recipe/requested.h"

#include "dialects/sgd/source_line.h"

using namespace mlir;
using namespace mlir::sgd;

FailureOr<Requested> Requested::read(ModuleOp compilation) {
  FailureOr<Request> request = Request::read(compilation);
  if (failed(request)) return failure();
  return create(compilation.getContext(), std::move(*request));
}

FailureOr<Requested> Requested::create(MLIRContext* context, Request request) {
  Requested requested{std::move(request), std::nullopt, {}};
  const CompileOptions& options = requested.request.options;
  if (!options.recipeFile.empty()) {
    FileOfDiagnostics file(context, options.recipeFile);
    llvm::Expected<Recipe> recipe = parseRecipe(options.recipe, options.recipeFile);
    if (!recipe) return LogicalResult(emitError(UnknownLoc::get(context)) << llvm::toString(recipe.takeError()));
    requested.recipe = std::move(*recipe);
  }
  requested.options = getPlanOptions(options, requested.recipe ? &*requested.recipe : nullptr);
  return requested;
}

/// Says the same with a location.
static LogicalResult moveTo(Location location, Diagnostic& diagnostic) {
  if (!getSourceLine(diagnostic.getLocation()).empty() || isa<UnknownLoc>(location)) return failure();
  switch (diagnostic.getSeverity()) {
    case DiagnosticSeverity::Error:
      emitError(location) << diagnostic.str();
      break;
    case DiagnosticSeverity::Warning:
      emitWarning(location) << diagnostic.str();
      break;
    case DiagnosticSeverity::Remark:
      emitRemark(location) << diagnostic.str();
      break;
    case DiagnosticSeverity::Note:
      return failure();
  }
  return success();
}

static Location getLocation(MLIRContext* context, StringRef file) {
  if (file.empty()) return UnknownLoc::get(context);
  return FileLineColLoc::get(context, file, /*line=*/0, /*column=*/0);
}

FileOfDiagnostics::FileOfDiagnostics(MLIRContext* context, StringRef file)
    : handler(context, [location = getLocation(context, file)](Diagnostic& diagnostic) {
        return moveTo(location, diagnostic);
      }) {}
