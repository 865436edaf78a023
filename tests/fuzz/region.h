// Regions of an op under construction: each a program of its own; what they take from outside is collected.
#ifndef SGD_TESTS_FUZZ_REGION_H
#define SGD_TESTS_FUZZ_REGION_H

#include <deque>

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

/// The regions of one op, which have the same arguments.
class Regions {
 public:
  Regions(Program& around, Program::Region kind) : around(around), kind(kind) {}

  /// One more, with the arguments that there are so far.
  Program& add();
  /// One more argument of all regions: `value` of the program around.
  void addArgument(const Value& value);
  /// After the last region is full: gives all of them the same arguments, and finds or makes the values that they
  /// stand for.
  void close();

  /// The values that the arguments stand for, in the program around; after close().
  const std::vector<Value>& getOperands() const { return operands; }

  /// `%a: tensor<..>, %b: tensor<..>`, of region `index`.
  std::string printArguments(size_t index) const;
  /// `text`, which names arguments of region `index`, with the values that they stand for: StableHLO's regions see what
  /// is around them.
  std::string capture(size_t index, std::string text) const;
  std::string printBody(size_t index) const { return regions[index].printBody(); }

 private:
  Program& around;
  Program::Region kind;
  std::deque<Program> regions;  // whose addresses are given away
  std::vector<Value> operands;
};

std::string printNames(const std::vector<Value>& values);
std::string printTypes(const std::vector<Value>& values);

}  // namespace mlir::sgd::fuzz

#endif
