// The loss of steps that return several scalars.
#include <gtest/gtest.h>

#include "compiler/driver/registration.h"
#include "frontends/frontends.h"
#include "llvm/Support/MemoryBuffer.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/carry/loss.h"
#include "passes/graph/carry/passes.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct StepWithLoss {
  const char* name;
  int loss;  // the number of the result, counted from the last one
};

// make_programs.py says what the programs compute.
const StepWithLoss kSteps[] = {
    {"accumulated", 0}, {"clipped", 0},         {"metrics", 0},        {"named_total", 1},    {"norm_before", 0},
    {"normalized", 0},  {"norms_of_layers", 0}, {"orthogonalized", 0}, {"penalty", 0},        {"scanned_layers", 0},
    {"sizes", 0},       {"steps_of_a_scan", 0}, {"terms", 0},          {"untrained_term", 0},
};

int getLoss(const std::string& path) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return -1;
  OwningOpRef<ModuleOp> module = importProgram(&context, **file, ImportOptions());
  if (!module) return -1;
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createDecideCarryPass());
  if (failed(passes.run(*module))) return -2;
  auto function = module->lookupSymbol<func::FuncOp>("main");
  std::optional<unsigned> loss = inferLoss(function);
  return loss ? static_cast<int>(function.getNumResults() - 1 - *loss) : -3;
}

TEST(LossOfPrograms, IsTheScalarWhoseGradientUpdatesTheState) {
  for (const StepWithLoss& program : kSteps)
    EXPECT_EQ(getLoss(std::string(SGD_CARRY_PROGRAMS) + "/../losses/" + program.name + ".mlir"), program.loss)
        << program.name;
}

}  // namespace
