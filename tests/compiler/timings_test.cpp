// Times by stage: each second is counted once, stages keep their order, the table is aligned.
#include "compiler/timings.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

std::string print(const Timings& timings) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  timings.print(stream);
  return text;
}

TEST(Timings, TableIsAligned) {
  Timings timings;
  timings.add("start-up", 0.025);
  timings.add("parse", 0.05);
  timings.add("start-up", 0.025);
  EXPECT_EQ(print(timings),
            "start-up      50.00 ms   50.0 %\n"
            "parse         50.00 ms   50.0 %\n"
            "total        100.00 ms  100.0 %\n");
}

TEST(Timings, ScopesInsideCountOnce) {
  Timings timings;
  auto start = std::chrono::steady_clock::now();
  {
    Timings::Scope outer(&timings, "outer");
    Timings::Scope inner(&timings, "inner");
    // From here on: what passes between `start` and the scopes is not theirs.
    auto inside = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - inside < std::chrono::milliseconds(5)) {
    }
  }
  double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(timings.getTotal(), 0.005);
  EXPECT_LE(timings.getTotal(), elapsed);
}

TEST(Timings, NothingIsCountedWithoutATable) { Timings::Scope scope(nullptr, "nothing"); }

TEST(Timings, EmptyTableHasATotal) { EXPECT_EQ(print(Timings()), "total       0.00 ms    0.0 %\n"); }

}  // namespace
}  // namespace mlir::sgd
