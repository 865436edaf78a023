// Names decide among the results whose gradient may update the state, then dataflow alone.
#include "passes/graph/carry/loss.h"

#include "dialects/sgd/roles.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/trained_scalar.h"
#include "runtime/artifact/tensor_path.h"

using namespace mlir;
using namespace mlir::sgd;

/// How well the name of a result says that it is the loss; less is better.
static unsigned getNameRank(func::FuncOp function, unsigned result) {
  auto name = function.getResultAttrOfType<StringAttr>(result, kNameAttr);
  if (!name) return 3;
  ::sgd::artifact::TensorPath path = ::sgd::artifact::ResultPath(std::string_view(name.getValue()));
  StringRef last = path.empty() ? name.getValue() : StringRef(path.back().text);
  if (last == "loss") return 0;
  if (last.starts_with("loss")) return 1;
  return last.contains("loss") ? 2 : 3;
}

std::optional<unsigned> mlir::sgd::inferLoss(func::FuncOp function) {
  SmallVector<unsigned> scalars;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    bool mayBeLoss = isLossType(function.getResultTypes()[result]) && !getCarriedArgument(function, result) &&
                     !getResultRole(function, result);
    if (mayBeLoss) scalars.push_back(result);
  }
  if (scalars.size() < 2) return scalars.empty() ? std::nullopt : std::optional(scalars.front());
  TrainedScalars trained(function);
  scalars = trained.select(scalars);
  // A name that only has the word in it may be that of one term among several.
  auto rank = [&](unsigned result) { return std::min(getNameRank(function, result), 2u); };
  return *llvm::min_element(scalars, [&](unsigned a, unsigned b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (trained.isLikelier(a, b) || trained.isLikelier(b, a)) return trained.isLikelier(a, b);
    return std::pair(getNameRank(function, a), a) < std::pair(getNameRank(function, b), b);
  });
}
