// The plan knows the messages of each micro-batch.
#include "passes/time/stages/split_sums.h"

#include "dialects/sgd/decision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// The terms of a sum that is reduced over parts.
struct Terms {
  SmallVector<Value> own;   ///< that the stage of the sum computes; sums of them are one term
  SmallVector<Value> sent;  ///< by another stage, in each part
};
}  // namespace

/// `value` as a sum that is read once, or null.
static Operation* getSum(Value value) {
  Operation* sum = value.getDefiningOp();
  return isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) && sum->hasOneUse() ? sum : nullptr;
}

/// Whether a stage that computes `sum` receives `term` in each part.
static bool isSent(Value term, Operation* sum, const PipelinePlan& plan) {
  if (!plan.getFlow().getLoops().varies(term)) return false;
  const StageSet stages = toStages(plan.getForm(), plan.getPlacement().get(sum)), receiving = plan.getReceiving(term);
  return llvm::any_of(stages.set_bits(),
                      [&](unsigned stage) { return receiving.test(stage) && plan.isReceivedInParts(term, stage); });
}

static Terms getTerms(Operation* sum, const PipelinePlan& plan) {
  Terms terms;
  for (Value term : sum->getOperands()) {
    if (isSent(term, sum, plan)) {
      terms.sent.push_back(term);
      continue;
    }
    Operation* inner = getSum(term);
    Terms more = inner ? getTerms(inner, plan) : Terms();
    if (more.sent.empty()) more.own = {term};
    llvm::append_range(terms.own, more.own);
    llvm::append_range(terms.sent, more.sent);
  }
  return terms;
}

/// `values`, of one type, added up by ops like `sum`.
static Value add(OpBuilder& builder, Operation* sum, ArrayRef<Value> values) {
  Value all = values.front();
  for (Value value : values.drop_front()) {
    Operation* next = builder.clone(*sum);
    next->setOperands({all, value});
    next->getResult(0).setType(all.getType());
    all = next->getResult(0);
  }
  return all;
}

/// The sum that `reduce` reduces, as it is or converted to a wider type; null where it is none.
static Operation* getReducedSum(spmd::AllReduceOp reduce) {
  Value value = reduce.getInputs()[0];
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  return getSum(wide && wide->hasOneUse() ? wide.getIn() : value);
}

static void split(spmd::AllReduceOp reduce, const Terms& terms) {
  OpBuilder builder(reduce);
  Value input = reduce.getInputs()[0];
  Operation* sum = getReducedSum(reduce);
  SmallVector<Value> values = terms.sent, reduced;
  if (!terms.own.empty()) values.push_back(add(builder, sum, terms.own));
  for (Value value : values) {
    if (value.getType() != input.getType())
      value = arith::ExtFOp::create(builder, reduce.getLoc(), input.getType(), value);
    auto own = spmd::AllReduceOp::create(builder, reduce.getLoc(), TypeRange{value.getType()}, value, reduce.getKind(),
                                         reduce.getAxes());
    mergeDecisions(own, {reduce});
    reduced.push_back(own.getResult(0));
  }
  reduce.getResult(0).replaceAllUsesWith(add(builder, sum, reduced));
  reduce.erase();
  // Sums in it are read by nothing else.
  if (input.getDefiningOp() != sum) input.getDefiningOp()->erase();
  SmallVector<Operation*> unused{sum};
  while (!unused.empty()) {
    Operation* op = unused.pop_back_val();
    if (!op->use_empty()) continue;
    for (Value operand : op->getOperands())
      if (Operation* inner = getSum(operand)) unused.push_back(inner);
    op->erase();
  }
}

bool mlir::sgd::splitSums(const PipelinePlan& plan) {
  SmallVector<std::pair<spmd::AllReduceOp, Terms>> found;
  for (Operation& op : plan.getFlow().getOps()) {
    auto reduce = dyn_cast<spmd::AllReduceOp>(op);
    if (!reduce || !plan.getFlow().getLoops().joinsCoordinates(&op)) continue;
    if (reduce.getInputs().size() != 1 || reduce.getKind() != ReduceKind::Add) continue;
    Operation* sum = getReducedSum(reduce);
    Terms terms = sum ? getTerms(sum, plan) : Terms();
    if (!terms.sent.empty()) found.push_back({reduce, std::move(terms)});
  }
  // From the last to the first: the result of one may be a term of a later one.
  for (const auto& [reduce, terms] : llvm::reverse(found)) split(reduce, terms);
  return !found.empty();
}
