// Names decide among results that dataflow cannot tell apart, as a norm of gradients and the loss.
#include "passes/carry/loss.h"

#include "dialects/sgd/sgd_dialect.h"
#include "passes/carry/carry_attrs.h"
#include "passes/carry/links.h"
#include "runtime/artifact/tensor_path.h"

using namespace mlir;
using namespace mlir::sgd;

static bool isFloatTensor(Type type, bool isScalar) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<FloatType>(tensor.getElementType()) && (tensor.getRank() == 0) == isScalar;
}

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

bool mlir::sgd::isFloatScalar(Type type) { return isFloatTensor(type, /*isScalar=*/true); }

void mlir::sgd::markLoss(func::FuncOp function, unsigned result) {
  for (unsigned other = 0; other < function.getNumResults(); ++other)
    function.removeResultAttr(other, StringAttr::get(function.getContext(), kLossAttr));
  function.setResultAttr(result, kLossAttr, UnitAttr::get(function.getContext()));
}

std::optional<unsigned> mlir::sgd::findLoss(func::FuncOp function) {
  SmallVector<unsigned> scalars, state;
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result)) {
      if (isFloatTensor(function.getArgumentTypes()[*argument], /*isScalar=*/false)) state.push_back(*argument);
    } else if (isFloatScalar(function.getResultTypes()[result])) {
      if (function.getResultAttr(result, kLossAttr)) return result;
      scalars.push_back(result);
    }
  if (!state.empty() && scalars.size() > 1) {
    Links links(function);
    llvm::erase_if(scalars, [&](unsigned result) {
      return llvm::none_of(state, [&](unsigned argument) { return links.depends(result, argument); });
    });
  }
  if (scalars.empty()) return std::nullopt;
  return *llvm::min_element(scalars, [&](unsigned a, unsigned b) {
    return std::pair(getNameRank(function, a), a) < std::pair(getNameRank(function, b), b);
  });
}
