// Scaled dot-product attention. The forms of single devices give further results, which only PyTorch's derivatives
// read.
#include <cmath>

#include "frontends/torch/aten_op.h"
#include "passes/graph/functions/losses.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Scores of hidden columns are far below all others, so that no row of a softmax is NaN.
constexpr double kHidden = -1e30;

/// Whether the column is at most the row plus what the columns are more.
Value makeCausalMask(AtenOp& op, RankedTensorType scores) {
  RankedTensorType numbers = scores.clone(op.math.getBuilder().getI32Type());
  int64_t rank = scores.getRank();
  Value row = op.math.create<IotaOp>(numbers, rank - 2), column = op.math.create<IotaOp>(numbers, rank - 1);
  return op.math.isAtLeast(row, column);
}

/// Repeats `value` along leading dimensions, those in front of its last `kept` ones.
Value widenLeading(TensorMath& math, Value value, ArrayRef<int64_t> leading, size_t kept) {
  SmallVector<int64_t> own(shapeOf(value)), wide(leading);
  if (own.size() < kept) return value;
  llvm::append_range(wide, ArrayRef(own).take_back(kept));
  while (own.size() < wide.size()) own.insert(own.begin(), 1);
  return stretch(math, math.reshape(value, own), wide);
}

/// q [.., h, m, d], k and v [.., h, n, d]; fewer heads of k and v are shared where `enable_gqa` says so.
LogicalResult lowerAttention(AtenOp& op) {
  Value query = op.tensor("query"), key = op.tensor("key"), value = op.tensor("value");
  // Heads are dimension -3; where fewer of them are shared, only those in front of them are broadcast.
  size_t last = op.flag("enable_gqa", false) ? 3 : 2;
  SmallVector<int64_t> leading;
  for (Value tensor : {query, key, value}) {
    ArrayRef<int64_t> shape = shapeOf(tensor);
    widenShape(leading, shape.drop_back(std::min(last, shape.size())));
  }
  for (Value* tensor : {&query, &key, &value}) *tensor = widenLeading(op.math, *tensor, leading, last);
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
  Value scores = multiplyMatrices(op.math, query, key, /*isTransposed=*/true);
  RankedTensorType type = tensorType(scores);
  scores = op.math.multiply(scores, op.math.splat(type, scale));
  Value hidden = op.math.splat(type, kHidden);
  if (op.flag("is_causal", false)) scores = op.math.select(makeCausalMask(op, type), scores, hidden);
  if (Value mask = op.tensor(op.has("attn_bias") ? "attn_bias" : "attn_mask")) {
    bool isBoolean = tensorType(mask).getElementType().isInteger(1);
    Value wide = op.expand(isBoolean ? mask : op.convert(mask, type.getElementType()), type.getShape());
    scores = isBoolean ? op.math.select(wide, scores, hidden) : op.math.add(scores, wide);
  }
  Value weights = writeSoftmax(op.math, scores, type.getRank() - 1, /*isLogarithm=*/false);
  Value kept;
  if (op.number("dropout_p", 0) > 0) weights = op.dropOut(weights, op.number("dropout_p", 0), kept);
  return op.finish(multiplyMatrices(op.math, weights, value));
}

}  // namespace

void mlir::sgd::torch::addAttentionOps(OpTable& table) {
  enter(table,
        {"scaled_dot_product_attention.default", "_scaled_dot_product_flash_attention_for_cpu.default",
         "_scaled_dot_product_flash_attention.default", "_scaled_dot_product_efficient_attention.default",
         "_scaled_dot_product_attention_math.default"},
        {lowerAttention, {"query", "key", "value"}, 2});
}
