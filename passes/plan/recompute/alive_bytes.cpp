// Prefix sums over the order.
#include "passes/plan/recompute/alive_bytes.h"

#include <algorithm>

using namespace mlir::sgd::remat;

void AliveBytes::update(llvm::ArrayRef<unsigned> order, int first) {
  int64_t now = everywhere;
  if (first > 0) now = before[first - 1] + executions[order[first - 1]].begun - executions[order[first - 1]].ended;
  alive.resize(order.size());
  before.resize(order.size());
  for (size_t position = first; position < order.size(); ++position) {
    const Bytes& bytes = executions[order[position]];
    before[position] = now;
    alive[position] = now + bytes.begun + bytes.own;
    now += bytes.begun - bytes.ended;
  }
  peak = *std::max_element(alive.begin(), alive.end());
}
