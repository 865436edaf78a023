// Attention over positions that are sharded, as sgd-shard-attention looks for it, forward and backward.
#include "tests/fuzz/families.h"

using namespace mlir::sgd::fuzz;

namespace {

class Attention {
 public:
  explicit Attention(Program& program) : program(program), choices(program.choices) {
    int64_t heads = choices.pick<int64_t>({1, 2, 3, 4, 6, 8}), width = choices.pick<int64_t>({3, 4, 8});
    length = choices.pick<int64_t>({8, 12, 16, 17, 24, 29, 32});
    operand = {{heads, length, width}, choices.pick({"f32", "f32", "bf16"})};
    scores = {{heads, length, length}, operand.element};
    rows = {{heads, length}, operand.element};
  }

  void write() {
    bool isCausal = choices.chance(50);
    chooseForm(isCausal);
    Value q = argument(), k = argument(), v = argument(), mask;
    Value s = product(q, k, "[0] x [0]", "[2] x [2]", scores);
    isScaled = choices.chance(50);
    if (isScaled) s = binary("arith.mulf", s, constant("5.000000e-01", scores));
    if (isCausal) mask = causal();
    if (!isCausal && choices.chance(60)) mask = choices.chance(50) ? keys() : window();
    if (!mask.name.empty()) s = select(mask, s, constant("-1.000000e+09", scores));
    Value largest = reduce("max", s);
    Value e = line("math.exp " + binary("arith.subf", s, broadcast(largest)).name + " : " + scores.print(), scores);
    Value p = binary("arith.divf", e, broadcast(reduce("add", e)));
    result(product(p, v, "[0] x [0]", "[2] x [1]", operand));
    if (choices.chance(60)) writeGradients(q, k, v, p, mask);
  }

 private:
  Value line(const std::string& op, const Type& type) { return program.addLine(op, type); }
  Value binary(const std::string& name, const Value& a, const Value& b) {
    return line(name + " " + a.name + ", " + b.name + " : " + a.type.print(), a.type);
  }
  Value constant(const std::string& number, const Type& type) {
    return line("arith.constant dense<" + number + "> : " + type.print(), type);
  }
  Value product(const Value& a, const Value& b, const std::string& batching, const std::string& contracting,
                const Type& type) {
    return line("sgd.dot_general " + a.name + ", " + b.name + " batching = " + batching + " contracting = " +
                    contracting + " : " + a.type.print() + ", " + b.type.print() + " -> " + type.print(),
                type);
  }
  Value select(const Value& mask, const Value& yes, const Value& no) {
    return line("arith.select " + mask.name + ", " + yes.name + ", " + no.name + " : " + mask.type.print() + ", " +
                    yes.type.print(),
                yes.type);
  }
  Value reduce(const std::string& kind, const Value& input) {
    return line(
        "sgd.reduce " + kind + " " + input.name + " dimensions = [2] : " + scores.print() + " -> " + rows.print(),
        rows);
  }
  Value broadcast(const Value& input) {
    return line("sgd.broadcast_in_dim " + input.name + " dims = [0, 1] : " + rows.print() + " -> " + scores.print(),
                scores);
  }

  /// Sharded by position over an axis, perhaps by head over another one.
  Value argument() {
    Value value = program.addArgument(operand);
    if (program.mesh.sizes.empty()) return value;
    if (axis < 0) axis = static_cast<int>(choices.below(program.mesh.sizes.size()));
    return line("sgd.sharding_constraint " + value.name + " <@mesh, [{?}, {" + Mesh::quote(axis) +
                    "}, {?}]> : " + operand.print(),
                operand);
  }
  void result(const Value& value) {
    if (axis >= 0)
      line("sgd.sharding_constraint " + value.name + " <@mesh, [{?}, {" + Mesh::quote(axis) +
               "}, {?}]> : " + operand.print(),
           operand);
  }

  /// What cost would choose for large tensors.
  void chooseForm(bool isCausal) {
    std::vector<std::string> forms = {"", "ring", "ring"};
    if (isCausal) forms.insert(forms.end(), {"striped_ring", "striped_ring"});
    program.attention = choices.pick(forms);
  }

  Value compare(const std::string& predicate, const Value& a, const Value& b) {
    return line("arith.cmpi " + predicate + ", " + a.name + ", " + b.name + " : " + a.type.print(),
                {a.type.shape, "i1"});
  }
  Value spread(const Value& truth) {
    Type all{scores.shape, "i1"};
    return line("sgd.broadcast_in_dim " + truth.name + " dims = [1, 2] : " + truth.type.print() + " -> " + all.print(),
                all);
  }
  Value numbers(int dim) {
    Type type{{length, length}, "i32"};
    return line("sgd.iota dimension = " + std::to_string(dim) + " : " + type.print(), type);
  }
  Value causal() {
    Value i = numbers(0);
    return spread(compare("sge", i, numbers(1)));
  }
  /// The last few positions, or those around.
  Value window() {
    Value i = numbers(0), j = numbers(1), distance = binary("arith.subi", i, j);
    Value size = constant(std::to_string(1 + choices.below(10)), i.type);
    Value low = choices.chance(70) ? compare("sge", i, j)
                                   : compare("sgt", binary("arith.addi", distance, size), constant("0", i.type));
    return spread(binary("arith.andi", low, compare("slt", distance, size)));
  }
  Value keys() {
    Type truth{{length}, "i1"}, all{scores.shape, "i1"};
    Value seen = program.addArgument(truth);
    return line("sgd.broadcast_in_dim " + seen.name + " dims = [2] : " + truth.print() + " -> " + all.print(), all);
  }

  void writeGradients(const Value& q, const Value& k, const Value& v, const Value& p, const Value& mask) {
    Value g = argument();
    Value dp = product(g, v, "[0] x [0]", "[2] x [2]", scores);
    Value mean = reduce("add", binary("arith.mulf", dp, p));
    Value ds = binary("arith.mulf", binary("arith.subf", dp, broadcast(mean)), p);
    if (!mask.name.empty()) ds = select(mask, ds, constant("0.000000e+00", scores));
    if (isScaled) ds = binary("arith.mulf", ds, constant("5.000000e-01", scores));
    result(product(ds, k, "[0] x [0]", "[2] x [1]", operand));
    result(product(ds, q, "[0] x [0]", "[1] x [1]", operand));
    result(product(p, g, "[0] x [0]", "[1] x [1]", operand));
  }

  Program& program;
  Choices& choices;
  Type operand, scores, rows;
  int64_t length;
  bool isScaled = false;
  int axis = -1;  // of positions; -1: none yet
};

}  // namespace

void mlir::sgd::fuzz::addContext(Program& program) { Attention(program).write(); }
