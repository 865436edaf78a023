// Rows have a leading dimension of one in slices and updates.
#include "tests/fuzz/loop_text.h"

using namespace mlir::sgd::fuzz;

static Type getRow(const Type& all) {
  Type row = all;
  row.shape[0] = 1;
  return row;
}

/// The types of positions in `all`, and the positions of row %row.
static std::pair<std::string, std::string> getPosition(const Type& all) {
  std::string types, names = "%row";
  for (int64_t dim = 0; dim < all.rank(); ++dim) types += ", tensor<i32>";
  for (int64_t dim = 1; dim < all.rank(); ++dim) names += ", %zero";
  return {types, names};
}

std::string LoopText::row(bool isReversed) const {
  std::string text =
      "    %zero = arith.constant dense<0> : tensor<i32>\n"
      "    %one = arith.constant dense<1> : tensor<i32>\n"
      "    %last = arith.constant dense<" +
      std::to_string(trips - 1) +
      "> : tensor<i32>\n"
      "    %next = arith.addi %i, %one : tensor<i32>\n";
  return text + (isReversed ? "    %row = arith.subi %last, %i : tensor<i32>\n"
                            : "    %row = arith.addi %i, %zero : tensor<i32>\n");
}

std::string LoopText::slice(const std::string& name, const std::string& from, const Type& all, const Type& one) {
  Type part = getRow(all);
  auto [types, position] = getPosition(all);
  return "    %" + name + "_row = sgd.dynamic_slice " + from + ", " + position + " sizes = " + printList(part.shape) +
         " : (" + all.print() + types + ") -> " + part.print() + "\n    %" + name + " = sgd.reshape %" + name +
         "_row : " + part.print() + " -> " + one.print() + "\n";
}

std::string LoopText::put(const std::string& name, const std::string& value, const std::string& into, const Type& one,
                          const Type& all) {
  Type part = getRow(all);
  auto [types, position] = getPosition(all);
  return "    %" + name + "_row = sgd.reshape " + value + " : " + one.print() + " -> " + part.print() + "\n    %" +
         name + " = sgd.dynamic_update_slice " + into + ", %" + name + "_row, " + position + " : (" + all.print() +
         ", " + part.print() + types + ") -> " + all.print() + "\n";
}

std::string LoopText::dot(const std::string& name, const std::string& a, const std::string& b,
                          const std::string& contracting, const Type& left, const Type& right, const Type& type) {
  return "    %" + name + " = sgd.dot_general " + a + ", " + b + " batching = [] x [] contracting = " + contracting +
         " : " + left.print() + ", " + right.print() + " -> " + type.print() + "\n";
}

std::vector<Value> LoopText::add(const Value& zero, const std::vector<IterArg>& iterArgs, const std::string& body) {
  std::string inits = zero.name, arguments = "%i: " + zero.type.print(), next = "%next", types = zero.type.print();
  std::vector<Type> all = {zero.type};
  for (const IterArg& iterArg : iterArgs) {
    const std::string type = iterArg.init.type.print();
    inits += ", " + iterArg.init.name;
    arguments += ", " + iterArg.name + ": " + type;
    next += ", " + iterArg.next;
    types += ", " + type;
    all.push_back(iterArg.init.type);
  }
  std::vector<Value> results = program.addLines("sgd.while(" + inits + ") trips " + std::to_string(trips) +
                                                    " do {\n  ^bb0(" + arguments + "):\n" + body + "    sgd.yield " +
                                                    next + " : " + types + "\n  } : (" + types + ") -> (" + types + ")",
                                                all);
  results.erase(results.begin());
  return results;
}
