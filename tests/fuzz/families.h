// The generators: one function per family of ops, which adds one op (or a small group of them) to a program.
#ifndef SGD_TESTS_FUZZ_FAMILIES_H
#define SGD_TESTS_FUZZ_FAMILIES_H

#include <span>

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

/// Names of ops or of element types.
using Names = std::vector<std::string>;

struct Family {
  enum class Kind {
    Ops,      // one op or a few
    Regions,  // an op with regions that hold ops of other families
    Mix,      // ops of all families
    Damaged,  // the same, its text changed afterwards: whatever comes, it must not be a crash
  };
  const char* name;
  void (*add)(Program& program);
  Language language = Language::Graph;
  Kind kind = Kind::Ops;
};

/// All of them, in the order of reports.
std::span<const Family> getFamilies();

struct Generated {
  std::string text;
  Features features;
};

/// A program of the family at `index`: one op of it, sometimes more.
Generated generate(size_t index, Choices& choices);

/// Adds ops of `count` families of the program's language.
void addOps(Program& program, uint64_t count);

// By file
// -----------------------------------------------------------------------------------------------------------------

void addElementwise(Program& program);  // elementwise.cpp
void addConversion(Program& program);

void addDotGeneral(Program& program);  // contractions.cpp
void addConvolution(Program& program);
void addReduce(Program& program);
void addCumulative(Program& program);

void addBroadcast(Program& program);  // moves.cpp
void addTranspose(Program& program);
void addReshape(Program& program);
void addSlice(Program& program);
void addPad(Program& program);
void addConcatenate(Program& program);
void addReverse(Program& program);
void addIota(Program& program);

void addGather(Program& program);  // indexing.cpp, for both languages
void addScatter(Program& program);
void addDynamicSlice(Program& program);
void addDynamicUpdateSlice(Program& program);

void addReshards(Program& program);  // groups.cpp
void addNormalization(Program& program);
void addLayer(Program& program);
void addRoll(Program& program);
void addSharedSums(Program& program);
void addAttention(Program& program);

void addDispatch(Program& program);  // dispatch.cpp

void addContext(Program& program);  // context.cpp
void addLayers(Program& program);
void addRecurrent(Program& program);  // layers.cpp

void addStablehloOp(Program& program);  // stablehlo.cpp, from here on for programs of that language

void addStablehloFunction(Program& program);
void addStablehloBody(Program& program);

void addStablehloMove(Program& program);  // stablehlo_moves.cpp
void addStablehloDot(Program& program);
void addBatchNorm(Program& program);

void addReduceWindow(Program& program);  // windows.cpp
void addSelectAndScatter(Program& program);
void addPooling(Program& program);

void addConvolutionForm(Program& program);  // convolution_forms.cpp

void addLinearAlgebra(Program& program);  // linear_algebra.cpp, for programs of the graph level

void addSort(Program& program);  // ordering.cpp
void addTopK(Program& program);
void addArgmax(Program& program);

void addRandomBits(Program& program);  // random.cpp

void addComplex(Program& program);  // complex.cpp
void addFft(Program& program);
void addFrontendForm(Program& program);

void addConditional(Program& program);  // control_flow.cpp, for both languages
void addLoop(Program& program);         // for StableHLO
void addGraphLoop(Program& program);

void addManual(Program& program);       // manual.cpp, for both languages
void addManualLoops(Program& program);  // loops and conditionals in manual computations

void addDerivatives(Program& program);  // derivatives.cpp
/// Ops with derivatives, on the program's type of floats.
void addDifferentiableOps(Program& program, uint64_t count);

}  // namespace mlir::sgd::fuzz

#endif
