#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// The largest or smallest number that a type holds.
std::string printExtreme(const Type& type, bool isLargest) {
  if (type.isUnsigned()) return isLargest ? std::to_string(UINT64_MAX >> (64 - type.bits())) : "0";
  if (!type.isFloat()) return std::to_string((isLargest ? INT64_MAX : INT64_MIN) >> (64 - type.bits()));
  std::string digits = isLargest ? "7" : "F";
  if (type.bits() == 64) return "0x" + digits + "FF0000000000000";
  if (type.bits() == 32) return "0x" + digits + "F800000";
  return "0x" + digits + (type.element == "f16" ? "C00" : "F80");
}

}  // namespace

std::string mlir::sgd::fuzz::printScalar(const Value& value) { return "tensor<" + value.type.element + ">"; }

std::string mlir::sgd::fuzz::printCombiner(const Value& like, const std::string& op) {
  std::string type = printScalar(like);
  return "({\n  ^bb0(%p: " + type + ", %q: " + type + "):\n    %s = stablehlo." + op + " %p, %q : " + type +
         "\n    stablehlo.return %s : " + type + "\n  })";
}

std::string mlir::sgd::fuzz::printComparison(const Value& like, const std::string& direction) {
  const Type& type = like.type;
  std::string kind = type.isFloat() ? "FLOAT" : type.isUnsigned() || type.element == "i1" ? "UNSIGNED" : "SIGNED";
  return "stablehlo.compare " + direction + ", %p, %q, " + kind + " : (" + printScalar(like) + ", " +
         printScalar(like) + ") -> tensor<i1>";
}

std::string mlir::sgd::fuzz::printOrder(const Value& like, const std::string& direction) {
  std::string text = printComparison(like, direction);
  return like.type.isFloat() ? text.replace(text.find("FLOAT"), 5, "TOTALORDER") : text;
}

Value mlir::sgd::fuzz::addConstant(Program& program, const std::string& element, const std::string& value) {
  Type type{{}, element};
  return program.addLine("stablehlo.constant dense<" + value + "> : " + type.print(), type);
}

Value mlir::sgd::fuzz::addNeutral(Program& program, const Value& like, const std::string& op) {
  std::string value = op == "multiply" ? "1" : "0";
  if (like.type.isFloat()) value += ".0";
  if (op == "maximum" || op == "minimum") value = printExtreme(like.type, op == "minimum");
  return addConstant(program, like.type.element, value);
}

Value mlir::sgd::fuzz::getNumbers(Program& program, int64_t minRank, int64_t maxRank, const Range& range) {
  return program.getAny(
      [&](const Type& type) { return type.element != "i1" && type.rank() >= minRank && type.rank() <= maxRank; },
      [&] { return Type{program.chooseShape(minRank, maxRank), program.chooseNumber()}; }, range);
}
