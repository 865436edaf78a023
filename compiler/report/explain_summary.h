// An explanation for people: by parameter and scope, layers together, the largest first.
#ifndef SGD_COMPILER_REPORT_EXPLAIN_SUMMARY_H
#define SGD_COMPILER_REPORT_EXPLAIN_SUMMARY_H

#include "compiler/report/explain.h"

namespace mlir::sgd {

/// Prints totals, the five groups of tensors that send most with cause, cost and what would change it, and the number
/// of the others; then what was decided about updates, memory and the like, alike decisions in one line.
void printSummary(const ExplanationReport& explanation, llvm::raw_ostream& os);

/// The same groups of tensors as data, all of them: [{"program", "op", "name": with `*` for numbers of layers, "names",
/// "tensors", "axes", "bytes", "seconds", "needed_bytes", "cause", "advice": empty where there is none, "locs",
/// "records": positions in the explanation}].
nlohmann::json summarize(const ExplanationReport& explanation);

}  // namespace mlir::sgd

#endif
