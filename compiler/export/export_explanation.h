// Explanations of a collective as the artifact's tables.
#ifndef SGD_COMPILER_EXPORT_EXPLANATION_H
#define SGD_COMPILER_EXPORT_EXPLANATION_H

#include <vector>

#include "compiler/export/export_types.h"
#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/decision.h"
#include "runtime/artifact/writer.h"

namespace mlir::sgd {

/// Exports a decision about a collective: its movement, or the op that hides it. Without a location, which is the
/// instruction's.
artifact::ExplainT exportExplanation(const Decision& decision);

/// One for each movement that `collective` is for, then what hides it.
std::vector<artifact::ExplainT> exportExplanations(plan::CollectiveOp collective);

}  // namespace mlir::sgd

#endif
