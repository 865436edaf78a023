// Convolutions of StableHLO: any order of dimensions, groups of features and of the batch, reversed windows.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

/// An order of dimensions: `names[i]` is the name of dimension i, sizes follow.
struct Layout {
  std::vector<std::string> names;
  Shape shape;

  /// `sizes` are those of the spatial dimensions, of the first and of the second other one.
  Layout(Choices& choices, const std::string& first, const std::string& second, const Shape& spatial, int64_t firstSize,
         int64_t secondSize) {
    std::vector<std::string> all = {first};
    Shape sizes = {firstSize};
    for (size_t dim = 0; dim < spatial.size(); ++dim) {
      all.push_back(std::to_string(dim));
      sizes.push_back(spatial[dim]);
    }
    all.push_back(second);
    sizes.push_back(secondSize);
    std::vector<int64_t> order =
        choices.chance(50) ? choices.permutation(static_cast<int64_t>(all.size())) : std::vector<int64_t>();
    for (size_t i = 0; i < all.size(); ++i) {
      names.push_back(all[order.empty() ? i : order[i]]);
      shape.push_back(sizes[order.empty() ? i : order[i]]);
    }
  }

  std::string print() const {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return "[" + text + "]";
  }
};

/// Strides, padding and so on of each spatial dimension, and the sizes that they lead to.
struct Taps {
  std::vector<int64_t> strides, lhsDilations, rhsDilations;
  std::string pads, reversed;
  Shape input, kernel, result;

  explicit Taps(Program& program, int64_t spatial) {
    Choices& choices = program.choices;
    for (int64_t dim = 0; dim < spatial; ++dim) {
      int64_t size = std::min<int64_t>(program.chooseSize(), 12);
      kernel.push_back(choices.pick({3, 1, 2, 5}));
      strides.push_back(choices.pick({1, 1, 2, 3}));
      lhsDilations.push_back(choices.pick({1, 1, 1, 2}));
      rhsDilations.push_back(choices.pick({1, 1, 1, 2}));
      auto choosePad = [&] { return static_cast<int64_t>(choices.below(4)) - (choices.chance(10) ? 2 : 0); };
      int64_t low = choosePad(), high = choosePad();
      int64_t padded = (size == 0 ? 0 : (size - 1) * lhsDilations.back() + 1) + low + high;
      int64_t window = (kernel.back() - 1) * rhsDilations.back() + 1;
      if (padded < 0) low -= padded, padded = 0;
      pads += (dim ? ", " : "") + printList({low, high});
      reversed += std::string(dim ? ", " : "") + (choices.chance(20) ? "true" : "false");
      input.push_back(size);
      result.push_back(padded < window ? 0 : (padded - window) / strides.back() + 1);
    }
  }

  std::string print() const {
    return "{stride = " + printList(strides) + ", pad = [" + pads + "], lhs_dilate = " + printList(lhsDilations) +
           ", rhs_dilate = " + printList(rhsDilations) + ", reverse = [" + reversed + "]}";
  }
};

}  // namespace

void mlir::sgd::fuzz::addConvolutionForm(Program& program) {
  Choices& choices = program.choices;
  Taps taps(program, choices.pick({1, 2, 1, 3}));
  auto chooseFew = [&] { return std::max<int64_t>(1, std::min<int64_t>(program.chooseSize(), 8)); };
  int64_t groups = choices.pick({1, 1, 2, 4, 3}), batch = chooseFew(), in = chooseFew(), out = chooseFew();
  bool splitsBatch = groups > 1 && choices.chance(40), isDepthwise = groups > 1 && choices.chance(40);
  if (isDepthwise) in = 1, out = choices.pick({1, 2});
  std::string element = choices.chance(15) ? choices.pick({"i32", "i8"}) : program.chooseFloat();
  Layout lhs(choices, "b", "f", taps.input, batch * (splitsBatch ? groups : 1), in * (splitsBatch ? 1 : groups));
  Layout rhs(choices, "o", "i", taps.kernel, out * groups, in);
  Layout result(choices, "b", "f", taps.result, batch, out * groups);
  Type lhsType{lhs.shape, element}, rhsType{rhs.shape, element}, type{result.shape, element};
  if (lhsType.size() > 4000 || rhsType.size() > 4000 || type.size() > 4000) return;
  Value left = program.getOperand(lhsType), right = program.getOperand(rhsType);
  program.addOp("stablehlo.convolution(" + left.name + ", " + right.name + ") dim_numbers = " + lhs.print() + "x" +
                    rhs.print() + "->" + result.print() + ", window = " + taps.print() +
                    " {batch_group_count = " + std::to_string(splitsBatch ? groups : 1) +
                    " : i64, feature_group_count = " + std::to_string(splitsBatch ? 1 : groups) + " : i64} : (" +
                    lhsType.print() + ", " + rhsType.print() + ") -> " + type.print(),
                type);
}
