// Ops that read or write where run-time indices say.
#include "tests/fuzz/families.h"
#include "tests/fuzz/stablehlo_text.h"

#include <algorithm>

using namespace mlir::sgd::fuzz;

namespace {

std::string chooseIndexElement(Choices& choices) { return choices.pick({"i32", "i64", "i8", "i16"}); }

/// How index vectors point into an operand: what gather and scatter have in common.
struct IndexSpace {
  std::vector<int64_t> batching, indexBatching, collapsed, map, windowDims;
  Shape windowSizes;  // of operand dimensions that are neither batching nor collapsed
  Shape batchShape;   // of the indices, without the vectors
  Shape indicesShape;
  int64_t vectorDim = 0;
  Shape resultShape;    // of gathered slices or updates
  int64_t largest = 0;  // of the operand's dimensions

  IndexSpace(Program& program, const Shape& operand);
};

bool contains(const std::vector<int64_t>& list, int64_t number) {
  return std::find(list.begin(), list.end(), number) != list.end();
}

IndexSpace::IndexSpace(Program& program, const Shape& operand) {
  Choices& choices = program.choices;
  auto rank = static_cast<int64_t>(operand.size());
  for (int64_t size : operand) largest = std::max(largest, size);
  batchShape = program.chooseShape(0, 2);
  while (batchShape.size() > 0 && Type{batchShape, ""}.size() > 40) batchShape.back() = 3, batchShape.front() = 2;
  std::vector<int64_t> batchPositions;  // of dimensions of batchShape that go along with the operand's
  for (int64_t dim = 0; dim < rank; ++dim) {
    uint64_t role = choices.below(100);
    if (role >= 85 && batchPositions.size() < batchShape.size()) {
      batching.push_back(dim);
      batchShape[batchPositions.size()] = operand[dim];
      batchPositions.push_back(static_cast<int64_t>(batchPositions.size()));
    } else if (role >= 55 && operand[dim] > 0) {
      collapsed.push_back(dim);
    } else {
      windowSizes.push_back(choices.chance(50) ? operand[dim] : static_cast<int64_t>(choices.below(operand[dim] + 1)));
    }
    if (!contains(batching, dim) && (contains(collapsed, dim) || choices.chance(50))) map.push_back(dim);
  }
  if (choices.chance(30)) {
    std::vector<int64_t> order = choices.permutation(static_cast<int64_t>(map.size())), shuffled;
    for (int64_t position : order) shuffled.push_back(map[position]);
    map = shuffled;
  }
  // Vectors of one number may do without a dimension.
  auto batchRank = static_cast<int64_t>(batchShape.size());
  indicesShape = batchShape;
  vectorDim = choices.chance(30) ? static_cast<int64_t>(choices.below(batchRank + 1)) : batchRank;
  bool isImplicit = vectorDim == batchRank && map.size() == 1 && choices.chance(40);
  if (!isImplicit) indicesShape.insert(indicesShape.begin() + vectorDim, static_cast<int64_t>(map.size()));
  for (int64_t position : batchPositions)
    indexBatching.push_back(position + (!isImplicit && position >= vectorDim ? 1 : 0));
  // Window dimensions of the result lie anywhere between the batch dimensions.
  auto resultRank = batchRank + static_cast<int64_t>(windowSizes.size());
  windowDims = choices.chance(40) ? choices.subset(resultRank, static_cast<int64_t>(windowSizes.size()))
                                  : std::vector<int64_t>();
  if (windowDims.empty())
    for (int64_t dim = batchRank; dim < resultRank; ++dim) windowDims.push_back(dim);
  size_t nextWindow = 0, nextBatch = 0;
  for (int64_t dim = 0; dim < resultRank; ++dim)
    resultShape.push_back(contains(windowDims, dim) ? windowSizes[nextWindow++] : batchShape[nextBatch++]);
}

Value addIndices(Program& program, const IndexSpace& space) {
  Type type{space.indicesShape, chooseIndexElement(program.choices)};
  return program.addArgument(type, Range::numbers(-2, space.largest + 1));
}

std::string printUnsigned(Choices& choices) { return choices.chance(10) ? ", unsigned_indices" : ""; }

/// The body of a scatter: combines an old and a new value.
std::string printScatterBody(Choices& choices, const Value& input) {
  if (!choices.chance(30)) return printCombiner(input, choices.pick({"add", "maximum", "minimum", "multiply"}));
  // The new one, or something that is no op of its own.
  std::string type = printScalar(input),
              ops = choices.chance(50) ? "" : "    %s = stablehlo.subtract %p, %q : " + type + "\n";
  if (input.type.element == "i1") ops = "";
  return "({\n  ^bb0(%p: " + type + ", %q: " + type + "):\n" + ops + "    stablehlo.return " +
         (ops.empty() ? "%q" : "%s") + " : " + type + "\n  })";
}

/// One scalar start for each dimension of `shape`, sometimes outside of it.
std::string addStarts(Program& program, const Shape& shape, std::string& types) {
  std::string names, element = chooseIndexElement(program.choices);
  for (int64_t size : shape) {
    Value start = program.addArgument({{}, element}, Range::numbers(-2, size + 1));
    names += ", " + start.name;
    types += ", " + start.type.print();
  }
  return names;
}

Shape chooseBlock(Choices& choices, const Shape& shape) {
  Shape sizes;
  for (int64_t size : shape) sizes.push_back(choices.chance(40) ? size : static_cast<int64_t>(choices.below(size + 1)));
  return sizes;
}

}  // namespace

void mlir::sgd::fuzz::addGather(Program& program) {
  Value input = program.getAny(1, 3);
  IndexSpace space(program, input.type.shape);
  Value indices = addIndices(program, space);
  Shape sliceSizes;
  size_t next = 0;
  for (int64_t dim = 0; dim < input.type.rank(); ++dim)
    sliceSizes.push_back(contains(space.batching, dim) || contains(space.collapsed, dim) ? 1
                                                                                         : space.windowSizes[next++]);
  // A batching dimension of size 0 has no slice of size 1.
  for (int64_t dim : space.batching)
    if (input.type.shape[dim] == 0) sliceSizes[dim] = 0;
  Type type{space.resultShape, input.type.element};
  if (type.size() > 6000) return;
  if (program.language == Language::Stablehlo) {
    program.addOp("\"stablehlo.gather\"(" + input.name + ", " + indices.name +
                      ") <{dimension_numbers = #stablehlo.gather<offset_dims = " + printList(space.windowDims) +
                      ", collapsed_slice_dims = " + printList(space.collapsed) + ", operand_batching_dims = " +
                      printList(space.batching) + ", start_indices_batching_dims = " + printList(space.indexBatching) +
                      ", start_index_map = " + printList(space.map) + ", index_vector_dim = " +
                      std::to_string(space.vectorDim) + ">, slice_sizes = " + printArray(sliceSizes) + "}> : (" +
                      input.type.print() + ", " + indices.type.print() + ") -> " + type.print(),
                  type);
    return;
  }
  program.addOp("sgd.gather " + input.name + ", " + indices.name + " {offset_dims = " + printArray(space.windowDims) +
                    ", collapsed_slice_dims = " + printArray(space.collapsed) + ", operand_batching_dims = " +
                    printArray(space.batching) + ", indices_batching_dims = " + printArray(space.indexBatching) +
                    ", start_index_map = " + printArray(space.map) +
                    ", index_vector_dim = " + std::to_string(space.vectorDim) +
                    " : i64, slice_sizes = " + printArray(sliceSizes) + printUnsigned(program.choices) + "} : (" +
                    input.type.print() + ", " + indices.type.print() + ") -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addScatter(Program& program) {
  Choices& choices = program.choices;
  Value input = program.getAny(1, 3);
  IndexSpace space(program, input.type.shape);
  Type updatesType{space.resultShape, input.type.element};
  if (updatesType.size() > 6000) return;
  Value indices = addIndices(program, space), updates = program.getOperand(updatesType);
  if (program.language == Language::Stablehlo) {
    program.addOp("\"stablehlo.scatter\"(" + input.name + ", " + indices.name + ", " + updates.name +
                      ") <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " +
                      printList(space.windowDims) + ", inserted_window_dims = " + printList(space.collapsed) +
                      ", input_batching_dims = " + printList(space.batching) + ", scatter_indices_batching_dims = " +
                      printList(space.indexBatching) + ", scatter_dims_to_operand_dims = " + printList(space.map) +
                      ", index_vector_dim = " + std::to_string(space.vectorDim) + ">}> " +
                      printScatterBody(choices, input) + " : (" + input.type.print() + ", " + indices.type.print() +
                      ", " + updatesType.print() + ") -> " + input.type.print(),
                  input.type);
    return;
  }
  std::vector<std::string> kinds = {"add", "set", "max", "min", "mul"};
  if (!input.type.isFloat()) kinds = {"add", "set", "max", "min", "mul", "umax", "umin", "and", "or", "xor"};
  program.addOp("sgd.scatter " + choices.pick(kinds) + " " + input.name + ", " + indices.name + ", " + updates.name +
                    " {update_window_dims = " + printArray(space.windowDims) + ", inserted_window_dims = " +
                    printArray(space.collapsed) + ", input_batching_dims = " + printArray(space.batching) +
                    ", indices_batching_dims = " + printArray(space.indexBatching) +
                    ", scatter_dims_to_operand_dims = " + printArray(space.map) + ", index_vector_dim = " +
                    std::to_string(space.vectorDim) + " : i64" + printUnsigned(choices) + "} : (" + input.type.print() +
                    ", " + indices.type.print() + ", " + updatesType.print() + ") -> " + input.type.print(),
                input.type);
}

void mlir::sgd::fuzz::addDynamicSlice(Program& program) {
  Value input = program.getAny(1, 4);
  Type type{chooseBlock(program.choices, input.type.shape), input.type.element};
  std::string types = input.type.print(), starts = addStarts(program, input.type.shape, types);
  if (program.language == Language::Stablehlo) {
    program.addOp("\"stablehlo.dynamic_slice\"(" + input.name + starts + ") <{slice_sizes = " + printArray(type.shape) +
                      "}> : (" + types + ") -> " + type.print(),
                  type);
    return;
  }
  program.addOp("sgd.dynamic_slice " + input.name + starts + " sizes = " + printList(type.shape) + " : (" + types +
                    ") -> " + type.print(),
                type);
}

void mlir::sgd::fuzz::addDynamicUpdateSlice(Program& program) {
  Value input = program.getAny(1, 4);
  Value update = program.getOperand({chooseBlock(program.choices, input.type.shape), input.type.element});
  std::string types = input.type.print() + ", " + update.type.print(),
              starts = addStarts(program, input.type.shape, types);
  if (program.language == Language::Stablehlo) {
    program.addOp("\"stablehlo.dynamic_update_slice\"(" + input.name + ", " + update.name + starts + ") : (" + types +
                      ") -> " + input.type.print(),
                  input.type);
    return;
  }
  program.addOp("sgd.dynamic_update_slice " + input.name + ", " + update.name + starts + " : (" + types + ") -> " +
                    input.type.print(),
                input.type);
}
