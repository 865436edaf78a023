// Breadth first, to a bound: the nearest ops decide.
#include "passes/time/rings/near_compute.h"

#include "dialects/spmd/collective.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr size_t kMostOps = 48;

static bool isCompute(Operation* op) {
  return isa<DotGeneralOp, ConvolutionOp, spmd::CollectiveOpInterface>(op) || op->getNumRegions() != 0;
}

/// Whether an op that computes is among those that `next` leads to from `start`.
template <typename Next>
static bool reachesCompute(Value start, Next next) {
  llvm::SetVector<Operation*> ops;
  next(start, ops);
  for (size_t i = 0; i < ops.size() && ops.size() <= kMostOps; ++i) {
    Operation* op = ops[i];
    if (isCompute(op)) return true;
    next(op, ops);
  }
  return false;
}

bool mlir::sgd::isComputedLate(Value value) {
  struct Backward {
    void operator()(Value value, llvm::SetVector<Operation*>& ops) const {
      if (Operation* op = value.getDefiningOp()) ops.insert(op);
    }
    void operator()(Operation* op, llvm::SetVector<Operation*>& ops) const {
      for (Value operand : op->getOperands()) (*this)(operand, ops);
    }
  };
  return reachesCompute(value, Backward());
}

bool mlir::sgd::isNeededSoon(Value value) {
  struct Forward {
    void operator()(Value value, llvm::SetVector<Operation*>& ops) const {
      ops.insert(value.user_begin(), value.user_end());
    }
    void operator()(Operation* op, llvm::SetVector<Operation*>& ops) const {
      for (Value result : op->getResults()) (*this)(result, ops);
    }
  };
  return reachesCompute(value, Forward());
}
