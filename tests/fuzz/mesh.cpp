#include "tests/fuzz/mesh.h"

using namespace mlir::sgd::fuzz;

namespace {

constexpr const char* kNames[] = {"x", "y", "z"};

struct Part {
  std::string text;
  int64_t size;
};

/// An axis whole or as two or more factors of its size.
void addParts(Choices& choices, unsigned axis, int64_t size, std::vector<Part>& parts) {
  if (size == 1 || !choices.chance(30)) return parts.push_back({Mesh::quote(axis), size});
  for (int64_t before = 1; before < size;) {
    std::vector<int64_t> factors;
    for (int64_t factor = 2; before * factor <= size; ++factor)
      if (size % (before * factor) == 0) factors.push_back(factor);
    int64_t factor = choices.pick(factors);
    bool isWhole = before == 1 && factor == size;
    parts.push_back(
        {isWhole ? Mesh::quote(axis) : Mesh::quote(axis) + ":(" + std::to_string(before) + ")" + std::to_string(factor),
         factor});
    before *= factor;
  }
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

Mesh Mesh::choose(Choices& choices) {
  static const std::vector<std::vector<int64_t>> meshes = {
      {2},    {4},    {2, 2}, {3}, {2, 3}, {4, 2}, {2, 2, 2}, {8},    {6},      {5},
      {2, 4}, {3, 2}, {1},    {7}, {1, 4}, {2, 1}, {2, 1, 3}, {8, 1}, {1, 2, 2}};
  return {choices.pick(meshes)};
}

std::string Mesh::quote(unsigned axis) { return std::string("\"") + kNames[axis] + "\""; }

int64_t Mesh::getNumRanks() const {
  int64_t product = 1;
  for (int64_t size : sizes) product *= size;
  return product;
}

std::string Mesh::print() const {
  std::vector<std::string> axes;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    axes.push_back(Mesh::quote(axis) + "=" + std::to_string(sizes[axis]));
  return "[" + join(axes) + "]";
}

std::string mlir::sgd::fuzz::chooseSharding(Choices& choices, const Mesh& mesh, const Shape& shape,
                                            const ShardingOptions& options, Features& features) {
  std::vector<Part> parts;
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) addParts(choices, axis, mesh.sizes[axis], parts);
  std::vector<std::vector<std::string>> dims(shape.size());
  std::vector<std::string> replicated, unreduced;
  std::vector<int64_t> shards(shape.size(), 1);
  bool isSharded = false;
  for (int64_t position : choices.permutation(static_cast<int64_t>(parts.size()))) {
    const Part& part = parts[position];
    std::vector<size_t> dividing;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] % (shards[dim] * part.size) == 0) dividing.push_back(dim);
    bool isUneven = choices.chance(options.unevenPercent) && dividing.size() < shape.size();
    // 0 leaves the axis out.
    if (uint64_t use = choices.below(10); use == 9 && choices.chance(options.partialPercent)) {
      unreduced.push_back(part.text);
    } else if (use == 9) {
      replicated.push_back(part.text);
    } else if (use >= 2 && (isUneven || !dividing.empty())) {
      size_t dim = isUneven ? choices.below(shape.size()) : choices.pick(dividing);
      bool divides = shape[dim] % (shards[dim] * part.size) == 0;
      shards[dim] *= part.size;
      features.hasUneven |= !divides;
      features.hasSeveralAxes |= isSharded || part.text.back() != '"';
      isSharded = true;
      dims[dim].push_back(part.text);
    }
  }
  std::vector<std::string> texts;
  for (std::vector<std::string>& dim : dims) {
    if (choices.chance(15)) dim.push_back("?");
    texts.push_back("{" + join(dim) + "}");
    if (choices.chance(3)) texts.back() += "p" + std::to_string(choices.below(3));
  }
  std::string text = "[" + join(texts) + "]";
  if (!replicated.empty()) text += ", replicated={" + join(replicated) + "}";
  if (!unreduced.empty()) text += ", unreduced={" + join(unreduced) + "}";
  return text;
}
