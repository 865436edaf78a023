// Expands fft: to a call on parts, or to matmuls along the last dimensions, one after another.
#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/complex/fft_stages.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/sdy_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class FftExpansion {
 public:
  FftExpansion(ComplexOp& c, stablehlo::FftOp op)
      : c(c), type(op.getFftType()), lengths(op.getFftLength()), stages(c) {}

  LogicalResult run() {
    if (verify().failed()) return failure();
    Type result = c.op->getResult(0).getType();
    auto resultType = cast<RankedTensorType>(getPartType(result));
    // A real transform of no elements has one result, a sum of nothing.
    bool readsNothing = cast<RankedTensorType>(c.op->getOperand(0).getType()).getNumElements() == 0;
    if (readsNothing || resultType.getNumElements() == 0) {
      Value none = c.splat(resultType, 0.0);
      return isComplex(result) ? c.finish(Complex{none, none}) : c.finish(none);
    }
    return c.expander.transformsByMatmuls ? multiply() : call();
  }

 private:
  LogicalResult call() {
    uint32_t options = lengths.size() == 2 ? linear_algebra::kTwoDims : 0u;
    if (lengths.size() == 3) options = linear_algebra::kThreeDims;
    auto create = [&](LinearAlgebraKind kind, uint32_t more, ValueRange operands) {
      return createLinearAlgebra(c.builder, c.loc, kind, options | more, operands);
    };
    if (type == stablehlo::FftType::RFFT) {
      auto op = create(LinearAlgebraKind::RealFft, 0, keepWhole(c.op->getOperand(0)));
      return c.finish(keepWhole(Complex{op.getResult(0), op.getResult(1)}));
    }
    Complex z = keepWhole(c.operand());
    if (type == stablehlo::FftType::IRFFT) {
      uint32_t parity = lengths.back() % 2 == 1 ? linear_algebra::kOddLength : 0u;
      return c.finish(keepWhole(create(LinearAlgebraKind::InverseRealFft, parity, {z.re, z.im}).getResult(0)));
    }
    uint32_t sign = type == stablehlo::FftType::IFFT ? linear_algebra::kInverse : 0u;
    auto op = create(LinearAlgebraKind::Fft, sign, {z.re, z.im});
    return c.finish(keepWhole(Complex{op.getResult(0), op.getResult(1)}));
  }

  LogicalResult multiply() {
    if (type == stablehlo::FftType::IRFFT) {
      Value planes = alongFront(getPlanes(keepWhole(c.operand())), 1);
      return c.finish(keepWhole(stages.invertToReal(planes, lengths.back())));
    }
    Value planes;
    if (type == stablehlo::FftType::RFFT) {
      planes = alongFront(stages.transformReal(keepWhole(c.op->getOperand(0))), -1);
    } else {
      int sign = type == stablehlo::FftType::FFT ? -1 : 1;
      planes = alongFront(alongLast(getPlanes(keepWhole(c.operand())), sign), sign);
    }
    return c.finish(keepWhole(getParts(planes)));
  }

  LogicalResult verify() {  // fft_C1 to fft_C5
    auto from = cast<RankedTensorType>(c.op->getOperand(0).getType());
    auto to = cast<RankedTensorType>(c.op->getResult(0).getType());
    int64_t count = lengths.size(), rank = from.getRank();
    if (count < 1 || count > 3 || rank < count) return c.error() << "expects 1 to 3 lengths, at most its rank";
    bool readsReal = type == stablehlo::FftType::RFFT, givesReal = type == stablehlo::FftType::IRFFT;
    if (isComplex(from) == readsReal || isComplex(to) == givesReal)
      return c.error() << "of type " << stablehlo::stringifyFftType(type) << " does not fit " << from << " and " << to;
    SmallVector<int64_t> whole(from.getShape().drop_back(count));
    llvm::append_range(whole, lengths);
    SmallVector<int64_t> half(whole);
    half.back() = half.back() / 2 + 1;
    if (from.getShape() != ArrayRef(givesReal ? half : whole) || to.getShape() != ArrayRef(readsReal ? half : whole))
      return c.error() << "of lengths [" << lengths << "] does not fit " << from << " and " << to;
    return success();
  }

  Value getPlanes(Complex z) {
    SmallVector<int64_t> shape(tensorType(z.re).getShape());
    int64_t planeDim = static_cast<int64_t>(shape.size()) - 1;
    shape.insert(shape.end() - 1, 1);
    return c.concatenate({c.reshape(z.re, shape), c.reshape(z.im, shape)}, planeDim);
  }

  Complex getParts(Value planes) {
    SmallVector<int64_t> shape(tensorType(planes).getShape());
    int64_t planeDim = static_cast<int64_t>(shape.size()) - 2;
    shape.erase(shape.end() - 2);
    auto part = [&](int64_t index) { return c.reshape(c.sliceDim(planes, planeDim, index, index + 1), shape); };
    return {part(0), part(1)};
  }

  /// Inverse transforms divide by their length.
  Value alongLast(Value planes, int sign) {
    int64_t n = tensorType(planes).getShape().back();
    return stages.transform(planes, sign, sign < 0 ? 1.0L : 1.0L / n);
  }

  /// Along the dimensions before the last one.
  Value alongFront(Value planes, int sign) {
    int64_t rank = tensorType(planes).getRank();  // [.., d3, d2, 2, d1]
    for (int64_t dim = rank - 3; dim > rank - 2 - static_cast<int64_t>(lengths.size()); --dim) {
      auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(order[dim], order[rank - 1]);
      planes = c.transpose(alongLast(c.transpose(planes, order), sign), order);
    }
    return planes;
  }

  /// Transformed dimensions are not sharded; about others nothing is said. Manual computations are local anyway.
  Value keepWhole(Value value) {
    MeshOp mesh = getMesh(c.op->getParentOfType<ModuleOp>());
    if (!mesh || c.op->getParentOfType<sdy::ManualComputationOp>()) return value;
    MLIRContext* context = c.builder.getContext();
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (MeshAxisAttr axis : mesh.getMesh().getAxes()) {
      names.push_back(StringAttr::get(context, axis.getName()));
      sizes.push_back(axis.getSize());
    }
    int64_t rank = tensorType(value).getRank(), batch = rank - static_cast<int64_t>(lengths.size());
    SmallVector<sdy::DimShardingAttr> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims.push_back(sdy::DimShardingAttr::get(context, {}, /*isOpen=*/dim < batch, std::nullopt));
    auto sharding = sdy::ShardingAttr::get(context, sdy::MeshAttr::get(context, names, sizes, {}), dims, {}, {});
    return c.create<sdy::ShardingConstraintOp>(value.getType(), value, c.named("sharding", sharding));
  }
  Complex keepWhole(Complex z) { return {keepWhole(z.re), keepWhole(z.im)}; }

  ComplexOp& c;
  stablehlo::FftType type;
  ArrayRef<int64_t> lengths;
  FftStages stages;
};

LogicalResult expandFft(ComplexOp& c) { return FftExpansion(c, cast<stablehlo::FftOp>(c.op)).run(); }

}  // namespace

void mlir::sgd::addFft(ExpansionTable& table) { table["stablehlo.fft"] = expandFft; }
