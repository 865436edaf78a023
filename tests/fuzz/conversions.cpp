// Changes of element type.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

struct Conversion {
  std::string name;
  Names from, to;
};

const Names kFloats = {"f32", "bf16", "f16", "f64", "f8E4M3FN", "f8E5M2"}, kIntegers = {"i32", "i8", "i16", "i64"};

int widthOf(const std::string& element) { return std::stoi(element.substr(element.find_first_of("0123456789"))); }

/// Whether `name` goes from `from` to `to`: extensions to more bits, truncations to fewer.
bool allows(const std::string& name, const std::string& from, const std::string& to) {
  int difference = widthOf(to) - widthOf(from);
  if (name == "arith.extf" || name == "arith.extsi" || name == "arith.extui") return difference > 0;
  if (name == "arith.truncf" || name == "arith.trunci") return difference < 0;
  return name != "arith.bitcast" || difference == 0;
}

}  // namespace

void mlir::sgd::fuzz::addConversion(Program& program) {
  static const Names withBoolean = {"i32", "i8", "i16", "i64", "i1"};
  static const std::vector<Conversion> conversions = {
      {"arith.extf", kFloats, kFloats},           {"arith.truncf", kFloats, kFloats},
      {"arith.sitofp", withBoolean, kFloats},     {"arith.uitofp", withBoolean, kFloats},
      {"sgd.fptosi", kFloats, kIntegers},         {"sgd.fptoui", kFloats, kIntegers},
      {"arith.extsi", withBoolean, withBoolean},  {"arith.extui", withBoolean, withBoolean},
      {"arith.trunci", withBoolean, withBoolean}, {"arith.bitcast", kFloats, kIntegers},
      {"arith.bitcast", kIntegers, kFloats}};
  Choices& choices = program.choices;
  const Conversion& conversion = choices.pick(conversions);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& from : conversion.from)
    for (const std::string& to : conversion.to)
      if (allows(conversion.name, from, to)) pairs.emplace_back(from, to);
  auto [from, to] = choices.pick(pairs);
  Range range = choices.chance(50) ? Range{"special"} : Range{};
  Value operand = program.getAny([&, from = from](const Type& type) { return type.element == from; },
                                 [&, from = from] { return Type{program.chooseShape(0, 3), from}; }, range);
  Type type{operand.type.shape, to};
  program.addElementwise(conversion.name, {operand}, type, operand.type.print() + " to " + type.print());
}
