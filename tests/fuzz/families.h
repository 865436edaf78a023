// What is generated: one function per family of ops, which adds one op (or a small group of them) to a program.
#ifndef SGD_TESTS_FUZZ_FAMILIES_H
#define SGD_TESTS_FUZZ_FAMILIES_H

#include <span>

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

struct Family {
  const char* name;
  void (*add)(Program& program);
  Language language = Language::Graph;
  bool isDamaged = false;  // its text is changed afterwards: whatever comes, it must not be a crash
};

/// All of them, in the order of reports.
std::span<const Family> getFamilies();

struct Generated {
  std::string text;
  Features features;
};

/// A program of the family at `index`: one op of it, sometimes more.
Generated generate(size_t index, Choices& choices);

// By file
// -----------------------------------------------------------------------------------------------------------------

void addElementwise(Program& program);  // elementwise.cpp
void addConversion(Program& program);

void addDotGeneral(Program& program);  // contractions.cpp
void addConvolution(Program& program);
void addReduce(Program& program);

void addBroadcast(Program& program);  // moves.cpp
void addTranspose(Program& program);
void addReshape(Program& program);
void addSlice(Program& program);
void addPad(Program& program);
void addConcatenate(Program& program);
void addReverse(Program& program);
void addIota(Program& program);

void addGather(Program& program);  // indexing.cpp
void addScatter(Program& program);
void addDynamicSlice(Program& program);
void addDynamicUpdateSlice(Program& program);

void addReshards(Program& program);  // groups.cpp
void addNormalization(Program& program);
void addLayer(Program& program);
void addRoll(Program& program);
void addSharedSums(Program& program);
void addAttention(Program& program);

void addStablehloOp(Program& program);  // stablehlo.cpp, for programs of that language
void addReduceWindow(Program& program);
void addSelectAndScatter(Program& program);
void addSort(Program& program);
void addLoop(Program& program);

}  // namespace mlir::sgd::fuzz

#endif
