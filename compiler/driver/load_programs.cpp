#include "compiler/driver/load_programs.h"

#include "compiler/driver/programs.h"
#include "dialects/sgd/programs.h"

using namespace mlir;
using namespace mlir::sgd;

OwningOpRef<ModuleOp> mlir::sgd::importPrograms(MLIRContext& context, ArrayRef<ProgramSource> sources,
                                                const Requested& requested, DiagnosticPrinter& printer,
                                                Timings* timings) {
  context.loadDialect<SgdDialect>();  // of the request; no text has been parsed yet
  OwningOpRef<ModuleOp> compilation = ModuleOp::create(UnknownLoc::get(&context));
  compilation.get()->setAttr(kRequestAttr, requested.request.toAttr(&context));
  bool isByStages = false;
  for (const ProgramSource& source : sources) {
    printer.setFileName(source.fileName);
    ImportOptions options = getImportOptions(requested.options);
    for (const MeshAxisSize& binding : requested.request.options.bindings)
      options.bindings.push_back({binding.name, binding.size});
    OwningOpRef<ModuleOp> program = loadProgram(&context, source, options, timings);
    if (!program) return nullptr;
    if (compilation->getBody()->empty()) isByStages = hasStages(*program);
    if (hasStages(*program) != isByStages) {
      emitError(UnknownLoc::get(&context))
          << "program '" << source.name << "' and program '" << sources.front().name
          << "' are not both written by stages; expected all programs of an artifact at one level; write the "
             "stages of all";
      return nullptr;
    }
    program->setSymName(source.name);  // texts may have one module name for all
    compilation->push_back(program.release());
  }
  return compilation;
}

LogicalResult mlir::sgd::checkStages(ModuleOp compilation, const Requested& requested, DiagnosticPrinter& printer) {
  const PlanOptions& options = requested.options;
  if (!hasStages(getPrograms(compilation).front())) return success();
  if (!requested.recipe && options.mesh.empty() && !options.sequential) return success();
  const RequestedProgram& program = requested.request.programs.front();
  printer.setFileName(program.file);
  return emitError(UnknownLoc::get(compilation.getContext()))
         << "program '" << program.name
         << "' is written by stages for its mesh; expected no --recipe, --mesh and "
            "--micro, which are for whole programs; leave them out";
}
