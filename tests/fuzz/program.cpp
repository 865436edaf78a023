#include "tests/fuzz/program.h"

#include <algorithm>

using namespace mlir::sgd::fuzz;

namespace {
constexpr int64_t kMaxElements = 3000, kMaxElementsOfLarge = 60000;
}

int64_t Type::size() const {
  int64_t product = 1;
  for (int64_t dim : shape) product *= dim;
  return product;
}

int64_t Type::bits() const { return std::stoll(element.substr(element.find_first_of("0123456789"))); }

std::string Type::print() const {
  std::string text = "tensor<";
  for (int64_t dim : shape) text += std::to_string(dim) + "x";
  return text + element + ">";
}

int64_t Program::chooseSize() {
  static const std::vector<int64_t> others = {1, 2, 3, 5, 7, 4, 9, 11, 13, 16, 17, 31};
  if (isLarge && choices.chance(60))
    return choices.pick({32, 64, 96, 100, 128, 192, 200, 256, 257, 300, 384, 512, 1000, 1024});
  uint64_t kind = choices.below(100);
  if (kind >= 98) return 0;
  if (kind >= 60) return choices.pick(others);
  int64_t size = choices.pick({1, 2, 3, 1});
  for (int64_t axis : mesh.sizes)
    if (!choices.chance(30)) size *= axis;
  return size;
}

Shape Program::chooseShape(int64_t minRank, int64_t maxRank) {
  Shape shape;
  int64_t rank = minRank + static_cast<int64_t>(choices.below(maxRank - minRank + 1)), elements = 1;
  while (static_cast<int64_t>(shape.size()) < rank) {
    int64_t size = chooseSize();
    if (elements * size > (isLarge ? kMaxElementsOfLarge : kMaxElements)) size = 1;
    elements *= std::max<int64_t>(size, 1);
    shape.push_back(size);
  }
  return shape;
}

std::string Program::chooseFloat() { return chooseFloat({"f32", "f32", "f64", "bf16", "f16"}); }
std::string Program::chooseFloat(std::initializer_list<std::string> elements) {
  return differentiable.empty() ? choices.pick(elements) : differentiable;
}
std::string Program::chooseInteger() {
  if (!differentiable.empty()) return differentiable;
  if (language == Language::Stablehlo && choices.chance(25)) return choices.pick({"ui32", "ui8", "ui16", "ui64"});
  return choices.pick({"i32", "i8", "i64", "i16"});
}
std::string Program::chooseNumber() { return choices.chance(35) ? chooseInteger() : chooseFloat(); }
std::string Program::chooseElement() { return differentiable.empty() && choices.chance(10) ? "i1" : chooseNumber(); }

Value Program::addArgument(const Type& type, const Range& range) {
  Argument argument{{"%" + prefix + "a" + std::to_string(arguments.size()), type}, "", "", range};
  // Roundings and ties of whole numbers have no derivative.
  if (!differentiable.empty() && type.isFloat() && range.text.empty()) argument.range = Range::numbers(-2, 2);
  // Arguments are partial in JAX's texts alone, and whole at the border all the same.
  unsigned partialPercent = language == Language::Stablehlo ? shardingOptions.partialPercent : 0;
  if (region == Region::Function && !choices.chance(15))
    argument.sharding =
        chooseSharding(choices, mesh, type.shape, {shardingOptions.unevenPercent, partialPercent}, features);
  arguments.push_back(argument);
  values.push_back(argument.value);
  return argument.value;
}

Value Program::getOperand(const Type& type, const Range& range) {
  return getAny([&](const Type& other) { return range.text.empty() && other == type; }, [&] { return type; }, range);
}

Value Program::getAny(const std::function<bool(const Type&)>& fits, const std::function<Type()>& choose,
                      const Range& range) {
  std::vector<Value> fitting;
  std::copy_if(values.begin(), values.end(), std::back_inserter(fitting),
               [&](const Value& value) { return fits(value.type); });
  // The newest first: chains are more interesting than bushes.
  std::reverse(fitting.begin(), fitting.end());
  if (!fitting.empty() && !choices.chance(35)) return choices.pick(fitting);
  return addArgument(choose(), range);
}

Value Program::getAny(int64_t minRank, int64_t maxRank) {
  return getAny([&](const Type& type) { return type.rank() >= minRank && type.rank() <= maxRank; },
                [&] { return Type{chooseShape(minRank, maxRank), chooseElement()}; });
}

std::vector<Value> Program::addLines(const std::string& op, const std::vector<Type>& types) {
  std::string name = "%" + prefix + "v" + std::to_string(lines.size());
  std::vector<Value> results;
  for (const Type& type : types)
    results.push_back({types.size() == 1 ? name : name + "#" + std::to_string(results.size()), type});
  lines.push_back(name + (types.size() == 1 ? "" : ":" + std::to_string(types.size())) + " = " + op);
  values.insert(values.end(), results.begin(), results.end());
  return results;
}

Value Program::addOp(const std::string& op, const Type& type) {
  Value value = addLine(op, type);
  return choices.chance(20) ? addConstraint(value) : value;
}

Value Program::getDecider(const std::string& element, const Range& range) {
  if (manualAxes.empty() || choices.chance(40)) return getScalar(element, range);
  // Tensors that have dimensions are cut over manual axes.
  Value own = getOperand({{1}, element}, range);
  Type scalar{{}, element};
  std::string types = language == Language::Graph ? own.type.print() : "(" + own.type.print() + ")";
  return addLine(std::string(language == Language::Graph ? "sgd" : "stablehlo") + ".reshape " + own.name + " : " +
                     types + " -> " + scalar.print(),
                 scalar);
}

Value Program::addConstraint(const Value& value) {
  if (!manualAxes.empty()) return value;
  std::string sharding = chooseSharding(choices, mesh, value.type.shape, shardingOptions, features);
  return addLine(
      dialect() + ".sharding_constraint " + value.name + " <@mesh, " + sharding + "> : " + value.type.print(),
      value.type);
}

bool Program::isArgument(const Value& value) const {
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](const Argument& argument) { return argument.value.name == value.name; });
}

void Program::hide(const Value& value) {
  std::erase_if(values, [&](const Value& other) { return other.name == value.name; });
}

std::vector<Value> Program::getUnused() const {
  std::vector<Value> unused;
  std::copy_if(values.begin(), values.end(), std::back_inserter(unused),
               [&](const Value& value) { return !isArgument(value) && !isUsed(value); });
  return unused;
}

std::string Program::printBody() const {
  std::string text;
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

/// As an attribute of an argument or result.
std::string Program::printSharding(const std::string& sharding) const {
  return dialect() + ".sharding = #" + dialect() + ".sharding<@mesh, " + sharding + ">";
}

Value Program::addElementwise(const std::string& name, const std::vector<Value>& operands, const Type& type,
                              const std::string& typeText) {
  std::string text = name;
  for (const Value& operand : operands) text += (text == name ? " " : ", ") + operand.name;
  return addOp(text + " : " + typeText, type);
}

bool Program::isUsed(const Value& value) const {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    for (size_t at = line.find('='); (at = line.find(value.name, at)) != std::string::npos; ++at)
      if (!isdigit(static_cast<unsigned char>(line[at + value.name.size()]))) return true;
    return false;
  });
}

/// An argument's sharding, often, for a result that could take its buffer.
std::string Program::chooseResultSharding(const Type& type) {
  for (const Argument& argument : arguments)
    if (argument.value.type == type && choices.chance(50)) return argument.sharding;
  if (!choices.chance(60)) return "";
  return chooseSharding(choices, mesh, type.shape, {shardingOptions.unevenPercent, 0}, features);
}

std::vector<Program::Result> Program::chooseResults() {
  std::vector<Result> results;
  // Families add nothing where that would be too large.
  if (values.empty()) addArgument({{2, 3}, "f32"});
  for (const Value& value : values) {
    if (isArgument(value) ? choices.chance(2) : !isUsed(value) || choices.chance(5))
      results.push_back({value, chooseResultSharding(value.type)});
  }
  if (results.empty()) results.push_back({values.back(), chooseResultSharding(values.back().type)});
  return results;
}

/// A dimension that the sequential axis cuts, half of the time one with equal parts; empty for an argument that is
/// whole.
std::string Program::chooseSequentialDim(const Type& type) {
  if (micro == 1 || choices.chance(20)) return "";
  bool isUneven = choices.chance(50);
  for (size_t dim = 0; dim < type.shape.size(); ++dim)
    if (type.shape[dim] > 0 && (isUneven || type.shape[dim] % micro == 0) && choices.chance(80))
      return "sgd.sequential_dim = " + std::to_string(dim) + " : i64";
  return "";
}

std::string Program::printArguments(const std::vector<Result>& results) {
  std::vector<bool> isAliased(results.size());
  std::string text;
  for (Argument& argument : arguments) {
    std::string attributes = argument.sharding.empty() ? "" : printSharding(argument.sharding);
    for (size_t i = 0; i < results.size(); ++i) {
      // With different shardings it is refused.
      bool fits = results[i].value.type == argument.value.type &&
                  (results[i].sharding.empty() || results[i].sharding == argument.sharding || choices.chance(1));
      if (isAliased[i] || !fits || !choices.chance(40)) continue;
      attributes += attributes.empty() ? "" : ", ";
      attributes += language == Language::Graph ? "sgd.alias_output = " + std::to_string(i) + " : i64"
                                                : "tf.aliasing_output = " + std::to_string(i) + " : i32";
      isAliased[i] = true;
      break;
    }
    std::string place = chooseSequentialDim(argument.value.type);
    if (place.empty() && stages > 0 && !isPipelined && choices.chance(70))
      place = "sgd.stage = " + std::to_string(choices.below(stages)) + " : i64";
    if (!place.empty()) attributes += (attributes.empty() ? "" : ", ") + place;
    text += (text.empty() ? "" : ",\n    ") + argument.value.name + ": " + argument.value.type.print();
    if (!attributes.empty()) text += " {" + attributes + "}";
  }
  return text;
}

/// A form of attention, or axes in time and of stages, with a schedule.
std::string Program::chooseMeshAttributes() {
  if (!attention.empty()) return " {sgd.attention = \"" + attention + "\"}";
  if (language != Language::Graph || !(isPipelined || choices.chance(25))) return "";
  if (choices.chance(80)) micro = choices.pick<int64_t>({2, 2, 3, 4});
  std::string text;
  if (micro > 1) text = "sgd.sequential = #sgd<axis\"micro\"=" + std::to_string(micro) + ">";
  if (isPipelined || choices.chance(40)) {
    const char* schedule = choices.pick<const char*>({"gpipe", "1f1b", "zb_h1", "zb_h2", "zb_v", "interleaved:2"});
    int64_t size = choices.pick<int64_t>({2, 2, 3});
    stages = size * (schedule == std::string("zb_v") || schedule == std::string("interleaved:2") ? 2 : 1);
    text += (text.empty() ? "" : ", ") +
            ("sgd.stages = #sgd<axis\"stage\"=" + std::to_string(size) + ">, sgd.schedule = \"") + schedule + "\"";
  }
  return text.empty() ? "" : " {" + text + "}";
}

std::string Program::print() {
  std::vector<Result> results = chooseResults();
  std::string text = "// seed: " + std::to_string(choices.below(1000)) + "\n";
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i].range.text.empty()) text += "// arg" + std::to_string(i) + ": " + arguments[i].range.text + "\n";
  text += dialect() + ".mesh @mesh = <" + mesh.print() + ">" + chooseMeshAttributes() + "\n";
  for (const std::string& declaration : declarations) text += declaration;
  text += "func.func @main(" + printArguments(results) + ") -> (";
  std::string names, types;
  for (const Result& result : results) {
    bool isFirst = &result == results.data();
    names += (isFirst ? "" : ", ") + result.value.name;
    types += (isFirst ? "" : ", ") + result.value.type.print();
    text += (isFirst ? "" : ",\n    ") + result.value.type.print();
    if (!result.sharding.empty()) text += " {" + printSharding(result.sharding) + "}";
  }
  return text + ") {\n" + printBody() + "  return " + names + " : " + types + "\n}\n";
}

std::string mlir::sgd::fuzz::printList(const std::vector<int64_t>& numbers) {
  std::string text;
  for (int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

std::string mlir::sgd::fuzz::printArray(const std::vector<int64_t>& numbers) {
  std::string list = printList(numbers);
  return numbers.empty() ? "array<i64>" : "array<i64: " + list.substr(1, list.size() - 2) + ">";
}
