// Manual computations: bodies on the shapes that one rank holds, with ops of any family and explicit collectives.
#include "tests/fuzz/collectives.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/region.h"

using namespace mlir::sgd::fuzz;

namespace {

/// Axes of the mesh: those over which a computation is manual, at least one.
Axes chooseManual(Program& program) {
  auto count = static_cast<int64_t>(program.mesh.sizes.size());
  Axes axes;
  for (int64_t axis : program.choices.subset(count, 1 + static_cast<int64_t>(program.choices.below(count))))
    axes.push_back(static_cast<unsigned>(axis));
  return axes;
}

/// Gives dimensions of `type`, a rank's part, manual axes: it becomes the type of the whole, the sharding is returned.
/// `unused`: axes that no dimension has got.
std::string cut(Program& program, const Axes& manual, Type& type, Axes* unused = nullptr) {
  std::vector<std::string> dims(type.shape.size());
  unsigned cuts = 0;
  for (int64_t position : program.choices.permutation(static_cast<int64_t>(manual.size()))) {
    unsigned axis = manual[position];
    int64_t size = program.mesh.sizes[axis];
    if (dims.empty() || program.choices.chance(15) || type.size() * size > 8000) {
      if (unused) unused->push_back(axis);
      continue;
    }
    auto dim = program.choices.below(dims.size());
    dims[dim] += (dims[dim].empty() ? "" : ", ") + Mesh::quote(axis);
    type.shape[dim] *= size;
    program.features.hasSeveralAxes |= ++cuts > 1;
  }
  std::string text;
  for (const std::string& dim : dims) text += (text.empty() ? "{" : ", {") + dim + "}";
  return "[" + text + "]";
}

std::string printShardings(const std::vector<std::string>& texts, const std::string& before) {
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ", ") + before + "<@mesh, " + one + ">";
  return "[" + text + "]";
}

/// A computation with a few ops that `addOp` adds.
void addComputation(Program& program, void (*addOp)(Program& body)) {
  Choices& choices = program.choices;
  Axes manual = chooseManual(program);
  Program body(program, Program::Region::ManualBody);
  body.manualAxes = manual;
  for (uint64_t i = 0, ops = 1 + choices.below(4); i < ops; ++i) addOp(body);
  std::vector<Value> yielded = body.getUnused(), operands;
  if (yielded.empty()) yielded = {body.getAny(1, 3)};
  std::vector<std::string> in, out;
  std::vector<Type> types;
  std::string arguments;
  for (const Program::Argument& argument : body.getArguments()) {
    Type whole = argument.value.type;
    arguments += (arguments.empty() ? "" : ", ") + argument.value.name + ": " + whole.print();
    in.push_back(cut(program, manual, whole));
    operands.push_back(program.getOperand(whole, argument.range));
  }
  std::string results;
  for (Value& value : yielded) {
    types.push_back(value.type);
    Axes unused;
    out.push_back(cut(program, manual, types.back(), &unused));
    // A result that is not cut over an axis is the same on all its ranks.
    value = makeUniform(body, value, unused);
    results += (results.empty() ? "" : ", ") + types.back().print();
  }
  bool isGraph = program.language == Language::Graph;
  std::string head =
      isGraph ? "sgd.manual_computation(" + printNames(operands) + ") in " + printShardings(in, "#sgd.sharding") +
                    " out " + printShardings(out, "#sgd.sharding") + " over <@mesh, " + printAxes(manual) +
                    "> {\n^bb0(" + arguments + "):\n"
              : "sdy.manual_computation(" + printNames(operands) + ") in_shardings=" + printShardings(in, "") +
                    " out_shardings=" + printShardings(out, "") + " manual_axes=" + printAxes(manual) + " (" +
                    arguments + ") {\n";
  std::string end = (isGraph ? "sgd.yield " : "sdy.return ") + printNames(yielded) + " : " + printTypes(yielded);
  program.addLines(head + body.printBody() + end + "\n} : (" + printTypes(operands) + ") -> (" + results + ")", types);
  program.features.add(body.features);
}

}  // namespace

void mlir::sgd::fuzz::addManual(Program& program) {
  addComputation(program, [](Program& body) {
    if (body.choices.chance(50))
      addCollective(body, body.manualAxes);
    else
      addOps(body, 1);
  });
}

void mlir::sgd::fuzz::addManualLoops(Program& program) {
  addComputation(program, [](Program& body) {
    if (body.choices.chance(20)) return addCollective(body, body.manualAxes);
    if (body.choices.chance(50)) return addConditional(body);
    body.language == Language::Graph ? addGraphLoop(body) : addLoop(body);
  });
}
