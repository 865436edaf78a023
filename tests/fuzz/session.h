// A run of the fuzzer: many programs over several processes, failures shrunk and saved.
#ifndef SGD_TESTS_FUZZ_SESSION_H
#define SGD_TESTS_FUZZ_SESSION_H

#include <chrono>
#include <memory>
#include <set>

#include "tests/fuzz/isolation.h"
#include "tests/fuzz/shrink.h"
#include "tests/fuzz/statistics.h"

namespace mlir::sgd::fuzz {

struct SessionOptions {
  uint64_t seed = 1;
  std::vector<size_t> families;
  size_t first = 0;         // the first case
  size_t cases = SIZE_MAX;  // in all
  double seconds = 1e9;     // whichever comes first
  unsigned jobs = 1;
  std::string folder;       // where failures are saved
  std::string saveRefused;  // of the message; empty: none are saved
  double shrinkSeconds = 60;
  size_t maxFailures = 20;  // shrunk and saved; the run ends with the last of them
};

/// Case i of a session is of family `families[i % n]`, with decisions that depend on the seed, the family and i alone.
class Session {
 public:
  explicit Session(const SessionOptions& options) : options(options) {}

  /// Prints failures as it meets them.
  void run();
  const Statistics& getStatistics() const { return statistics; }

 private:
  /// A process that does cases first, first + jobs, ... and reports each.
  struct Lane {
    std::unique_ptr<Worker> worker;
    size_t next;  // the case it is at
    std::chrono::steady_clock::time_point since;
  };

  size_t familyOf(size_t index) const { return options.families[index % options.families.size()]; }
  Choices choicesOf(size_t index) const;
  bool isOver() const;
  /// The case behind the last one.
  size_t getEnd() const { return options.cases > SIZE_MAX - options.first ? SIZE_MAX : options.first + options.cases; }
  void start(Lane& lane);
  void poll();
  void read(Lane& lane);
  void finishCase(Lane& lane, const Outcome& outcome);
  void handleFailure(size_t index, const Outcome& outcome);
  void save(size_t index, const Failure& failure);

  SessionOptions options;
  Statistics statistics;
  std::vector<Lane> lanes;
  std::set<std::string> reported;  // messages, so that one fault is shrunk once
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

}  // namespace mlir::sgd::fuzz

#endif
