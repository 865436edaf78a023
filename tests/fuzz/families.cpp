// The table of families, and how many ops a program has.
#include "tests/fuzz/families.h"

#include "tests/fuzz/damage.h"

using namespace mlir::sgd::fuzz;

namespace {

void addAnything(Program& program);
void addAnyStablehlo(Program& program);

constexpr Family kFamilies[] = {
    {"elementwise", addElementwise},
    {"conversion", addConversion},
    {"dot_general", addDotGeneral},
    {"reduce", addReduce},
    {"broadcast", addBroadcast},
    {"transpose", addTranspose},
    {"reshape", addReshape},
    {"slice", addSlice},
    {"pad", addPad},
    {"concatenate", addConcatenate},
    {"reverse", addReverse},
    {"iota", addIota},
    {"gather", addGather},
    {"scatter", addScatter},
    {"dynamic_slice", addDynamicSlice},
    {"dynamic_update_slice", addDynamicUpdateSlice},
    {"reshard", addReshards},
    {"convolution", addConvolution},
    {"normalization", addNormalization},
    {"layer", addLayer},
    {"roll", addRoll},
    {"shared_sums", addSharedSums},
    {"attention", addAttention},
    {"graph", addAnything},
    {"stablehlo", addStablehloOp, Language::Stablehlo},
    {"reduce_window", addReduceWindow, Language::Stablehlo},
    {"select_and_scatter", addSelectAndScatter, Language::Stablehlo},
    {"sort", addSort, Language::Stablehlo},
    {"loop", addLoop, Language::Stablehlo},
    {"stablehlo_graph", addAnyStablehlo, Language::Stablehlo},
    {"damaged_text", addAnything, Language::Graph, /*isDamaged=*/true},
    {"damaged_stablehlo", addAnyStablehlo, Language::Stablehlo, /*isDamaged=*/true},
};

/// Some ops of families of one language, each a row of the table.
void addSome(Program& program, Language language) {
  std::vector<const Family*> families;
  for (const Family& family : kFamilies)
    if (family.language == language && family.add != addAnything && family.add != addAnyStablehlo)
      families.push_back(&family);
  uint64_t ops = 2 + program.choices.below(5);
  for (uint64_t i = 0; i < ops; ++i) program.choices.pick(families)->add(program);
}

void addAnything(Program& program) { addSome(program, Language::Graph); }
void addAnyStablehlo(Program& program) { addSome(program, Language::Stablehlo); }

}  // namespace

std::span<const Family> mlir::sgd::fuzz::getFamilies() { return kFamilies; }

Generated mlir::sgd::fuzz::generate(size_t index, Choices& choices) {
  Program program(choices, kFamilies[index].language);
  program.shardingOptions.partialPercent = choices.chance(5) ? 30 : 0;
  kFamilies[index].add(program);
  while (choices.chance(20)) kFamilies[index].add(program);
  std::string text = program.print();
  if (kFamilies[index].isDamaged) text = damage(choices, text);
  return {text, program.features};
}
