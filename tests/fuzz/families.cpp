// The table of families, and how many ops a program has.
#include "tests/fuzz/families.h"

#include "tests/fuzz/damage.h"
#include "tests/fuzz/derivative_check.h"

using namespace mlir::sgd::fuzz;

namespace {

void addMix(Program& program) { addOps(program, 2 + program.choices.below(5)); }

/// Ops that get other code for large tensors: wide accesses, tiles, rows that threads share, sums in parts.
constexpr void (*kLargeOps[])(Program&) = {
    addElementwise,   addConversion, addReduce,  addCumulative,   addBroadcast,
    addTranspose,     addReshape,    addSlice,   addPad,          addConcatenate,
    addReverse,       addGather,     addScatter, addDynamicSlice, addDynamicUpdateSlice,
    addNormalization, addRoll};
constexpr void (*kLargeStablehloOps[])(Program&) = {
    addStablehloOp,  addStablehloFunction,  addStablehloBody, addStablehloMove, addGather, addScatter,
    addDynamicSlice, addDynamicUpdateSlice, addReduceWindow,  addSort,          addTopK,   addArgmax};

void addLarge(Program& program) {
  program.isLarge = true;
  std::vector<void (*)(Program&)> ops(std::begin(kLargeOps), std::end(kLargeOps));
  if (program.language == Language::Stablehlo) ops.assign(std::begin(kLargeStablehloOps), std::end(kLargeStablehloOps));
  for (uint64_t count = 1 + program.choices.below(4); count > 0; --count) program.choices.pick(ops)(program);
}

using Kind = Family::Kind;

constexpr Family kFamilies[] = {
    {"elementwise", addElementwise},
    {"conversion", addConversion},
    {"dot_general", addDotGeneral},
    {"reduce", addReduce},
    {"cumulative", addCumulative},
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
    {"linear_algebra", addLinearAlgebra},
    {"normalization", addNormalization},
    {"layer", addLayer},
    {"roll", addRoll},
    {"shared_sums", addSharedSums},
    {"attention", addAttention},
    {"dispatch", addDispatch},
    {"context", addContext},
    {"layers", addLayers, Language::Graph, Kind::Regions},
    {"recurrent", addRecurrent, Language::Graph, Kind::Regions},
    {"case", addConditional, Language::Graph, Kind::Regions},
    {"while", addGraphLoop, Language::Graph, Kind::Regions},
    {"manual", addManual, Language::Graph, Kind::Regions},
    {"manual_loops", addManualLoops, Language::Graph, Kind::Regions},
    {"graph", addMix, Language::Graph, Kind::Mix},
    {"stablehlo", addStablehloOp, Language::Stablehlo},
    {"functions", addStablehloFunction, Language::Stablehlo},
    {"bodies", addStablehloBody, Language::Stablehlo},
    {"moves", addStablehloMove, Language::Stablehlo},
    {"dot", addStablehloDot, Language::Stablehlo},
    {"batch_norm", addBatchNorm, Language::Stablehlo},
    {"stablehlo_gather", addGather, Language::Stablehlo},
    {"stablehlo_scatter", addScatter, Language::Stablehlo},
    {"stablehlo_dynamic_slice", addDynamicSlice, Language::Stablehlo},
    {"stablehlo_dynamic_update", addDynamicUpdateSlice, Language::Stablehlo},
    {"reduce_window", addReduceWindow, Language::Stablehlo},
    {"select_and_scatter", addSelectAndScatter, Language::Stablehlo},
    {"pooling", addPooling, Language::Stablehlo},
    {"convolution_forms", addConvolutionForm, Language::Stablehlo},
    {"sort", addSort, Language::Stablehlo},
    {"top_k", addTopK, Language::Stablehlo},
    {"argmax", addArgmax, Language::Stablehlo},
    {"random_bits", addRandomBits, Language::Stablehlo},
    {"complex", addComplex, Language::Stablehlo},
    {"fft", addFft, Language::Stablehlo},
    {"frontend_forms", addFrontendForm, Language::Stablehlo},
    {"conditional", addConditional, Language::Stablehlo, Kind::Regions},
    {"loop", addLoop, Language::Stablehlo, Kind::Regions},
    {"shard_map", addManual, Language::Stablehlo, Kind::Regions},
    {"shard_map_loops", addManualLoops, Language::Stablehlo, Kind::Regions},
    {"stablehlo_graph", addMix, Language::Stablehlo, Kind::Mix},
    {"derivatives", addDerivatives, Language::Graph, Kind::Mix},
    {"large", addLarge, Language::Graph, Kind::Mix},
    {"large_stablehlo", addLarge, Language::Stablehlo, Kind::Mix},
    {"damaged_text", addMix, Language::Graph, Kind::Damaged},
    {"damaged_stablehlo", addMix, Language::Stablehlo, Kind::Damaged},
};

/// Regions lie in each other to this depth; manual computations not in each other.
constexpr unsigned kMostDepth = 2, kMostManualDepth = 3;

bool fits(const Family& family, const Program& program) {
  if (family.language != program.language) return false;
  bool isManual = !program.manualAxes.empty();
  bool takesRegions = program.depth < (isManual ? kMostManualDepth : kMostDepth) &&
                      !(isManual && (family.add == addManual || family.add == addManualLoops));
  return family.kind == Kind::Ops || (family.kind == Kind::Regions && takesRegions);
}

}  // namespace

std::span<const Family> mlir::sgd::fuzz::getFamilies() { return kFamilies; }

void mlir::sgd::fuzz::addOps(Program& program, uint64_t count) {
  if (!program.differentiable.empty()) return addDifferentiableOps(program, count);
  std::vector<const Family*> families;
  for (const Family& family : kFamilies)
    if (fits(family, program)) families.push_back(&family);
  for (uint64_t i = 0; i < count; ++i) program.choices.pick(families)->add(program);
}

Generated mlir::sgd::fuzz::generate(size_t index, Choices& choices) {
  const Family& family = kFamilies[index];
  Program program(choices, family.language);
  program.shardingOptions.partialPercent = choices.chance(5) ? 30 : 0;
  if (choices.chance(60)) program.shardingOptions.unevenPercent = 50;
  family.add(program);
  while (choices.chance(20)) family.add(program);
  std::string text = program.print();
  if (family.kind == Kind::Damaged) text = damage(choices, text);
  if (!program.differentiable.empty()) text = kDerivativesDirective.str() + "\n" + text;
  return {text, program.features};
}
