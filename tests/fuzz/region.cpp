#include "tests/fuzz/region.h"

using namespace mlir::sgd::fuzz;

namespace {

/// `text` with `to` for each value called `from`.
std::string rename(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    bool isWhole = !isdigit(static_cast<unsigned char>(text[at + from.size()]));
    if (isWhole) text.replace(at, from.size(), to);
    at += isWhole ? to.size() : from.size();
  }
  return text;
}

}  // namespace

Program& Regions::add() {
  Program& region = regions.emplace_back(around, kind);
  if (regions.size() == 1) {
    for (const Value& value : operands) region.addArgument(value.type);
  } else {
    for (const Program::Argument& argument : regions[regions.size() - 2].getArguments())
      region.addArgument(argument.value.type, argument.range);
  }
  return region;
}

void Regions::addArgument(const Value& value) {
  operands.push_back(value);
  for (Program& region : regions) region.addArgument(value.type);
}

void Regions::close() {
  const std::vector<Program::Argument>& last = regions.back().getArguments();
  for (size_t i = operands.size(); i < last.size(); ++i)
    operands.push_back(around.getOperand(last[i].value.type, last[i].range));
  for (Program& region : regions) {
    while (region.getArguments().size() < operands.size())
      region.addArgument(operands[region.getArguments().size()].type);
    around.features.add(region.features);
  }
}

std::string Regions::printArguments(size_t index) const {
  std::string text;
  for (const Program::Argument& argument : regions[index].getArguments())
    text += (text.empty() ? "" : ", ") + argument.value.name + ": " + argument.value.type.print();
  return text;
}

std::string Regions::capture(size_t index, std::string text) const {
  for (size_t i = 0; i < operands.size(); ++i)
    text = rename(std::move(text), regions[index].getArguments()[i].value.name, operands[i].name);
  return text;
}

std::string mlir::sgd::fuzz::printNames(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + value.name;
  return text;
}

std::string mlir::sgd::fuzz::printTypes(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) text += (text.empty() ? "" : ", ") + value.type.print();
  return text;
}
