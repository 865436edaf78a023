// The settings become an attribute of each program; what came of them is read from another.
#include "compiler/recipe/compress.h"

#include "compiler/recipe/annotator.h"
#include "llvm/ADT/StringExtras.h"
#include "passes/compress/compression_decision.h"
#include "runtime/artifact/compression_state.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::applyCompress(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe) {
  if (recipe.compress.empty()) return success();
  MLIRContext* context = programs.front()->getContext();
  if (!getMesh(*programs.front()))
    return emitError(UnknownLoc::get(context)) << "field 'compress' names axes, but neither the recipe nor the model "
                                                  "has a mesh; add a field 'mesh', such as "
                                                  "{\"data\": 4}";
  NamedAttrList settings;
  for (const RecipeCompression& compression : recipe.compress) {
    if (failed(Annotator(*programs.front()).checkAxes(compression.axis, "compress"))) return failure();
    settings.set(compression.axis, compression.setting.toAttr(context));
  }
  for (OwningOpRef<ModuleOp>& program : programs) (*program)->setAttr(kCompressAttr, settings.getDictionary(context));
  return success();
}

static LogicalResult checkAxis(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, StringRef axis) {
  std::string why = "no program adds up values over it";
  for (OwningOpRef<ModuleOp>& program : programs)
    for (auto function : program->getOps<func::FuncOp>())
      for (const CompressionDecision& decision : getCompressions(function)) {
        if (!llvm::is_contained(decision.axes, axis)) continue;
        if (!decision.kind.empty()) return success();
        why = (decision.source.empty() ? "" : decision.source + ": ") + decision.getText();
      }
  return emitError(UnknownLoc::get(programs.front()->getContext()))
         << "field 'compress." << axis << "' compresses nothing: " << why
         << "; expected a gradient that is added up over the axis, or no such field";
}

LogicalResult mlir::sgd::checkCompressed(llvm::MutableArrayRef<OwningOpRef<ModuleOp>> programs, const Recipe& recipe) {
  for (const RecipeCompression& compression : recipe.compress)
    if (*getMesh(*programs.front()).getMesh().getAxisSize(compression.axis) > 1 &&
        failed(checkAxis(programs, compression.axis)))
      return failure();
  return success();
}

LogicalResult mlir::sgd::checkStateNames(ModuleOp program) {
  for (auto function : program.getOps<func::FuncOp>())
    for (BlockArgument argument : function.getArguments()) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
      if (name && ::sgd::artifact::IsCompressionState(name.getValue()))
        return emitError(argument.getLoc())
               << "argument " << argument.getArgNumber() << " is named '" << name.getValue()
               << "'; expected such a name for the state of compressed reductions alone, which starts from zeros; "
                  "rename "
                  "the argument";
    }
  return success();
}
