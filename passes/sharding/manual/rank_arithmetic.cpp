// Ranks are few and scalars are integers: every value is kept for every rank.
#include "passes/sharding/manual/rank_arithmetic.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::sgd;

/// Index of `rank` along `axis`.
static int64_t getCoordinate(MeshAttr mesh, int64_t rank, unsigned axis) {
  for (unsigned later = mesh.getAxes().size() - 1; later > axis; --later) rank /= mesh.getAxes()[later].getSize();
  return rank % mesh.getAxes()[axis].getSize();
}

/// The result of `op` on scalars, or nullopt for other ops. Division is total, as sgd's is; by zero it is left alone.
static std::optional<APInt> compute(Operation* op, ArrayRef<APInt> in, unsigned width) {
  using Result = std::optional<APInt>;
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](arith::AddIOp) { return in[0] + in[1]; })
      .Case([&](arith::SubIOp) { return in[0] - in[1]; })
      .Case([&](arith::MulIOp) { return in[0] * in[1]; })
      .Case([&](DivUIOp) -> Result { return in[1].isZero() ? Result() : in[0].udiv(in[1]); })
      .Case([&](RemUIOp) -> Result { return in[1].isZero() ? Result() : in[0].urem(in[1]); })
      .Case([&](DivSIOp) -> Result { return in[1].isZero() ? Result() : in[0].sdiv(in[1]); })
      .Case([&](RemSIOp) -> Result { return in[1].isZero() ? Result() : in[0].srem(in[1]); })
      .Case([&](arith::ExtUIOp) { return in[0].zext(width); })
      .Case([&](arith::ExtSIOp) { return in[0].sext(width); })
      .Case([&](arith::TruncIOp) { return in[0].trunc(width); })
      .Default([](Operation*) { return std::nullopt; });
}

bool RankArithmetic::learn(Operation* op) {
  if (op->getNumResults() != 1) return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getRank() != 0 || !isa<IntegerType>(type.getElementType())) return false;
  unsigned width = type.getElementTypeBitWidth();
  int64_t ranks = mesh.getNumRanks();
  RankValues values;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements) return false;
    values.assign(ranks, *elements.getValues<APInt>().begin());
  } else if (auto id = dyn_cast<spmd::PartitionIdOp>(op)) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t index = 0;
      for (unsigned axis : cut.find(id.getAxes().getAxes()))
        index = index * mesh.getAxes()[axis].getSize() + getCoordinate(mesh, rank, axis);
      values.push_back(APInt(width, index));
    }
  } else {
    for (Value operand : op->getOperands())
      if (!known.count(operand)) return false;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      SmallVector<APInt, 2> in;
      for (Value operand : op->getOperands()) in.push_back(known[operand][rank]);
      std::optional<APInt> value = in.empty() ? std::nullopt : compute(op, in, width);
      if (!value) return false;
      values.push_back(*value);
    }
  }
  known[op->getResult(0)] = std::move(values);
  return true;
}

/// By axis: how far apart the numbers of ranks are that are neighbours along it.
static SmallVector<int64_t> getStrides(MeshAttr mesh) {
  SmallVector<int64_t> strides;
  int64_t stride = mesh.getNumRanks();
  for (MeshAxisAttr axis : mesh.getAxes()) strides.push_back(stride /= axis.getSize());
  return strides;
}

AxisIndices RankArithmetic::getAxes(Value original) const {
  const RankValues& values = known.at(original);
  SmallVector<int64_t> strides = getStrides(mesh);
  AxisIndices axes;
  // An axis matters when a rank's value is not that of the rank with index 0 along it.
  auto matters = [&](unsigned axis) {
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
      if (values[rank] != values[rank - getCoordinate(mesh, rank, axis) * strides[axis]]) return true;
    return false;
  };
  for (unsigned axis = 0; axis < mesh.getAxes().size(); ++axis)
    if (matters(axis)) axes.push_back(axis);
  return axes;
}

Batched RankArithmetic::materialise(Location loc, Value original, BatchBuilder& batch) const {
  const RankValues& values = known.at(original);
  AxisIndices axes = getAxes(original);
  SmallVector<int64_t> strides = getStrides(mesh);
  RankedTensorType type = batch.getBatchedType(axes, original.getType());
  SmallVector<APInt> elements;
  for (int64_t element = 0; element < type.getNumElements(); ++element) {
    int64_t rank = 0, rest = element;
    for (unsigned axis : llvm::reverse(axes)) {
      rank += rest % batch.getSize(axis) * strides[axis];
      rest /= batch.getSize(axis);
    }
    elements.push_back(values[rank]);
  }
  return {arith::ConstantOp::create(batch.getBuilder(), loc, DenseElementsAttr::get(type, elements)), axes};
}
