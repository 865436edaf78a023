// JAX prints the body of a scan as a call: what happens to a carried value is looked for on both sides of calls.
#include "frontends/stablehlo/accumulating_loop.h"

#include "frontends/stablehlo/input/elementwise_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

enum class Update { Sum, Slice, Other };

class CarriedUpdates {
 public:
  explicit CarriedUpdates(const DenseMap<StringAttr, func::FuncOp>& functions) : functions(functions) {}

  /// How `after` updates `before`, an argument of the same block that has no other use. Follows at most `calls` nested
  /// calls: functions may call themselves, which is refused later.
  Update classify(Value before, Value after, unsigned calls = 8) {
    if (!before.hasOneUse() || calls == 0) return Update::Other;
    Operation* op = after.getDefiningOp();
    if (!op || *before.user_begin() != op) return Update::Other;
    if (isa<stablehlo::AddOp>(op)) return Update::Sum;
    if (isa<stablehlo::DynamicUpdateSliceOp>(op)) return op->getOperand(0) == before ? Update::Slice : Update::Other;
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? functions.lookup(call.getCalleeAttr().getAttr()) : func::FuncOp();
    if (!callee || callee.empty()) return Update::Other;
    unsigned argument = before.use_begin()->getOperandNumber(), result = cast<OpResult>(after).getResultNumber();
    return classify(callee.getArgument(argument), callee.front().getTerminator()->getOperand(result), calls - 1);
  }

 private:
  const DenseMap<StringAttr, func::FuncOp>& functions;
};

int64_t getBits(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat()) return 0;
  return tensor.getNumElements() * tensor.getElementTypeBitWidth();
}

}  // namespace

bool mlir::sgd::isAccumulating(stablehlo::WhileOp loop, const DenseMap<StringAttr, func::FuncOp>& functions) {
  CarriedUpdates updates(functions);
  Block& body = loop.getBody().front();
  int64_t summed = 0, stacked = 0;
  for (auto [before, after] : llvm::zip(body.getArguments(), body.getTerminator()->getOperands())) {
    if (before == after) continue;
    Update update = updates.classify(before, after);
    // Counters are accumulators too.
    auto tensor = dyn_cast<RankedTensorType>(before.getType());
    bool isNumber = tensor && tensor.getRank() == 0;
    if (update == Update::Sum && !isNumber) summed += getBits(before.getType());
    if (update == Update::Slice) stacked += getBits(before.getType());
  }
  return summed > stacked;
}
