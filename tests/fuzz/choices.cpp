#include "tests/fuzz/choices.h"

#include <algorithm>
#include <numeric>

using namespace mlir::sgd::fuzz;

uint64_t Choices::below(uint64_t bound) {
  if (next == taken.size()) taken.push_back(isReplay ? 0 : random() % bound);
  taken[next] = std::min(taken[next], bound - 1);
  return taken[next++];
}

std::vector<int64_t> Choices::permutation(int64_t size) {
  std::vector<int64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i + 1 < size; ++i) std::swap(order[i], order[i + below(size - i)]);
  return order;
}

std::vector<int64_t> Choices::subset(int64_t size, int64_t count) {
  std::vector<int64_t> chosen = permutation(size);
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}
