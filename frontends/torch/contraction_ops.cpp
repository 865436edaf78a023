// Matmuls and other products of tensors.
#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

Value mlir::sgd::torch::multiplyMatrices(TensorMath& math, Value a, Value b, bool isTransposed) {
  RankedTensorType type = tensorType(a);
  int64_t rank = type.getRank(), free = isTransposed ? rank - 2 : rank - 1;
  auto batch = llvm::to_vector(llvm::seq<int64_t>(0, rank - 2));
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = shapeOf(b)[free];
  return math.create<DotGeneralOp>(type.clone(shape), a, b, batch, batch, ArrayRef<int64_t>{rank - 1},
                                   ArrayRef<int64_t>{isTransposed ? rank - 1 : rank - 2}, /*tf32=*/false);
}

namespace {

/// A weight that is a vector is a matrix of one row.
LogicalResult lowerLinear(AtenOp& op) {
  Value weight = op.convert(op.tensor("weight"), op.element());
  if (tensorType(weight).getRank() == 1) weight = op.math.reshape(weight, {1, shapeOf(weight)[0]});
  if (tensorType(weight).getRank() != 2)
    return op.error() << "has a weight of " << tensorType(weight).getRank() << " dimensions; expected 2";

  Value product = multiplyByTransposed(op.math, op.convert(op.tensor("input"), op.element()), weight);
  product = op.math.reshape(product, op.type().getShape());
  if (Value bias = op.tensor("bias"))
    product = op.math.add(product, op.expand(op.convert(bias, op.element()), op.type().getShape()));
  return op.finish(product);
}

/// x1 [.., i], weight [o, i, j] and x2 [.., j] give [.., o].
LogicalResult lowerBilinear(AtenOp& op) {
  Value a = op.convert(op.tensor("input1"), op.element()), b = op.convert(op.tensor("input2"), op.element()),
        weight = op.convert(op.tensor("weight"), op.element());
  int64_t first = shapeOf(a).back(), second = shapeOf(b).back(),
          rows = first ? tensorType(a).getNumElements() / first : 0;
  if (tensorType(b).getRank() < 1 || tensorType(weight).getRank() != 3 ||
      rows * second != tensorType(b).getNumElements())
    return op.error() << "has operands that do not fit; export the model anew";
  int64_t outputs = shapeOf(weight)[0];
  RankedTensorType type = op.type().clone(ArrayRef<int64_t>{rows, outputs, second});
  Value half =
      op.math.create<DotGeneralOp>(type, op.math.reshape(a, {rows, first}), weight, ArrayRef<int64_t>{},
                                   ArrayRef<int64_t>{}, ArrayRef<int64_t>{1}, ArrayRef<int64_t>{1}, /*tf32=*/false);
  Value product = op.math.create<DotGeneralOp>(
      type.clone(ArrayRef<int64_t>{rows, outputs}), half, op.math.reshape(b, {rows, second}), ArrayRef<int64_t>{0},
      ArrayRef<int64_t>{0}, ArrayRef<int64_t>{2}, ArrayRef<int64_t>{1}, /*tf32=*/false);
  product = op.math.reshape(product, op.type().getShape());
  if (Value bias = op.tensor("bias")) product = op.math.add(product, op.operand("bias", op.type()));
  return op.finish(product);
}

/// Vectors become matrices; leading dimensions are broadcast. A matrix on the right needs no batch.
FailureOr<Value> writeMatmul(AtenOp& op, Value a, Value b) {
  SmallVector<int64_t> shapeA(shapeOf(a)), shapeB(shapeOf(b)), shape;
  if (shapeA.empty() || shapeB.empty()) return op.error() << "has a scalar as operand; expected vectors or matrices";
  bool isRow = shapeA.size() == 1, isColumn = shapeB.size() == 1;
  if (isRow) shapeA.insert(shapeA.begin(), 1);
  if (isColumn) shapeB.push_back(1);
  SmallVector<int64_t> leading(ArrayRef<int64_t>(shapeA).drop_back(2));
  widenShape(leading, ArrayRef<int64_t>(shapeB).drop_back(2));
  shape = leading;
  if (!isRow) shape.push_back(shapeA[shapeA.size() - 2]);
  if (!isColumn) shape.push_back(shapeB.back());
  a = op.math.reshape(a, shapeA);
  b = op.math.reshape(b, shapeB);
  if (shapeB.size() == 2) {
    RankedTensorType type = tensorType(a);
    SmallVector<int64_t> wide(shapeA);
    wide.back() = shapeB[1];
    Value product =
        op.math.create<DotGeneralOp>(type.clone(wide), a, b, ArrayRef<int64_t>{}, ArrayRef<int64_t>{},
                                     ArrayRef<int64_t>{type.getRank() - 1}, ArrayRef<int64_t>{0}, /*tf32=*/false);
    return op.math.reshape(product, shape);
  }
  auto widen = [&](Value value) {
    SmallVector<int64_t> own(shapeOf(value)), wide(leading);
    wide.append(own.end() - 2, own.end());
    while (own.size() < wide.size()) own.insert(own.begin(), 1);
    return stretch(op.math, op.math.reshape(value, own), wide);
  };
  return op.math.reshape(multiplyMatrices(op.math, widen(a), widen(b)), shape);
}

LogicalResult finishMatmul(AtenOp& op, Value a, Value b) {
  FailureOr<Value> product = writeMatmul(op, op.convert(a, op.element()), op.convert(b, op.element()));
  return failed(product) ? failure() : op.finish(*product);
}

LogicalResult lowerMatmul(AtenOp& op) {
  for (StringRef name : {"other", "mat2", "vec", "tensor"})
    if (Value b = op.tensor(name)) return finishMatmul(op, op.tensor("self"), b);
  return op.error() << "has one operand; expected two";
}

/// Products of several matrices, from the left.
LogicalResult lowerMultiDot(AtenOp& op) {
  Value product;
  for (Value matrix : op.tensors(op.has("matrices") ? "matrices" : "tensors")) {
    if (!matrix) continue;
    matrix = op.convert(matrix, op.element());
    FailureOr<Value> next = product ? writeMatmul(op, product, matrix) : FailureOr<Value>(matrix);
    if (failed(next)) return failure();
    product = *next;
  }
  return op.finish(product);
}

/// beta * self + alpha * product; nothing of self where beta is 0.
LogicalResult finishSum(AtenOp& op, Value product) {
  double alpha = op.number("alpha", 1), beta = op.number("beta", 1);
  if (alpha != 1) product = op.math.multiply(product, op.operand("alpha", tensorType(product)));
  if (beta == 0) return op.finish(op.expand(product, op.type().getShape()));
  Value added = op.operand("self", op.type());
  if (beta != 1) added = op.math.multiply(added, op.operand("beta", op.type()));
  return op.finish(op.math.add(op.expand(product, op.type().getShape()), added));
}

/// With the matrices, or a matrix and a vector, that have these names; addbmm adds up a batch of products.
LogicalResult lowerAddmm(AtenOp& op) {
  Value a, b;
  for (auto [first, second] : {std::pair("mat1", "mat2"), std::pair("batch1", "batch2"), std::pair("mat", "vec")})
    if (op.tensor(first) && op.tensor(second)) a = op.tensor(first), b = op.tensor(second);
  if (!a) return op.error() << "has no matrices; expected two";
  FailureOr<Value> product = writeMatmul(op, op.convert(a, op.element()), op.convert(b, op.element()));
  if (failed(product)) return failure();
  if (tensorType(*product).getRank() > op.type().getRank()) product = op.math.reduce(*product, ReduceKind::Add, 0);
  return finishSum(op, *product);
}

/// Every element of a vector times every element of another.
Value writeOuter(AtenOp& op, Value a, Value b) {
  int64_t shape[] = {tensorType(a).getNumElements(), tensorType(b).getNumElements()};
  return op.math.multiply(op.math.broadcast(a, 0, shape), op.math.broadcast(b, 1, shape));
}

LogicalResult lowerOuter(AtenOp& op) {
  return op.finish(
      writeOuter(op, op.convert(op.tensor("self"), op.element()), op.convert(op.tensor("vec2"), op.element())));
}
LogicalResult lowerAddr(AtenOp& op) {
  return finishSum(
      op, writeOuter(op, op.convert(op.tensor("vec1"), op.element()), op.convert(op.tensor("vec2"), op.element())));
}

/// Contracts dimensions of `self` with as many of `other`.
LogicalResult contract(AtenOp& op, ArrayRef<int64_t> ofSelf, ArrayRef<int64_t> ofOther) {
  Value a = op.convert(op.tensor("self"), op.element()), b = op.convert(op.tensor("other"), op.element());
  SmallVector<int64_t> shape;
  auto addFree = [&](Value value, ArrayRef<int64_t> contracted) {
    for (auto [dim, size] : llvm::enumerate(shapeOf(value)))
      if (!llvm::is_contained(contracted, static_cast<int64_t>(dim))) shape.push_back(size);
  };
  addFree(a, ofSelf);
  addFree(b, ofOther);
  // A contracted dimension of size 1 stands for as many equal elements as the other has.
  for (auto [dimA, dimB] : llvm::zip(ofSelf, ofOther)) {
    if (shapeOf(a)[dimA] == shapeOf(b)[dimB]) continue;
    if (shapeOf(a)[dimA] == 1) b = reduceKeeping(op.math, b, ReduceKind::Add, dimB);
    if (shapeOf(b)[dimB] == 1) a = reduceKeeping(op.math, a, ReduceKind::Add, dimA);
  }
  Value product = op.math.create<DotGeneralOp>(tensorType(a).clone(shape), a, b, ArrayRef<int64_t>{},
                                               ArrayRef<int64_t>{}, ofSelf, ofOther, /*tf32=*/false);
  return op.finish(op.math.reshape(product, op.type().getShape()));
}

LogicalResult lowerTensorDot(AtenOp& op) {
  SmallVector<int64_t> ofSelf = op.integers("dims_self"), ofOther = op.integers("dims_other");
  for (int64_t& dim : ofSelf) dim = wrapDim(dim, tensorType(op.tensor("self")).getRank());
  for (int64_t& dim : ofOther) dim = wrapDim(dim, tensorType(op.tensor("other")).getRank());
  if (ofSelf.size() != ofOther.size())
    return op.error() << "contracts " << ofSelf.size() << " dimensions with " << ofOther.size() << "; expected as many";
  return contract(op, ofSelf, ofOther);
}

/// Contracts the last dimensions; a scalar multiplies.
LogicalResult lowerInner(AtenOp& op) {
  int64_t rankA = tensorType(op.tensor("self")).getRank(), rankB = tensorType(op.tensor("other")).getRank();
  if (rankA == 0 || rankB == 0)
    return op.finish(op.math.multiply(op.operand("self", op.type()), op.operand("other", op.type())));
  return contract(op, rankA - 1, rankB - 1);
}

/// Every element of a tensor times all of another: blocks.
LogicalResult lowerKronecker(AtenOp& op) {
  int64_t rank = op.type().getRank();
  auto spread = [&](StringRef name, int64_t side) {
    Value value = op.convert(op.tensor(name), op.element());
    SmallVector<int64_t> own(shapeOf(value)), wide;
    while (static_cast<int64_t>(own.size()) < rank) own.insert(own.begin(), 1);
    for (int64_t size : own)
      wide.append(side == 0 ? std::initializer_list<int64_t>{size, 1} : std::initializer_list<int64_t>{1, size});
    return op.math.reshape(value, wide);
  };
  Value a = spread("self", 0), b = spread("other", 1);
  SmallVector<int64_t> wide(shapeOf(a));
  widenShape(wide, shapeOf(b));
  Value product = op.math.multiply(stretch(op.math, a, wide), stretch(op.math, b, wide));
  return op.finish(op.math.reshape(product, op.type().getShape()));
}

}  // namespace

void mlir::sgd::torch::addContractionOps(OpTable& table) {
  enter(table, {"linear.default"}, {lowerLinear, {"input", "weight"}, 1});
  enter(table, {"bilinear.default"}, {lowerBilinear, {"input1", "input2", "weight"}, 1});
  enter(table, {"matmul.default", "linalg_matmul.default", "__rmatmul__.default"}, {lowerMatmul, {"self", "other"}, 1});
  enter(table, {"mm.default", "bmm.default"}, {lowerMatmul, {"self", "mat2"}, 2});
  enter(table, {"mv.default"}, {lowerMatmul, {"self", "vec"}, 2});
  enter(table, {"dot.default"}, {lowerMatmul, {"self", "tensor"}, 1});
  enter(table, {"vdot.default"}, {lowerMatmul, {"self", "other"}, 1});
  enter(table, {"linalg_multi_dot.default", "chain_matmul.default"}, {lowerMultiDot, {}});
  enter(table, {"addmm.default"}, {lowerAddmm, {"self", "mat1", "mat2"}});
  enter(table, {"addmv.default"}, {lowerAddmm, {"self", "mat", "vec"}});
  enter(table, {"baddbmm.default", "addbmm.default"}, {lowerAddmm, {"self", "batch1", "batch2"}});
  enter(table, {"addr.default"}, {lowerAddr, {"self", "vec1", "vec2"}});
  enter(table, {"outer.default", "ger.default"}, {lowerOuter, {"self", "vec2"}, 1});
  enter(table, {"tensordot.default"}, {lowerTensorDot, {"self", "other"}});
  enter(table, {"inner.default"}, {lowerInner, {"self", "other"}});
  enter(table, {"kron.default"}, {lowerKronecker, {"self", "other"}});
}
