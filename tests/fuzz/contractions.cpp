// Matmuls and reductions.
#include "tests/fuzz/families.h"

#include <algorithm>

using namespace mlir::sgd::fuzz;

namespace {

Shape chooseSizes(Program& program, int64_t count, int64_t& budget) {
  Shape sizes;
  for (int64_t i = 0; i < count; ++i) {
    int64_t size = program.chooseSize();
    if (size > budget) size = 1;
    budget /= std::max<int64_t>(size, 1);
    sizes.push_back(size);
  }
  return sizes;
}

/// An operand whose dimensions are those of `parts`, shuffled; `positions[i]` is where dimension i of them went.
Shape shuffle(Choices& choices, const Shape& parts, std::vector<int64_t>& positions) {
  bool isShuffled = choices.chance(50);
  Shape shape(parts.size());
  positions.resize(parts.size());
  std::vector<int64_t> order =
      isShuffled ? choices.permutation(static_cast<int64_t>(parts.size())) : std::vector<int64_t>();
  for (size_t i = 0; i < parts.size(); ++i) {
    positions[i] = isShuffled ? order[i] : static_cast<int64_t>(i);
    shape[positions[i]] = parts[i];
  }
  return shape;
}

Shape concatenate(const std::vector<Shape>& parts) {
  Shape whole;
  for (const Shape& part : parts) whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

std::vector<int64_t> range(const std::vector<int64_t>& numbers, size_t from, size_t count) {
  return {numbers.begin() + from, numbers.begin() + from + count};
}

}  // namespace

void mlir::sgd::fuzz::addDotGeneral(Program& program) {
  Choices& choices = program.choices;
  int64_t budget = 6000;
  Shape contracting = chooseSizes(program, choices.pick({1, 1, 2, 0}), budget);
  Shape batch = chooseSizes(program, choices.pick({0, 0, 1, 2}), budget);
  Shape lhsFree = chooseSizes(program, choices.pick({1, 1, 0, 2}), budget),
        rhsFree = chooseSizes(program, choices.pick({1, 1, 0, 2}), budget);
  std::vector<int64_t> lhsAt, rhsAt;
  std::string element = choices.chance(15) ? program.chooseInteger() : program.chooseFloat();
  Type lhsType{shuffle(choices, concatenate({batch, lhsFree, contracting}), lhsAt), element};
  Type rhsType{shuffle(choices, concatenate({batch, rhsFree, contracting}), rhsAt), element};
  // Free dimensions come in the order in which they lie in the operand.
  auto inOrder = [&](const Type& type, const std::vector<int64_t>& at, size_t count) {
    std::vector<int64_t> dims = range(at, batch.size(), count);
    std::sort(dims.begin(), dims.end());
    Shape sizes;
    for (int64_t dim : dims) sizes.push_back(type.shape[dim]);
    return sizes;
  };
  Type type{concatenate({batch, inOrder(lhsType, lhsAt, lhsFree.size()), inOrder(rhsType, rhsAt, rhsFree.size())}),
            element};
  Value lhs = program.getOperand(lhsType), rhs = program.getOperand(rhsType);
  std::string text = "sgd.dot_general " + lhs.name + ", " + rhs.name +
                     " batching = " + printList(range(lhsAt, 0, batch.size())) + " x " +
                     printList(range(rhsAt, 0, batch.size())) +
                     " contracting = " + printList(range(lhsAt, batch.size() + lhsFree.size(), contracting.size())) +
                     " x " + printList(range(rhsAt, batch.size() + rhsFree.size(), contracting.size()));
  program.addOp(text + " : " + lhsType.print() + ", " + rhsType.print() + " -> " + type.print(), type);
}

void mlir::sgd::fuzz::addConvolution(Program& program) {
  Choices& choices = program.choices;
  int64_t spatial = choices.pick({1, 2, 0, 3}), budget = 600;
  Shape features = chooseSizes(program, 4, budget);  // batch, group, input, output
  Shape lhs = {features[0]}, rhs, result = {features[0]};
  std::vector<int64_t> strides, low, high, lhsDilations, rhsDilations;
  for (int64_t dim = 0; dim < spatial; ++dim) {
    int64_t size = std::min<int64_t>(program.chooseSize(), 12), kernel = choices.pick({3, 1, 2, 5});
    strides.push_back(choices.pick({1, 1, 2, 3}));
    lhsDilations.push_back(choices.pick({1, 1, 1, 2}));
    rhsDilations.push_back(choices.pick({1, 1, 1, 2}));
    low.push_back(static_cast<int64_t>(choices.below(4)) - (choices.chance(10) ? 2 : 0));
    high.push_back(static_cast<int64_t>(choices.below(4)) - (choices.chance(10) ? 2 : 0));
    int64_t padded = (size == 0 ? 0 : (size - 1) * lhsDilations.back() + 1) + low.back() + high.back();
    int64_t window = (kernel - 1) * rhsDilations.back() + 1;
    // Enough padding for one window: smaller tensors have no result, which is a case of its own.
    if (padded < 0) low.back() -= padded, padded = 0;
    lhs.push_back(size);
    rhs.push_back(kernel);
    result.push_back(padded < window ? 0 : (padded - window) / strides.back() + 1);
  }
  lhs = concatenate({lhs, {features[1], features[2]}});
  rhs = concatenate({rhs, {features[1], features[2], features[3]}});
  std::string element = choices.chance(15) ? program.chooseInteger() : program.chooseFloat();
  Type lhsType{lhs, element}, rhsType{rhs, element}, type{concatenate({result, {features[1], features[3]}}), element};
  Value left = program.getOperand(lhsType), right = program.getOperand(rhsType);
  program.addOp("sgd.convolution " + left.name + ", " + right.name + " strides = " + printList(strides) +
                    " low = " + printList(low) + " high = " + printList(high) +
                    " lhs_dilations = " + printList(lhsDilations) + " rhs_dilations = " + printList(rhsDilations) +
                    " : " + lhsType.print() + ", " + rhsType.print() + " -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addReduce(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(0, 4);
  std::vector<std::string> kinds = {"add", "max", "min", "mul"};
  if (!input.type.isFloat()) kinds = {"add", "max", "min", "mul", "umax", "umin", "and", "or", "xor"};
  std::vector<int64_t> dims =
      choices.subset(input.type.rank(), static_cast<int64_t>(choices.below(input.type.rank() + 1)));
  Type type{{}, input.type.element};
  for (int64_t dim = 0; dim < input.type.rank(); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end()) type.shape.push_back(input.type.shape[dim]);
  program.addOp("sgd.reduce " + choices.pick(kinds) + " " + input.name + " dimensions = " + printList(dims) + " : " +
                    input.type.print() + " -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addCumulative(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(1, 4);
  // Products that a loop multiplies again overflow, and in another order they need not.
  std::vector<std::string> kinds = {"add", "max", "min"};
  if (program.depth == 0) kinds.emplace_back("mul");
  if (!input.type.isFloat()) kinds = {"add", "max", "min", "mul", "umax", "umin", "and", "or", "xor"};
  program.addOp("sgd.cumulative " + choices.pick(kinds) + " " + input.name +
                    " dimension = " + std::to_string(choices.below(input.type.rank())) +
                    (choices.chance(40) ? " reverse" : "") + " : " + input.type.print(),
                input.type);
}
