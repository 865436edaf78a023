// The passes of "internal test-case reduction" (MacIver and Donaldson, Test-Case Reduction via Test-Case Generation,
// ECOOP 2020): delete blocks of decisions, set blocks to zero, lower single ones.
#include "tests/fuzz/shrink.h"

#include <chrono>
#include <set>

using namespace mlir::sgd::fuzz;

namespace {

class Shrinker {
 public:
  Shrinker(size_t family, Failure failure, double seconds)
      : family(family),
        best(std::move(failure)),
        deadline(std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000))) {}

  Failure run() {
    bool hasImproved = true;
    while (hasImproved && !isLate()) {
      hasImproved = false;
      for (size_t size : {16, 8, 4, 2, 1}) hasImproved |= eachBlock(size, /*isDeleted=*/true);
      for (size_t size : {8, 3, 1}) hasImproved |= eachBlock(size, /*isDeleted=*/false);
      hasImproved |= lowerEach();
    }
    return std::move(best);
  }

 private:
  bool isLate() const { return std::chrono::steady_clock::now() > deadline; }

  bool eachBlock(size_t size, bool isDeleted) {
    bool hasImproved = false;
    // From the end: what comes later depends on what comes first.
    for (size_t end = best.choices.size(); end >= size && !isLate(); --end) {
      if (end > best.choices.size()) continue;
      std::vector<uint64_t> candidate = best.choices;
      auto from = candidate.begin() + static_cast<long>(end - size), to = candidate.begin() + static_cast<long>(end);
      if (isDeleted)
        candidate.erase(from, to);
      else
        std::fill(from, to, 0);
      hasImproved |= attempt(std::move(candidate));
    }
    return hasImproved;
  }

  bool lowerEach() {
    bool hasImproved = false;
    for (size_t i = 0; i < best.choices.size(); ++i) {
      for (uint64_t step = 1; i < best.choices.size() && step <= best.choices[i] && !isLate(); step *= 2) {
        std::vector<uint64_t> candidate = best.choices;
        candidate[i] -= step;
        if (!attempt(std::move(candidate))) break;
        hasImproved = true;
      }
    }
    return hasImproved;
  }

  bool attempt(std::vector<uint64_t> candidate) {
    if (!seen.insert(candidate).second) return false;
    Choices choices(std::move(candidate));
    std::string text = generate(family, choices).text;
    choices.trim();
    bool isSimpler = std::make_pair(choices.getTaken().size(), choices.getTaken()) <
                     std::make_pair(best.choices.size(), best.choices);
    if (!isSimpler) return false;
    Outcome outcome = checkIsolated(text);
    if (outcome.kind != best.outcome.kind) return false;
    best = {choices.getTaken(), std::move(text), std::move(outcome)};
    return true;
  }

  size_t family;
  Failure best;
  std::chrono::steady_clock::time_point deadline;
  std::set<std::vector<uint64_t>> seen;
};

}  // namespace

Failure mlir::sgd::fuzz::shrink(size_t family, Failure failure, double seconds) {
  return Shrinker(family, std::move(failure), seconds).run();
}
