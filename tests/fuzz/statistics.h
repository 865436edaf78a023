// Counts the programs of a run by family.
#ifndef SGD_TESTS_FUZZ_STATISTICS_H
#define SGD_TESTS_FUZZ_STATISTICS_H

#include <map>
#include <ostream>

#include "tests/fuzz/families.h"
#include "tests/fuzz/outcome.h"

namespace mlir::sgd::fuzz {

class Statistics {
 public:
  void add(size_t family, const Features& features, const Outcome& outcome);

  /// A table with a line per family, then the most frequent refusals, `numRefusals` of each family.
  void print(std::ostream& stream, size_t numRefusals) const;

  size_t getNumFailures() const;
  /// Of the family with the largest share of refused programs: that share, in percent.
  double getMostRefused() const;
  size_t getNumCases() const;

 private:
  struct Counts {
    size_t agrees = 0, refused = 0, failed = 0, uneven = 0, severalAxes = 0;
    std::map<std::string, size_t> refusals;  // by message without its numbers
  };
  std::map<size_t, Counts> families;
};

}  // namespace mlir::sgd::fuzz

#endif
