// An explanation for people: by parameter and scope, layers together, the largest first.
#ifndef SGD_COMPILER_REPORT_EXPLAIN_SUMMARY_H
#define SGD_COMPILER_REPORT_EXPLAIN_SUMMARY_H

#include "compiler/report/explain.h"

namespace mlir::sgd {

/// Prints totals, the five groups of tensors that send most with cause, cost and what would change it, and the number
/// of the others; then what was decided about updates, memory and the like, alike decisions in one line.
void printSummary(const ExplanationReport& explanation, llvm::raw_ostream& os);

}  // namespace mlir::sgd

#endif
