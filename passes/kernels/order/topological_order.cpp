// A linked list whose labels leave room between neighbours; all are made anew when a gap is used up.
#include "passes/kernels/order/topological_order.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;

TopologicalOrder::TopologicalOrder(unsigned size) : labels(size), next(size), previous(size) {
  for (unsigned node = 0; node < size; ++node) {
    next[node] = node + 1 < size ? node + 1 : kEnd;
    previous[node] = node == 0 ? kEnd : node - 1;
  }
  if (size != 0) first = 0;
  relabel();
}

void TopologicalOrder::relabel() {
  uint64_t gap = labels.empty() ? 0 : ~uint64_t(0) / (labels.size() + 1), label = 0;
  for (unsigned node = first; node != kEnd; node = next[node]) labels[node] = label += gap;
}

void TopologicalOrder::moveBehind(llvm::MutableArrayRef<unsigned> nodes, unsigned goal) {
  llvm::sort(nodes, [&](unsigned a, unsigned b) { return isBefore(a, b); });
  for (unsigned node : nodes) {
    (previous[node] == kEnd ? first : next[previous[node]]) = next[node];
    if (next[node] != kEnd) previous[next[node]] = previous[node];
  }
  unsigned after = next[goal], last = goal;
  uint64_t end = after == kEnd ? ~uint64_t(0) : labels[after];
  uint64_t gap = (end - labels[goal]) / (nodes.size() + 1);
  for (unsigned node : nodes) {
    labels[node] = labels[last] + gap;
    previous[node] = last;
    next[last] = node;
    last = node;
  }
  next[last] = after;
  if (after != kEnd) previous[after] = last;
  if (gap == 0) relabel();
}
