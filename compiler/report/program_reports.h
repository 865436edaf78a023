// The programs of an artifact, and the parameters of the reported one.
#ifndef SGD_COMPILER_REPORT_PROGRAM_REPORTS_H
#define SGD_COMPILER_REPORT_PROGRAM_REPORTS_H

#include "compiler/report/report.h"
#include "runtime/artifact/program_generated.h"

namespace mlir::sgd {

/// Counts of all programs of a plan, in their order.
std::vector<ProgramReport> countPrograms(ModuleOp plan);

/// Adds programs and parameters to the report of an exported plan.
void describePrograms(ModuleOp plan, const ::sgd::artifact::ArtifactT& artifact, Report& report);

/// Lines of Report::print, where there is more than one program, and where it has parameters.
void printPrograms(const Report& report, llvm::raw_ostream& os);
void printParameters(const Report& report, llvm::raw_ostream& os);

}  // namespace mlir::sgd

#endif
