// Texts of loops whose trips step over rows of tensors, one by one, in either order.
#ifndef SGD_TESTS_FUZZ_LOOP_TEXT_H
#define SGD_TESTS_FUZZ_LOOP_TEXT_H

#include "tests/fuzz/program.h"

namespace mlir::sgd::fuzz {

class LoopText {
 public:
  LoopText(Program& program, int64_t trips) : program(program), trips(trips) {}

  /// The beginning of a body: constants, and the row of trip %i.
  std::string row(bool isReversed) const;
  /// %NAME, of type `one`: the row of `from`.
  static std::string slice(const std::string& name, const std::string& from, const Type& all, const Type& one);
  /// %NAME: `into` with `value` as its row.
  static std::string put(const std::string& name, const std::string& value, const std::string& into, const Type& one,
                         const Type& all);
  static std::string dot(const std::string& name, const std::string& a, const std::string& b,
                         const std::string& contracting, const Type& left, const Type& right, const Type& type);

  /// An iter_arg: where it starts, its name in the body, and what the body yields for it.
  struct IterArg {
    Value init;
    std::string name, next;
  };
  /// The loop, which counts in %i from `zero`; results by iter_arg.
  std::vector<Value> add(const Value& zero, const std::vector<IterArg>& iterArgs, const std::string& body);

 private:
  Program& program;
  int64_t trips;
};

}  // namespace mlir::sgd::fuzz

#endif
