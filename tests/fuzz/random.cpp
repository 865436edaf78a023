// Random bits: the same ones however they are sharded.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

void mlir::sgd::fuzz::addRandomBits(Program& program) {
  Choices& choices = program.choices;
  std::string algorithm = choices.pick({"THREE_FRY", "PHILOX", "DEFAULT"});
  // Philox knows keys of two and of three words.
  Type state{{algorithm == "PHILOX" && choices.chance(30) ? 3 : 2}, "ui64"};
  Type bits{program.chooseShape(0, 4), choices.pick({"ui32", "ui64", "ui8", "ui16", "i32", "i64"})};
  Value key = program.getOperand(state);
  std::vector<Value> results =
      program.addLines("stablehlo.rng_bit_generator " + key.name + ", algorithm = " + algorithm + " : (" +
                           state.print() + ") -> (" + state.print() + ", " + bits.print() + ")",
                       {state, bits});
  Value result = choices.chance(40) ? program.addConstraint(results[1]) : results[1];
  if (!choices.chance(50)) return;
  // Dropout: what of a value is kept.
  Value limit = program.getOperand(bits), x = program.getOperand({bits.shape, program.chooseFloat()});
  Type kept{bits.shape, "i1"};
  Value mask = program.addOp("stablehlo.compare LT, " + result.name + ", " + limit.name + ", " +
                                 (bits.isUnsigned() ? "UNSIGNED" : "SIGNED") + " : (" + bits.print() + ", " +
                                 bits.print() + ") -> " + kept.print(),
                             kept);
  Value zero = program.getOperand(x.type);
  program.addOp(
      "stablehlo.select " + mask.name + ", " + x.name + ", " + zero.name + " : " + kept.print() + ", " + x.type.print(),
      x.type);
}
