// Windows of StableHLO and their gradients, as JAX prints them.
#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

struct Window {
  std::vector<int64_t> sizes, strides, baseDilations, dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  Shape result;

  Window(Choices& choices, const Shape& shape, bool mayDilate) {
    // Each position of a window becomes ops of its own: not too many of them.
    int64_t positions = 1;
    for (int64_t size : shape) {
      bool isWhole = positions >= 15 || choices.chance(40);
      sizes.push_back(isWhole ? 1 : choices.pick({2, 3, 1, 5}));
      positions *= sizes.back();
      strides.push_back(isWhole ? 1 : choices.pick({1, 2, 1, 3}));
      baseDilations.push_back(mayDilate && choices.chance(10) ? 2 : 1);
      dilations.push_back(mayDilate && choices.chance(10) ? 2 : 1);
      auto pad = [&] { return isWhole ? 0 : static_cast<int64_t>(choices.below(sizes.back())); };
      padding.emplace_back(pad(), pad());
      int64_t reach = (sizes.back() - 1) * dilations.back() + 1;
      auto padded = [&] {
        return (size == 0 ? 0 : (size - 1) * baseDilations.back() + 1) + padding.back().first + padding.back().second;
      };
      if (padded() < reach) padding.back().second += reach - padded();
      result.push_back((padded() - reach) / strides.back() + 1);
    }
  }

  std::string print(bool withDilations) const {
    std::string pairs;
    for (auto [low, high] : padding) pairs += (pairs.empty() ? "" : ", ") + printList({low, high});
    std::string text = "<{window_dimensions = " + printArray(sizes) + ", window_strides = " + printArray(strides) +
                       ", padding = dense<[" + pairs + "]> : tensor<" + std::to_string(padding.size()) + "x2xi64>";
    if (withDilations)
      text += ", base_dilations = " + printArray(baseDilations) + ", window_dilations = " + printArray(dilations);
    return text + "}>";
  }
};

/// Floats, often with infinities and NaN.
Value getPoolingInput(Program& program) {
  Range range = program.choices.chance(50) ? Range{"special"} : Range{};
  return program.getAny([](const Type& type) { return type.isFloat() && type.rank() >= 1 && type.rank() <= 4; },
                        [&] { return Type{program.chooseShape(1, 4), program.chooseFloat()}; }, range);
}

/// A select_and_scatter.
Value addSelection(Program& program, const Value& input, const Value& source, const Value& init, const Window& window,
                   const std::string& direction, const std::string& op) {
  std::string type = printScalar(input);
  std::string select = "({\n  ^bb0(%p: " + type + ", %q: " + type +
                       "):\n    %s = " + printComparison(input, direction) +
                       "\n    stablehlo.return %s : tensor<i1>\n  }";
  return program.addOp("\"stablehlo.select_and_scatter\"(" + input.name + ", " + source.name + ", " + init.name + ") " +
                           window.print(false) + " " + select + ", " + printCombiner(input, op).substr(1) + " : (" +
                           input.type.print() + ", " + source.type.print() + ", " + type + ") -> " + input.type.print(),
                       input.type);
}

}  // namespace

void mlir::sgd::fuzz::addReduceWindow(Program& program) {
  Choices& choices = program.choices;
  Value input = getNumbers(program, 1, 4);
  std::string op = choices.pick({"add", "maximum", "minimum", "multiply"});
  Window window(choices, input.type.shape, /*mayDilate=*/true);
  Type type{window.result, input.type.element};
  if (type.size() > 6000) return;
  Value neutral = addNeutral(program, input, op);
  program.addOp("\"stablehlo.reduce_window\"(" + input.name + ", " + neutral.name + ") " + window.print(true) + " " +
                    printCombiner(input, op) + " : (" + input.type.print() + ", " + printScalar(input) + ") -> " +
                    type.print(),
                type);
}

void mlir::sgd::fuzz::addSelectAndScatter(Program& program) {
  Choices& choices = program.choices;
  Value input = getPoolingInput(program);
  Window window(choices, input.type.shape, /*mayDilate=*/false);
  Value source = program.getOperand({window.result, input.type.element});
  Value init = choices.chance(80) ? addNeutral(program, input, "add") : program.getScalar(input.type.element);
  addSelection(program, input, source, init, window, choices.pick({"GE", "LE", "GT", "LT"}),
               choices.pick({"add", "add", "add", "maximum"}));
}

void mlir::sgd::fuzz::addPooling(Program& program) {
  Choices& choices = program.choices;
  Value input = getPoolingInput(program), lowest = addNeutral(program, input, "maximum");
  Window window(choices, input.type.shape, /*mayDilate=*/false);
  Type pooled{window.result, input.type.element};
  if (pooled.size() > 6000) return;
  Value result = program.addOp("\"stablehlo.reduce_window\"(" + input.name + ", " + lowest.name + ") " +
                                   window.print(false) + " " + printCombiner(input, "maximum") + " : (" +
                                   input.type.print() + ", " + printScalar(input) + ") -> " + pooled.print(),
                               pooled);
  // The gradient by JAX: onto the padded operand, of which the middle is cut out.
  Value gradient = choices.chance(50) ? result : program.getOperand(pooled);
  std::vector<int64_t> low, high, zeros(input.type.rank(), 0);
  Type padded = input.type;
  std::string middle;
  for (int64_t dim = 0; dim < input.type.rank(); ++dim) {
    low.push_back(window.padding[dim].first);
    high.push_back(window.padding[dim].second);
    padded.shape[dim] += low.back() + high.back();
    middle += (dim ? ", " : "") + std::to_string(low.back()) + ":" + std::to_string(low.back() + input.type.shape[dim]);
    window.padding[dim] = {0, 0};
  }
  Value wide = program.addOp("stablehlo.pad " + input.name + ", " + lowest.name + ", low = " + printList(low) +
                                 ", high = " + printList(high) + ", interior = " + printList(zeros) + " : (" +
                                 input.type.print() + ", " + printScalar(input) + ") -> " + padded.print(),
                             padded);
  Value spread = addSelection(program, wide, gradient, addNeutral(program, input, "add"), window, "GE", "add");
  program.addOp(
      "stablehlo.slice " + spread.name + " [" + middle + "] : (" + padded.print() + ") -> " + input.type.print(),
      input.type);
}
