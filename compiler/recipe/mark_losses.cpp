// The pass sgd-mark-losses: names of results against the one that is asked for, by their normalized paths.
#include "compiler/recipe/glob.h"
#include "compiler/recipe/passes.h"
#include "compiler/recipe/requested.h"
#include "dialects/sgd/programs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_names.h"
#include "passes/graph/carry/carry_attrs.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_MARKLOSSESPASS
#include "compiler/recipe/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

static std::optional<unsigned> findByName(func::FuncOp function, StringRef name) {
  std::optional<unsigned> found;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    std::string own = getOutputName(function, result);
    if (own == name) return result;
    if (!found && TensorGlob::normalizeName(own) == TensorGlob::normalizeName(name)) found = result;
  }
  return found;
}

static LogicalResult checkLoss(func::FuncOp function, unsigned result, StringRef source) {
  std::string name = getOutputName(function, result);
  auto error = [&] { return emitError(UnknownLoc::get(function.getContext())) << source << ": " << name; };
  if (!isLossType(function.getResultTypes()[result]))
    return error() << " is " << function.getResultTypes()[result]
                   << "; expected a floating-point scalar; name another result";
  if (getCarriedArgument(function, result))
    return error() << " is carried to the next step; expected a result that is not; name another result";
  return success();
}

static LogicalResult refuseUnknown(ArrayRef<func::FuncOp> functions, StringRef name, StringRef source) {
  SmallVector<std::string> names;
  for (func::FuncOp function : functions)
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (!getCarriedArgument(function, result)) names.push_back(getOutputName(function, result));
  StringRef nearest = findNearestName(name, SmallVector<StringRef>(names.begin(), names.end()));
  InFlightDiagnostic error = emitError(UnknownLoc::get(func::FuncOp(functions.front()).getContext()))
                             << source << ": no result is called '" << name << "'; expected the name of a result";
  if (!nearest.empty()) return error << "; did you mean " << nearest << "?";
  constexpr size_t kListed = 4;
  if (!names.empty()) error << "; there are " << llvm::join(ArrayRef(names).take_front(kListed), ", ");
  if (names.size() > kListed) error << " and others";
  return error;
}

/// The name wins over what the program says.
static void markLoss(func::FuncOp function, unsigned result) {
  if (std::optional<unsigned> other = findResult(function, Role::Loss))
    function.removeResultAttr(*other, StringAttr::get(function.getContext(), kRoleAttr));
  setResultRole(function, result, Role::Loss);
}

/// `source` is the flag or the field that names the loss.
static LogicalResult markLosses(ArrayRef<func::FuncOp> functions, StringRef name, StringRef source) {
  bool isKnown = false;
  for (func::FuncOp function : functions) {
    std::optional<unsigned> loss = findByName(function, name);
    if (!loss) continue;
    if (failed(checkLoss(function, *loss, source))) return failure();
    markLoss(function, *loss);
    isKnown = true;
  }
  return isKnown ? success() : refuseUnknown(functions, name, source);
}

namespace {
struct MarkLossesPass : mlir::sgd::impl::MarkLossesPassBase<MarkLossesPass> {
  using MarkLossesPassBase::MarkLossesPassBase;

  void runOnOperation() override {
    FailureOr<Requested> requested = Requested::read(getOperation());
    if (failed(requested)) return signalPassFailure();
    const std::string& flag = requested->options.loss;
    bool isOfRecipe = requested->recipe && flag.empty();
    StringRef name = isOfRecipe ? requested->recipe->loss : flag;
    if (name.empty()) return;
    SmallVector<ModuleOp> programs = getPrograms(getOperation());
    FileOfDiagnostics file(&getContext(), isOfRecipe ? requested->recipe->fileName : requested->getFile(0));
    if (getActiveStageAxis(getMesh(programs.front()))) {
      emitError(UnknownLoc::get(&getContext()))
          << "--loss names a result, but the programs are written by stages; expected whole programs; leave it out";
      return signalPassFailure();
    }
    if (failed(markLosses(getProgramFunctions(programs), name, isOfRecipe ? "field 'loss'" : "--loss")))
      signalPassFailure();
  }
};
}  // namespace
