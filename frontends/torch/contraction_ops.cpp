// Matmuls and attention.
#include <cmath>

#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// a [.., m, k] times b [.., k, n], or [.., n, k] where it is transposed, with the same leading dimensions.
Value multiply(TensorMath& math, Value a, Value b, bool isTransposed = false) {
  RankedTensorType type = tensorType(a);
  int64_t rank = type.getRank(), free = isTransposed ? rank - 2 : rank - 1;
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = shapeOf(b)[free];
  return math.create<DotGeneralOp>(type.clone(shape), a, b, batch, batch, ArrayRef<int64_t>{rank - 1},
                                   ArrayRef<int64_t>{isTransposed ? rank - 1 : rank - 2}, /*tf32=*/false);
}

LogicalResult lowerLinear(AtenOp& op) {
  Value weight = op.convert(op.tensor("weight"), op.element());
  if (tensorType(weight).getRank() != 2)
    return op.error() << "has a weight of " << tensorType(weight).getRank() << " dimensions; expected 2";

  Value product = multiplyByTransposed(op.math, op.convert(op.tensor("input"), op.element()), weight);
  if (Value bias = op.tensor("bias"))
    product = op.math.add(product, op.expand(op.convert(bias, op.element()), op.type().getShape()));
  return op.finish(product);
}

/// Vectors become matrices; leading dimensions are broadcast. A matrix on the right needs no batch.
LogicalResult lowerMatmul(AtenOp& op) {
  Value a = op.convert(op.tensor("self"), op.element());
  Value b = op.convert(op.has("other")  ? op.tensor("other")
                       : op.has("mat2") ? op.tensor("mat2")
                       : op.has("vec")  ? op.tensor("vec")
                                        : op.tensor("tensor"),
                       op.element());
  SmallVector<int64_t> shapeA(shapeOf(a)), shapeB(shapeOf(b));
  if (shapeA.empty() || shapeB.empty()) return op.error() << "has a scalar as operand; expected vectors or matrices";
  if (shapeA.size() == 1) shapeA.insert(shapeA.begin(), 1);
  if (shapeB.size() == 1) shapeB.push_back(1);
  a = op.math.reshape(a, shapeA);
  b = op.math.reshape(b, shapeB);
  if (shapeB.size() == 2) {
    RankedTensorType type = tensorType(a);
    SmallVector<int64_t> shape(shapeA);
    shape.back() = shapeB[1];
    Value product =
        op.math.create<DotGeneralOp>(type.clone(shape), a, b, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                     ArrayRef<int64_t>{type.getRank() - 1}, ArrayRef<int64_t>{0}, /*tf32=*/false);
    return op.finish(op.math.reshape(product, op.type().getShape()));
  }
  size_t rank = std::max(shapeA.size(), shapeB.size());
  auto fill = [&](SmallVector<int64_t> shape) {
    while (shape.size() < rank) shape.insert(shape.begin(), 1);
    return shape;
  };
  SmallVector<int64_t> wideA = fill(shapeA), wideB = fill(shapeB);
  a = op.math.reshape(a, wideA);
  b = op.math.reshape(b, wideB);
  for (size_t dim = 0; dim + 2 < rank; ++dim) wideA[dim] = wideB[dim] = std::max(wideA[dim], wideB[dim]);
  Value product = multiply(op.math, stretch(op.math, a, wideA), stretch(op.math, b, wideB));
  return op.finish(op.math.reshape(product, op.type().getShape()));
}

/// beta * self + alpha * a b.
LogicalResult lowerAddmm(AtenOp& op) {
  bool isBatched = op.has("batch1");
  Value a = op.convert(op.tensor(isBatched ? "batch1" : "mat1"), op.element()),
        b = op.convert(op.tensor(isBatched ? "batch2" : "mat2"), op.element());
  if (failed(op.requireSameRank(a, b))) return failure();
  if (tensorType(a).getRank() < 2) return op.error() << "has a vector as operand; expected matrices";
  Value product = multiply(op.math, a, b), added = op.operand("self", op.type());
  if (op.number("alpha", 1) != 1) product = op.math.multiply(product, op.splat(op.number("alpha", 1)));
  if (op.number("beta", 1) != 1) added = op.math.multiply(added, op.splat(op.number("beta", 1)));
  return op.finish(op.math.add(product, added));
}

/// Every element of a vector times every element of another.
LogicalResult lowerOuter(AtenOp& op) {
  ArrayRef<int64_t> shape = op.type().getShape();
  Value a = op.convert(op.tensor("self"), op.element()), b = op.convert(op.tensor("vec2"), op.element());
  return op.finish(op.math.multiply(op.math.broadcast(a, 0, shape), op.math.broadcast(b, 1, shape)));
}

/// An einsum of one operand or two, whose labels are letters.
class Einsum {
 public:
  explicit Einsum(AtenOp& op) : op(op), math(op.math) {}

  LogicalResult lower() {
    StringRef equation = op.text("equation", "");
    std::string plain;
    for (char c : equation)
      if (c != ' ') plain += c;
    auto [left, right] = StringRef(plain).split("->");
    SmallVector<StringRef> inputs;
    left.split(inputs, ',');
    SmallVector<Value> operands = op.tensors("tensors");
    if (inputs.size() == operands.size())
      for (auto [labels, operand] : llvm::zip(inputs, operands))
        if (!operand || tensorType(operand).getRank() != static_cast<int64_t>(labels.size()))
          return op.error() << "has the equation '" << equation << "', which does not fit the operands' dimensions";
    bool isSupported = plain.find("->") != std::string::npos && inputs.size() == operands.size() &&
                       (inputs.size() == 1 || inputs.size() == 2) && right.find('.') == StringRef::npos;
    for (StringRef labels : inputs)
      for (char label : labels) isSupported &= llvm::isAlpha(label) && labels.count(label) == 1;
    if (!isSupported)
      return op.error() << "has the equation '" << equation
                        << "'; expected one operand or two, each letter once in an operand, and '->'; write it by "
                           "matmuls and permutes";
    std::string labels = inputs[0].str();
    Value value = op.convert(operands[0], op.element());
    if (inputs.size() == 2)
      value = contract(value, labels, op.convert(operands[1], op.element()), inputs[1].str(), right, labels);
    value = sumOut(value, labels, right);
    SmallVector<int64_t> order;
    for (char label : right) order.push_back(labels.find(label));
    if (right.size() != labels.size() || llvm::is_contained(order, static_cast<int64_t>(std::string::npos)))
      return op.error() << "has the equation '" << equation << "', whose result has other labels than the operands";
    return op.finish(math.transpose(value, order));
  }

 private:
  /// Sums over labels that `kept` has not.
  Value sumOut(Value value, std::string& labels, StringRef kept) {
    SmallVector<int64_t> dims;
    std::string left;
    for (auto [dim, label] : llvm::enumerate(labels)) {
      if (kept.contains(label))
        left += label;
      else
        dims.push_back(dim);
    }
    labels = left;
    return dims.empty() ? value : math.reduce(value, ReduceKind::Add, dims);
  }

  Value contract(Value a, std::string labelsA, Value b, std::string labelsB, StringRef result, std::string& labels) {
    a = sumOut(a, labelsA, labelsB + result.str());
    b = sumOut(b, labelsB, labelsA + result.str());
    SmallVector<int64_t> batchA, batchB, summedA, summedB, shape;
    std::string batch, freeA, freeB;
    for (auto [dim, label] : llvm::enumerate(labelsA)) {
      size_t other = labelsB.find(label);
      if (other == std::string::npos) {
        freeA += label;
      } else if (result.contains(label)) {
        batchA.push_back(dim), batchB.push_back(other), batch += label;
      } else {
        summedA.push_back(dim), summedB.push_back(other);
      }
    }
    for (char label : labelsB)
      if (labelsA.find(label) == std::string::npos) freeB += label;
    labels = batch + freeA + freeB;
    for (char label : labels) {
      size_t own = labelsA.find(label);
      shape.push_back(own != std::string::npos ? shapeOf(a)[own] : shapeOf(b)[labelsB.find(label)]);
    }
    return math.create<DotGeneralOp>(tensorType(a).clone(shape), a, b, batchA, batchB, summedA, summedB,
                                     /*tf32=*/false);
  }

  AtenOp& op;
  TensorMath& math;
};

LogicalResult lowerEinsum(AtenOp& op) { return Einsum(op).lower(); }

/// Scores of hidden columns are far below all others, so that no row of a softmax is NaN.
constexpr double kHidden = -1e30;

/// Whether the column is at most the row plus what the columns are more.
Value makeCausalMask(AtenOp& op, RankedTensorType scores) {
  RankedTensorType numbers = scores.clone(op.math.getBuilder().getI32Type());
  int64_t rank = scores.getRank();
  Value row = op.math.create<IotaOp>(numbers, rank - 2), column = op.math.create<IotaOp>(numbers, rank - 1);
  return op.math.isAtLeast(row, column);
}

/// q [.., h, m, d], k and v [.., h, n, d]; fewer heads of k and v are shared where `enable_gqa` says so.
LogicalResult lowerAttention(AtenOp& op) {
  Value query = op.tensor("query"), key = op.tensor("key"), value = op.tensor("value");
  if (failed(op.requireSameRank(query, key)) || failed(op.requireSameRank(query, value))) return failure();
  auto share = [&](Value shared) {
    ArrayRef<int64_t> shape = shapeOf(shared), wanted = shapeOf(query);
    int64_t rank = shape.size(), heads = rank - 3;
    if (rank < 3 || shape[heads] == wanted[heads]) return shared;
    int64_t copies = shape[heads] ? wanted[heads] / shape[heads] : 0;
    SmallVector<int64_t> wide(shape), dims, merged(shape);
    wide.insert(wide.begin() + heads + 1, copies);
    merged[heads] *= copies;
    for (int64_t dim = 0; dim < rank; ++dim) dims.push_back(dim <= heads ? dim : dim + 1);
    return op.math.reshape(op.math.broadcast(shared, dims, wide), merged);
  };
  key = share(key);
  value = share(value);
  double scale = op.has("scale") ? op.number("scale", 1) : 1 / std::sqrt(static_cast<double>(shapeOf(query).back()));
  Value scores = multiply(op.math, query, key, /*isTransposed=*/true);
  RankedTensorType type = tensorType(scores);
  scores = op.math.multiply(scores, op.math.splat(type, scale));
  Value hidden = op.math.splat(type, kHidden);
  if (op.flag("is_causal", false)) scores = op.math.select(makeCausalMask(op, type), scores, hidden);
  if (Value mask = op.tensor("attn_mask")) {
    bool isBoolean = tensorType(mask).getElementType().isInteger(1);
    Value wide = op.expand(isBoolean ? mask : op.convert(mask, type.getElementType()), type.getShape());
    scores = isBoolean ? op.math.select(wide, scores, hidden) : op.math.add(scores, wide);
  }
  Value weights = writeSoftmax(op.math, scores, type.getRank() - 1, /*isLogarithm=*/false);
  Value kept;
  if (op.number("dropout_p", 0) > 0) weights = op.dropOut(weights, op.number("dropout_p", 0), kept);
  return op.finish(multiply(op.math, weights, value));
}

}  // namespace

void mlir::sgd::torch::addContractionOps(OpTable& table) {
  table["linear.default"] = {lowerLinear, {"input", "weight"}, 1};
  table["matmul.default"] = {lowerMatmul, {"self", "other"}, 1};
  for (StringRef name : {"mm.default", "bmm.default"}) table[name] = {lowerMatmul, {"self", "mat2"}, 2};
  table["mv.default"] = {lowerMatmul, {"self", "vec"}, 2};
  table["dot.default"] = {lowerMatmul, {"self", "tensor"}, 1};
  table["addmm.default"] = {lowerAddmm, {"self", "mat1", "mat2"}};
  table["baddbmm.default"] = {lowerAddmm, {"self", "batch1", "batch2"}};
  table["outer.default"] = {lowerOuter, {"self", "vec2"}, 1};
  table["einsum.default"] = {lowerEinsum, {}};
  table["scaled_dot_product_attention.default"] = {lowerAttention, {"query", "key", "value"}, 2};
}
