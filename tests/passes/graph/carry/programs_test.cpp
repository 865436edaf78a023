// Steps as JAX prints them: which result is which argument of the next step, how that was decided, and what stays open.
#include <gtest/gtest.h>

#include "compiler/driver/registration.h"
#include "frontends/frontends.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/passes.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct Program {
  const char* name;
  // "RESULT:ARGUMENT" by names, with "~" by position and dataflow, with "=" because it is the argument; "?ARGUMENT" is
  // undecided.
  const char* carry;
};

// make_programs.py says what the programs compute.
const Program kPrograms[] = {
    {"accumulation", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4"},
    {"adam", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4 ~5:5 ~6:6"},
    {"adam_nameless", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4 ~5:5 ~6:6"},
    {"amsgrad", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4 ~5:5 ~6:6 ~7:7"},
    {"average", "~0:0 ~1:1 ~2:2 ~3:3"},
    {"batch_norm", "1:0 2:1 3:2 4:3"},
    {"cache", "0:0 ~1:1"},
    {"constant_rate", "~0:0"},
    {"decayed_rate", "~0:0 ~1:1"},
    {"equinox_momentum", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4 ~5:5 ~6:6 ~7:7"},
    {"flax_train_state", "0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7"},
    {"flax_unused_step", "1:0 2:1 3:2 4:3 5:4 6:5 7:6"},
    {"gradients_beside", "~3:0 ~4:1"},
    {"gradients_only", "?0 ?1"},
    {"hidden_state", "~0:0 ?1"},
    {"leapfrog", "~0:0 ~1:1"},
    {"list_of_layers", "~0:0 ~1:1"},
    {"loss_scale", "~0:0 ~1:1 ~2:2"},
    {"masters", "0:0 1:1 2:2 3:3"},
    {"momentum", "~1:0 ~2:1 ~3:2 ~4:3"},
    {"momentum_bare", "~0:0 ~1:1"},
    {"momentum_first", "?0 ?1"},
    {"momentum_first_nameless", "?0 ?1"},
    {"momentum_in_dictionary", "1:2 2:3 3:0 4:1"},
    {"momentum_nameless", "~0:0 ~1:1"},
    {"optax_adafactor", "1:0 2:1 3:2 8:3 9:4"},
    {"optax_adamw", "1:0 2:1 3:2 4:3 5:4 6:5 7:6"},
    {"optax_hyperparameters", "1:0 2:1 3:2 =4:3 =5:4 =6:5 =7:6 9:7 10:8 11:9 12:10 13:11 14:12"},
    {"optax_multi_steps", "1:0 2:1 3:2 4:3 5:4 6:5 7:6 8:7 9:8 10:9 11:10"},
    {"optax_schedule", "1:0 2:1 3:2 4:3 5:4"},
    {"penalised_gradients_only", "?0 ?1"},
    {"pmap_momentum", "~0:0 ~1:1 ~2:2 ~3:3"},
    {"positional", "~0:0 ~1:1 ~2:2 ~3:3"},
    {"predictions", "~0:0"},
    {"predictions_named_as_labels", "1:0 ?2"},
    {"random_key", "~0:0 ~1:1"},
    {"sgd", "0:0 1:1"},
    {"step_before", "?0 ?1"},
    {"step_before_by_name", "0:1 2:0"},
    {"steps_in_a_scan", "0:0 1:1"},
    {"target_network", "~0:0 ~1:1 ~2:2 ~3:3 ~4:4"},
    {"two_keys", "~0:1 ~1:2 ~2:3 ~3:0"},
    {"typed_key", "~0:0 ~1:1"},
    {"unchanged_rate", "~0:0 =2:1"},
    {"weight_decay_as_factor", "0:0 1:1"},
    {"weight_decay_in_gradient", "~0:0 ~1:1 ~2:2 ~3:3"},
};

std::string describe(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    std::optional<unsigned> argument = getCarriedArgument(function, result);
    if (!argument) continue;
    StringRef basis = function.getResultAttrOfType<StringAttr>(result, kCarryBasisAttr).getValue();
    stream << (text.empty() ? "" : " ")
           << (basis == "names"      ? ""
               : basis == "dataflow" ? "~"
                                     : "=")
           << result << ":" << *argument;
  }
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (function.getArgAttr(argument, kCarryDoubtAttr)) stream << (text.empty() ? "" : " ") << "?" << argument;
  return text;
}

std::string decide(const std::string& path) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return "cannot be read";
  OwningOpRef<ModuleOp> module = importProgram(&context, **file, ImportOptions());
  if (!module) return "cannot be imported";
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createDecideCarryPass());
  if (failed(passes.run(*module))) return "fails";
  return describe(module->lookupSymbol<func::FuncOp>("main"));
}

TEST(CarryOfPrograms, IsWhatTheyMean) {
  for (const Program& program : kPrograms)
    EXPECT_EQ(decide(std::string(SGD_CARRY_PROGRAMS) + "/" + program.name + ".mlir"), program.carry) << program.name;
}

TEST(CarryOfPrograms, AreAllInTheTable) {
  std::set<std::string> known, found;
  for (const Program& program : kPrograms) known.insert(program.name);
  std::error_code error;
  for (llvm::sys::fs::directory_iterator file(SGD_CARRY_PROGRAMS, error), end; file != end && !error;
       file.increment(error))
    found.insert(llvm::sys::path::stem(file->path()).str());
  EXPECT_FALSE(error);
  EXPECT_EQ(known, found);
}

}  // namespace
