#include "tests/fuzz/collectives.h"

#include <algorithm>

#include "tests/fuzz/stablehlo_text.h"

using namespace mlir::sgd::fuzz;

namespace {

/// An axis of the mesh, or a sub-axis: the part of its index behind a factor `before`.
struct SubAxis {
  unsigned axis;
  int64_t before, size;
};

/// Ranks as coordinates over sub-axes, the last one fastest.
class Ranks {
 public:
  /// With `choices`, some of the axes of `manual` that can be are cut in two.
  Ranks(Choices* choices, const Mesh& mesh, const Axes& manual) : count(mesh.getNumRanks()) {
    for (unsigned axis = 0; axis < mesh.sizes.size(); ++axis) {
      bool isManual = std::find(manual.begin(), manual.end(), axis) != manual.end();
      int64_t size = mesh.sizes[axis], first = size;
      bool mayCut = choices && isManual && size % 2 == 0 && size > 2;
      if (mayCut && choices->chance(20)) first = choices->chance(50) ? 2 : size / 2;
      auto add = [&](int64_t before, int64_t part) {
        if (isManual) manualSubAxes.push_back(static_cast<unsigned>(subAxes.size()));
        subAxes.push_back({axis, before, part});
      };
      add(1, first);
      if (first < size) add(first, size / first);
    }
  }

  /// Sub-axes of manual axes, by number.
  const Axes& getManual() const { return manualSubAxes; }
  const SubAxis& getSubAxis(unsigned number) const { return subAxes[number]; }
  int64_t getSize(const Axes& axes) const {
    int64_t size = 1;
    for (unsigned axis : axes) size *= subAxes[axis].size;
    return size;
  }
  /// Ranks that differ in `axes` alone, by group, the first axis slowest within.
  std::vector<std::vector<int64_t>> getGroups(const Axes& axes) const {
    std::vector<std::vector<int64_t>> groups;
    for (int64_t rank = 0; rank < count; ++rank) {
      if (getIndex(rank, axes) != 0) continue;
      std::vector<int64_t>& group = groups.emplace_back(getSize(axes));
      for (int64_t other = 0; other < count; ++other)
        if (isAlikeElsewhere(rank, other, axes)) group[getIndex(other, axes)] = other;
    }
    return groups;
  }

 private:
  int64_t get(int64_t rank, unsigned number) const {
    for (size_t later = subAxes.size() - 1; later > number; --later) rank /= subAxes[later].size;
    return rank % subAxes[number].size;
  }
  int64_t getIndex(int64_t rank, const Axes& axes) const {
    int64_t index = 0;
    for (unsigned axis : axes) index = index * subAxes[axis].size + get(rank, axis);
    return index;
  }
  bool isAlikeElsewhere(int64_t rank, int64_t other, const Axes& axes) const {
    for (unsigned subAxis = 0; subAxis < subAxes.size(); ++subAxis)
      if (std::find(axes.begin(), axes.end(), subAxis) == axes.end() && get(rank, subAxis) != get(other, subAxis))
        return false;
    return true;
  }

  std::vector<SubAxis> subAxes;
  Axes manualSubAxes;
  int64_t count;
};

std::string printRows(const std::vector<std::vector<int64_t>>& rows) {
  std::string text;
  for (const std::vector<int64_t>& row : rows) text += (text.empty() ? "" : ", ") + printList(row);
  return "dense<[" + text + "]> : tensor<" + std::to_string(rows.size()) + "x" +
         std::to_string(rows.empty() ? 2 : rows[0].size()) + "xi64>";
}

/// A collective over some of the manual axes, in the program's language.
class Collective {
 public:
  Collective(Program& body, const Axes& manual)
      : body(body), choices(body.choices), manual(manual), ranks(&body.choices, body.mesh, manual) {}

  void add() {
    axes = chooseAxes();
    size = ranks.getSize(axes);
    switch (choices.below(6)) {
      case 0:
        return addAllReduce();
      case 1:
        return addAllGather();
      case 2:
        return addReduceScatter();
      case 3:
        return addAllToAll();
      case 4:
        return addPermute();
      default:
        return addIndex();
    }
  }

 private:
  bool isGraph() const { return body.language == Language::Graph; }

  /// At least one, in any order.
  Axes chooseAxes() {
    auto count = static_cast<int64_t>(ranks.getManual().size());
    std::vector<int64_t> order = choices.permutation(count);
    Axes chosen;
    for (int64_t i = 0, end = 1 + static_cast<int64_t>(choices.below(count)); i < end; ++i)
      chosen.push_back(ranks.getManual()[order[i]]);
    return chosen;
  }

  std::string printGroups() const {
    return "replica_groups = " + printRows(ranks.getGroups(axes)) +
           ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";
  }
  bool isWhole(unsigned axis) const {
    return ranks.getSubAxis(axis).size == body.mesh.sizes[ranks.getSubAxis(axis).axis];
  }
  std::string printAxisList() const {
    std::string text;
    for (unsigned axis : axes) {
      const SubAxis& subAxis = ranks.getSubAxis(axis);
      text += (text.empty() ? "" : ", ") + Mesh::quote(subAxis.axis);
      if (!isWhole(axis)) text += ":(" + std::to_string(subAxis.before) + ")" + std::to_string(subAxis.size);
    }
    return " <@mesh, {" + text + "}>";
  }
  std::string arrow(const Value& input, const Type& type) const {
    return " : (" + input.type.print() + ") -> " + type.print();
  }

  /// The name of a combiner in this language.
  std::string chooseKind(const Type& type) {
    if (type.element == "i1") return choices.pick({"or", "and"});
    std::string kind = choices.pick({"add", "max", "min"});
    return isGraph() || kind == "add" ? kind : kind == "max" ? "maximum" : "minimum";
  }

  /// A value with a dimension that groups of ranks can divide; no dimension where there is none.
  Value chooseDivisible(int64_t& dim) {
    auto divides = [&](int64_t length) { return length > 0 && length % size == 0; };
    Value value =
        body.getAny([&](const Type& type) { return std::any_of(type.shape.begin(), type.shape.end(), divides); },
                    [&] {
                      Shape shape = body.chooseShape(0, 2);
                      shape.insert(shape.begin() + static_cast<int64_t>(choices.below(shape.size() + 1)),
                                   size * choices.pick({1, 2, 3}));
                      return Type{shape, body.chooseElement()};
                    });
    for (dim = 0; !divides(value.type.shape[dim]);) ++dim;
    return value;
  }

  void addAllReduce() {
    Value x = body.getAny(0, 3);
    std::string kind = chooseKind(x.type);
    body.addLine(isGraph() ? "spmd.all_reduce " + kind + "(" + x.name + ")" + printAxisList() + arrow(x, x.type)
                           : "\"stablehlo.all_reduce\"(" + x.name + ") <{" + printGroups() +
                                 ", use_global_device_ids}> " + printCombiner(x, kind) + arrow(x, x.type),
                 x.type);
  }

  void addAllGather() {
    Value x = body.getAny(1, 3);
    auto dim = static_cast<int64_t>(choices.below(x.type.rank()));
    Type type = x.type;
    type.shape[dim] *= size;
    if (type.size() > 4000) return;
    body.addLine(isGraph() ? "spmd.all_gather(" + x.name + ") dims = [" + std::to_string(dim) + "]" + printAxisList() +
                                 arrow(x, type)
                           : "\"stablehlo.all_gather\"(" + x.name + ") <{all_gather_dim = " + std::to_string(dim) +
                                 " : i64, " + printGroups() + ", use_global_device_ids}>" + arrow(x, type),
                 type);
  }

  void addReduceScatter() {
    int64_t dim;
    Value x = chooseDivisible(dim);
    std::string kind = chooseKind(x.type);
    Type type = x.type;
    type.shape[dim] /= size;
    body.addLine(isGraph() ? "spmd.reduce_scatter " + kind + "(" + x.name + ") dims = [" + std::to_string(dim) + "]" +
                                 printAxisList() + arrow(x, type)
                           : "\"stablehlo.reduce_scatter\"(" + x.name +
                                 ") <{scatter_dimension = " + std::to_string(dim) + " : i64, " + printGroups() +
                                 ", use_global_device_ids}> " + printCombiner(x, kind) + arrow(x, type),
                 type);
  }

  void addAllToAll() {
    int64_t split;
    Value x = chooseDivisible(split);
    auto concat = static_cast<int64_t>(choices.below(x.type.rank()));
    Type type = x.type;
    type.shape[split] /= size;
    type.shape[concat] *= size;
    std::string parts = std::to_string(size), from = std::to_string(split), to = std::to_string(concat);
    body.addLine(isGraph() ? "spmd.all_to_all " + x.name + " split = " + from + " concat = " + to + printAxisList() +
                                 " : " + x.type.print() + " -> " + type.print()
                           : "\"stablehlo.all_to_all\"(" + x.name + ") <{split_dimension = " + from +
                                 " : i64, concat_dimension = " + to + " : i64, split_count = " + parts + " : i64, " +
                                 printGroups() + "}>" + arrow(x, type),
                 type);
  }

  /// A rotation, or any pairs, of which some may be missing.
  void addPermute() {
    // sgd.permute_ranks goes over whole axes.
    bool isPart = std::any_of(axes.begin(), axes.end(), [&](unsigned axis) { return !isWhole(axis); });
    if (isGraph() && isPart) return addAllReduce();
    Value x = body.getAny(0, 3);
    bool rotates = choices.chance(50);
    std::vector<int64_t> targets = rotates ? std::vector<int64_t>() : choices.permutation(size);
    int64_t shift = 1 + static_cast<int64_t>(choices.below(size));
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (int64_t i = 0; i < size; ++i)
      if (!choices.chance(20)) pairs.emplace_back(i, rotates ? (i + shift) % size : targets[i]);
    if (pairs.empty()) pairs.emplace_back(0, 0);
    if (isGraph()) {
      std::vector<int64_t> numbers;
      for (auto [from, to] : pairs) numbers.insert(numbers.end(), {from, to});
      body.addLine("sgd.permute_ranks " + x.name + " pairs = " + printList(numbers) + " over" + printAxisList() +
                       " : " + x.type.print(),
                   x.type);
      return;
    }
    std::vector<std::vector<int64_t>> rows;
    for (const std::vector<int64_t>& group : ranks.getGroups(axes))
      for (auto [from, to] : pairs) rows.push_back({group[from], group[to]});
    body.addLine("\"stablehlo.collective_permute\"(" + x.name + ") <{source_target_pairs = " + printRows(rows) +
                     ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}>" + arrow(x, x.type),
                 x.type);
  }

  /// The rank's number, which is added to something.
  void addIndex() {
    Value x = body.getAny([](const Type& type) { return type.isFloat(); },
                          [&] { return Type{body.chooseShape(0, 3), body.chooseFloat()}; });
    Type scalar{{}, x.type.element};
    if (isGraph()) {
      Value id = body.addLine("spmd.partition_id" + printAxisList() + " : tensor<i32>", {{}, "i32"});
      Value number = body.addLine("arith.sitofp " + id.name + " : tensor<i32> to " + scalar.print(), scalar);
      Value wide = body.addLine(
          "sgd.broadcast_in_dim " + number.name + " dims = [] : " + scalar.print() + " -> " + x.type.print(), x.type);
      body.addElementwise("arith.addf", {x, wide}, x.type, x.type.print());
      return;
    }
    // As axis_index is printed: the rank's number over an axis, of the number on the whole mesh.
    Type number{{}, "ui32"};
    int64_t later = 1;
    for (size_t axis = manual.front() + 1; axis < body.mesh.sizes.size(); ++axis) later *= body.mesh.sizes[axis];
    Value rank = body.addLine("stablehlo.partition_id : tensor<ui32>", number);
    Value step = addConstant(body, "ui32", std::to_string(later));
    Value size = addConstant(body, "ui32", std::to_string(body.mesh.sizes[manual.front()]));
    Value row = body.addElementwise("stablehlo.divide", {rank, step}, number, number.print());
    Value id = body.addElementwise("stablehlo.remainder", {row, size}, number, number.print());
    Value real = body.addLine("stablehlo.convert " + id.name + " : (tensor<ui32>) -> " + scalar.print(), scalar);
    Value wide = body.addLine(
        "stablehlo.broadcast_in_dim " + real.name + ", dims = [] : (" + scalar.print() + ") -> " + x.type.print(),
        x.type);
    body.addElementwise("stablehlo.add", {x, wide}, x.type, x.type.print());
  }

  Program& body;
  Choices& choices;
  const Axes& manual;
  Ranks ranks;
  Axes axes;  // of the collective, by sub-axis
  int64_t size = 1;
};

}  // namespace

std::string mlir::sgd::fuzz::printAxes(const Axes& axes) {
  std::string text;
  for (unsigned axis : axes) text += (text.empty() ? "" : ", ") + Mesh::quote(axis);
  return "{" + text + "}";
}

Value mlir::sgd::fuzz::makeUniform(Program& body, const Value& value, const Axes& axes) {
  if (axes.empty()) return value;
  if (body.language == Language::Graph)
    return body.addLine("spmd.broadcast " + value.name + " <@mesh, " + printAxes(axes) + "> : " + value.type.print(),
                        value.type);
  Ranks ranks(nullptr, body.mesh, axes);
  return body.addLine("\"stablehlo.collective_broadcast\"(" + value.name +
                          ") <{replica_groups = " + printRows(ranks.getGroups(ranks.getManual())) +
                          ", channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (" +
                          value.type.print() + ") -> " + value.type.print(),
                      value.type);
}

void mlir::sgd::fuzz::addCollective(Program& body, const Axes& manual) { Collective(body, manual).add(); }
