// Every op of the dialects that are priced has a cost model, or is listed here as one that costs nothing by itself.
#include <set>
#include <string>

#include "compiler/driver/registration.h"
#include "dialects/cost/cost_op.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace {

std::set<std::string> findFreeOps(StringRef dialect) {
  DialectRegistry registry;
  mlir::sgd::registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::set<std::string> free;
  unsigned numOps = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != dialect) continue;
    ++numOps;
    if (!name.hasInterface<mlir::sgd::CostOpInterface>()) free.insert(name.stripDialect().str());
  }
  EXPECT_GT(numOps, 0u);
  return free;
}

using Names = std::set<std::string>;

TEST(CostModels, OfArith) { EXPECT_EQ(findFreeOps("arith"), Names()); }

TEST(CostModels, OfMath) { EXPECT_EQ(findFreeOps("math"), Names()); }

// Loops and branches take the time of what is in them. Compressed reductions, manual regions and permutations of ranks
// are others before anything is timed. A rank holds a summand without work. How long a function of the process takes is
// not known.
TEST(CostModels, OfTheGraph) {
  EXPECT_EQ(findFreeOps("sgd"), Names({"case", "compressed_reduction", "host_call", "manual_computation", "mesh",
                                       "permute_ranks", "summands", "while", "yield"}));
}

TEST(CostModels, OfCollectives) { EXPECT_EQ(findFreeOps("spmd"), Names({"partition_id"})); }

TEST(CostModels, OfKernels) { EXPECT_EQ(findFreeOps("fusion"), Names({"tile_store", "yield"})); }

// The ends of what is in flight are waits; see OpTimes.
TEST(CostModels, OfThePlan) {
  EXPECT_EQ(findFreeOps("plan"), Names({"alloc", "case", "constant", "done", "host_copied", "kernel", "loop", "view"}));
}

}  // namespace
