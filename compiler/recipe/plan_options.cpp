// Field by field.
#include "compiler/recipe/plan_options.h"

using namespace mlir::sgd;

PlanOptions mlir::sgd::getPlanOptions(const CompileOptions& options, const Recipe* recipe) {
  PlanOptions plan;
  static_cast<CompileOptions&>(plan) = options;
  if (!recipe) return plan;
  plan.keepsLayerLoops = recipe->stages.has_value();
  plan.offload = recipe->offload;
  plan.bucketBytes = recipe->bucketBytes;
  plan.sumsInOwnType = recipe->sumsInOwnType;
  plan.exchangesInLoops = recipe->exchangesInLoops;
  if (recipe->attention) plan.attention = getName(*recipe->attention).str();
  plan.isCutByRecipe = !plan.sequential && recipe->sequential;
  if (plan.isCutByRecipe) plan.sequential = recipe->sequential;
  plan.isLimitedByRecipe = !plan.memoryLimit && recipe->memoryLimit;
  if (plan.isLimitedByRecipe) plan.memoryLimit = recipe->memoryLimit;
  return plan;
}
