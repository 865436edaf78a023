// Conditionals and loops whose bodies hold ops of any family.
#include "tests/fuzz/collectives.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/region.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// One or two results of a region, of what its ops compute.
std::vector<Value> chooseYielded(Program& region) {
  std::vector<Value> yielded = region.getUnused();
  if (yielded.size() > 2) yielded = {yielded.front(), yielded.back()};
  if (yielded.empty()) yielded = {region.getAny(0, 3)};
  return yielded;
}

std::vector<Type> typesOf(const std::vector<Value>& values) {
  std::vector<Type> types;
  for (const Value& value : values) types.push_back(value.type);
  return types;
}

/// The branch computes something of each of these types.
std::vector<Value> yieldTypes(Program& branch, const std::vector<Type>& types) {
  std::vector<Value> yielded;
  for (const Type& type : types) yielded.push_back(branch.getOperand(type));
  return yielded;
}

std::string yield(const Program& program, const std::vector<Value>& values) {
  return std::string(program.language == Language::Graph ? "sgd.yield " : "stablehlo.return ") + printNames(values) +
         " : " + printTypes(values) + "\n";
}

std::string conditional(Program& program, const Regions& regions, const std::vector<std::string>& ends,
                        const Value& index, const std::string& results) {
  bool isGraph = program.language == Language::Graph;
  std::string text;
  for (size_t branch = 0; branch < ends.size(); ++branch) {
    std::string start = branch ? ", {\n" : "{\n";
    std::string body = regions.printBody(branch) + ends[branch] + "}";
    text += start + (isGraph ? "^bb0(" + regions.printArguments(branch) + "):\n" + body
                             : regions.capture(branch, std::move(body)));
  }
  if (!isGraph)
    return std::string(index.type.element == "i1" ? "\"stablehlo.if\"(" : "\"stablehlo.case\"(") + index.name + ") (" +
           text + ") : (" + index.type.print() + ") -> (" + results + ")";
  return "sgd.case " + index.name + "(" + printNames(regions.getOperands()) + ") " + text + " : (" +
         printTypes({index}) + (regions.getOperands().empty() ? "" : ", ") + printTypes(regions.getOperands()) +
         ") -> (" + results + ")";
}

/// One op or two of any family, in manual computations sometimes collectives.
void addBodyOps(Program& body) {
  for (uint64_t i = 0, count = 1 + body.choices.below(2); i < count; ++i) {
    if (!body.manualAxes.empty() && body.choices.chance(30))
      addCollective(body, body.manualAxes);
    else
      addOps(body, 1);
  }
}

/// Values of each slot's type after the ops of a loop's body, the carried ones themselves where there is nothing else.
std::vector<Value> chooseNext(Program& body) {
  std::vector<Value> next;
  std::vector<Value> unused = body.getUnused();
  for (const Program::Argument& argument : body.getArguments()) {
    next.push_back(argument.value);
    for (Value& value : unused) {
      if (!(value.type == argument.value.type) || body.choices.chance(20)) continue;
      next.back() = value;
      break;
    }
  }
  return next;
}

/// Something of the first slots' types is computed: else a loop changes nothing.
void addSteps(Program& body, size_t slots) {
  const char* name = body.language == Language::Graph ? "math.tanh" : "stablehlo.tanh";
  for (size_t slot = 0; slot < slots; ++slot) {
    Value value = body.getArguments()[slot].value;
    if (value.type.isFloat() && body.choices.chance(60))
      body.addElementwise(name, {value}, value.type, value.type.print());
  }
}

/// Values that a loop changes.
std::vector<Value> chooseCarried(Program& program) {
  std::vector<Value> carried;
  for (uint64_t i = 0, slots = 1 + program.choices.below(3); i < slots; ++i) carried.push_back(program.getAny(0, 3));
  return carried;
}

}  // namespace

void mlir::sgd::fuzz::addConditional(Program& program) {
  Choices& choices = program.choices;
  bool isIf = program.language == Language::Stablehlo && choices.chance(40);
  uint64_t count = isIf ? 2 : 1 + choices.below(3);
  // Numbers outside of the branches take the last one.
  Value index = isIf ? program.getDecider("i1", {})
                     : program.getDecider("i32", Range::numbers(-1, static_cast<int64_t>(count) + 1));
  Regions regions(program, Program::Region::Body);
  std::vector<Value> results;
  std::vector<std::string> ends;
  for (uint64_t branch = 0; branch < count; ++branch) {
    Program& region = regions.add();
    addBodyOps(region);
    if (branch == 0)
      results = chooseYielded(region);
    else
      results = yieldTypes(region, typesOf(results));
    ends.push_back(yield(region, results));
  }
  regions.close();
  program.addLines(conditional(program, regions, ends, index, printTypes(results)), typesOf(results));
}

void mlir::sgd::fuzz::addLoop(Program& program) {
  Choices& choices = program.choices;
  // A bound that is known, or not before the step.
  int64_t most = static_cast<int64_t>(choices.below(5));
  Value zero = addConstant(program, "i32", "0"), one = addConstant(program, "i32", "1");
  Value bound = choices.chance(program.manualAxes.empty() ? 50 : 80)
                    ? program.getDecider("i32", Range::numbers(0, most))
                    : addConstant(program, "i32", std::to_string(most));
  Regions regions(program, Program::Region::Body);
  regions.addArgument(zero);
  for (const Value& value : chooseCarried(program)) regions.addArgument(value);
  size_t slots = regions.getOperands().size();
  Program& body = regions.add();
  addSteps(body, slots);
  addBodyOps(body);
  Value counter = body.getArguments()[0].value;
  std::vector<Value> next = chooseNext(body);
  next[0] = body.addLine("stablehlo.add " + counter.name + ", " + one.name + " : tensor<i32>", counter.type);
  regions.close();
  std::string inits;
  for (size_t i = 0; i < regions.getOperands().size(); ++i)
    inits += (i ? ", " : "") + body.getArguments()[i].value.name + " = " + regions.getOperands()[i].name;
  std::string end = yield(body, next);
  program.addLines("stablehlo.while(" + inits + ") : " + printTypes(regions.getOperands()) +
                       "\n  cond {\n    %c = stablehlo.compare LT, " + counter.name + ", " + bound.name +
                       ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n" +
                       "  } do {\n" + regions.printBody(0) + end + "  }",
                   typesOf(regions.getOperands()));
}

void mlir::sgd::fuzz::addGraphLoop(Program& program) {
  Choices& choices = program.choices;
  Regions regions(program, Program::Region::Body);
  for (const Value& value : chooseCarried(program)) regions.addArgument(value);
  size_t slots = regions.getOperands().size();
  Program& body = regions.add();
  addSteps(body, slots);
  addBodyOps(body);
  std::vector<Value> next = chooseNext(body);
  std::string end = yield(body, next);
  regions.close();
  program.addLines("sgd.while(" + printNames(regions.getOperands()) + ") trips " + std::to_string(choices.below(5)) +
                       " do {\n^bb0(" + regions.printArguments(0) + "):\n" + regions.printBody(0) + end + "} : (" +
                       printTypes(regions.getOperands()) + ") -> (" + printTypes(regions.getOperands()) + ")",
                   typesOf(regions.getOperands()));
}
