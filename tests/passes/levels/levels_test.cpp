// The table of levels has every op of this project's dialects, and names ops and passes that there are.
#include "passes/levels/levels.h"

#include "compiler/driver/registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassRegistry.h"
#include "targets/cpu/libraries/library_model.h"

namespace mlir::sgd {
namespace {

class Levels : public testing::Test {
 protected:
  Levels() {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};

TEST_F(Levels, EveryOpHasARule) {
  unsigned count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!llvm::is_contained({"sgd", "spmd", "fusion", "plan"}, name.getDialectNamespace())) continue;
    EXPECT_NE(findLevelRule(name), nullptr) << name.getStringRef().str();
    ++count;
  }
  EXPECT_GT(count, 60u);
}

TEST_F(Levels, EveryRuleIsOfAnOpOrDialect) {
  std::set<std::string> seen;
  for (const LevelRule& rule : getLevelRules()) {
    StringRef name = rule.name;
    bool isKnown = name.contains('.') ? RegisteredOperationName::lookup(name, &context).has_value()
                                      : context.getLoadedDialect(name) != nullptr;
    EXPECT_TRUE(isKnown) << name.str();
    EXPECT_TRUE(seen.insert(name.str()).second) << name.str() << " stands twice";
    EXPECT_LE(rule.first, rule.last) << name.str();
  }
}

TEST_F(Levels, EveryOpThatGoesNamesThePass) {
  static cpu::CpuLibraries libraries;
  registerPasses(libraries);
  for (const LevelRule& rule : getLevelRules()) {
    EXPECT_EQ(rule.removedBy.empty(), rule.last == Level::Plan) << rule.name.str();
    if (!rule.removedBy.empty()) {
      EXPECT_NE(PassInfo::lookup(rule.removedBy), nullptr) << rule.removedBy.str();
    }
  }
}

TEST_F(Levels, RulesOfOpsComeBeforeThoseOfDialects) {
  auto find = [&](StringRef name) { return findLevelRule(OperationName(name, &context)); };
  EXPECT_EQ(find("arith.constant")->last, Level::Kernels);
  EXPECT_EQ(find("arith.addf")->last, Level::Spmd);
  EXPECT_EQ(find("scf.for"), nullptr);
  // Of the graph: scalars may be compared in a comparator from the start, tensors in kernels alone.
  EXPECT_EQ(find("sgd.divsi")->firstInKernel, Level::Graph);
  EXPECT_EQ(find("sgd.gather")->firstInKernel, Level::Kernels);
  EXPECT_EQ(find("sgd.gather")->name, "sgd");
}

}  // namespace
}  // namespace mlir::sgd
