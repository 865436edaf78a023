// Pictures of other sizes, and pictures sampled at a grid. Of sizes that are known, which elements each one is made of
// is too.
#include <cmath>

#include "frontends/torch/aten_op.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Of R. Keys, "Cubic convolution interpolation", 1981; PyTorch's free parameter.
constexpr double kCubic = -0.75;

/// Weights of the four neighbours of a point that is `t` behind the second one.
std::array<double, 4> getCubicWeights(double t) {
  auto inner = [](double x) { return ((kCubic + 2) * x - (kCubic + 3)) * x * x + 1; };
  auto outer = [](double x) { return ((kCubic * x - 5 * kCubic) * x + 8 * kCubic) * x - 4 * kCubic; };
  return {outer(t + 1), inner(t), inner(1 - t), outer(2 - t)};
}

enum class Resampling { Nearest, NearestExact, Linear, Cubic };

/// One of the elements that each result element is a weighted sum of.
struct Tap {
  SmallVector<int64_t> indices;
  SmallVector<double> weights;  // empty: all 1
};

struct Axis {
  int64_t from, to;
  double scale;  // elements of the operand per element of the result
  bool alignsCorners;
};

/// PyTorch finds elements in f32.
SmallVector<Tap> getTaps(const Axis& axis, Resampling kind) {
  bool isNearest = kind == Resampling::Nearest || kind == Resampling::NearestExact;
  SmallVector<Tap> taps(isNearest ? 1 : kind == Resampling::Linear ? 2 : 4);
  auto scale = static_cast<float>(axis.scale);
  auto clamp = [&](int64_t index) { return std::clamp<int64_t>(index, 0, axis.from - 1); };
  for (int64_t at = 0; at < axis.to; ++at) {
    auto place = static_cast<float>(at);
    if (isNearest) {
      float offset = kind == Resampling::NearestExact ? 0.5F : 0.0F;
      taps[0].indices.push_back(clamp(static_cast<int64_t>(std::floor((place + offset) * scale))));
      continue;
    }
    float source = axis.alignsCorners ? scale * place : scale * (place + 0.5F) - 0.5F;
    if (kind == Resampling::Linear) source = std::max(source, 0.0F);
    auto first = static_cast<int64_t>(std::floor(source));
    double t = source - std::floor(source);
    if (kind == Resampling::Linear) {
      double weights[] = {1 - t, t};
      for (int64_t k = 0; k < 2; ++k)
        taps[k].indices.push_back(clamp(first + k)), taps[k].weights.push_back(weights[k]);
    } else {
      std::array<double, 4> weights = getCubicWeights(t);
      for (int64_t k = 0; k < 4; ++k)
        taps[k].indices.push_back(clamp(first + k - 1)), taps[k].weights.push_back(weights[k]);
    }
  }
  return taps;
}

/// A whole factor repeats elements.
Value repeatElements(TensorMath& math, Value value, int64_t dim, int64_t factor) {
  SmallVector<int64_t> wide(shapeOf(value)), dims, merged(wide);
  wide.insert(wide.begin() + dim + 1, factor);
  merged[dim] *= factor;
  for (int64_t at = 0; at < static_cast<int64_t>(merged.size()); ++at) dims.push_back(at <= dim ? at : at + 1);
  return math.reshape(math.broadcast(value, dims, wide), merged);
}

Value resample(AtenOp& op, Value value, int64_t dim, const Axis& axis, Resampling kind) {
  bool isNearest = kind == Resampling::Nearest || kind == Resampling::NearestExact;
  if (isNearest && axis.to % axis.from == 0 &&
      axis.scale * static_cast<double>(axis.to) == static_cast<double>(axis.from))
    return repeatElements(op.math, value, dim, axis.to / axis.from);
  Value sum;
  for (const Tap& tap : getTaps(axis, kind)) {
    Value part = takeAlong(op.math, value, op.vector(tap.indices), dim);
    if (!tap.weights.empty()) {
      Type element = tensorType(part).getElementType();
      part = op.math.multiply(part, op.math.broadcast(op.vector(tap.weights, element), dim, shapeOf(part)));
    }
    sum = sum ? op.math.add(sum, part) : part;
  }
  return sum;
}

/// The factor that the op names for spatial dimension `number` of `rank`; 0: none.
double getFactor(AtenOp& op, int64_t number, int64_t rank) {
  SmallVector<double> factors = op.numbers("scale_factors");
  if (!factors.empty()) return number < static_cast<int64_t>(factors.size()) ? factors[number] : 0;
  static constexpr StringRef kNames[] = {"scales_d", "scales_h", "scales_w"};
  return rank == 1 ? op.number("scales", 0) : op.number(kNames[3 - rank + number], 0);
}

template <int64_t rank, Resampling kind>
LogicalResult lowerUpsample(AtenOp& op) {
  Value value = op.tensor(op.has("self") ? "self" : "input");
  if (!value || tensorType(value).getRank() != rank + 2 || op.type().getRank() != rank + 2)
    return op.error() << "has an operand that does not fit; expected batches, channels and " << rank << " dimensions";
  bool alignsCorners = op.flag("align_corners", false);
  // Narrow floats are weighted in f32.
  bool isNarrow = isa<FloatType>(op.element()) && op.element().getIntOrFloatBitWidth() < 32;
  if (isNarrow) value = op.convert(value, op.math.getBuilder().getF32Type());
  for (int64_t number = 0; number < rank; ++number) {
    Axis axis{shapeOf(value)[number + 2], op.type().getDimSize(number + 2), 1, alignsCorners};
    if (axis.from < 1 || axis.to < 1 || axis.to > (1 << 20))
      return op.error() << "makes " << axis.to << " of " << axis.from << " elements; expected 1 to " << (1 << 20);
    double factor = getFactor(op, number, rank);
    if (alignsCorners)
      axis.scale = axis.to > 1 ? static_cast<double>(axis.from - 1) / static_cast<double>(axis.to - 1) : 0;
    else
      axis.scale = factor > 0 ? 1 / factor : static_cast<double>(axis.from) / static_cast<double>(axis.to);
    value = resample(op, value, number + 2, axis, kind);
  }
  return op.finish(op.convert(value, op.element()));
}

// Grids
// -----------------------------------------------------------------------------------------------------------------

/// Samples pictures [N, C, s..] at points [N, p.., dimensions], the last dimension of the picture first.
class GridSampler {
 public:
  enum Mode { Bilinear, NearestPoint, Bicubic };
  enum Padding { Zeros, Border, Reflection };

  explicit GridSampler(AtenOp& op)
      : op(op),
        math(op.math),
        input(op.tensor("input")),
        grid(op.tensor("grid")),
        rank(tensorType(input).getRank() - 2),
        mode(op.integer("interpolation_mode", Bilinear)),
        padding(op.integer("padding_mode", Zeros)),
        alignsCorners(op.flag("align_corners", false)) {}

  LogicalResult lower() {
    if ((rank != 2 && rank != 3) || tensorType(grid).getRank() != rank + 2 || shapeOf(grid).back() != rank ||
        shapeOf(grid)[0] != shapeOf(input)[0] || mode > Bicubic || padding > Reflection)
      return op.error() << "has a grid that does not fit; expected points of 2 or 3 numbers per picture";
    count = 1;
    for (int64_t size : shapeOf(grid).drop_front().drop_back()) count *= size;
    points = RankedTensorType::get({shapeOf(input)[0], count}, tensorType(grid).getElementType());
    SmallVector<int64_t> flat(shapeOf(input).take_front(2));
    pictures = 1;
    for (int64_t size : shapeOf(input).drop_front(2)) pictures *= size;
    flat.push_back(pictures);
    flatInput = math.reshape(input, flat);
    SmallVector<Value> places;
    for (int64_t dim = 0; dim < rank; ++dim) places.push_back(findPlace(dim));
    Value sum = mode == Bicubic        ? sampleCubic(places)
                : mode == NearestPoint ? sampleNearest(places)
                                       : sampleLinear(places);
    return op.finish(math.reshape(sum, op.type().getShape()));
  }

 private:
  int64_t getSize(int64_t dim) const { return shapeOf(input)[dim + 2]; }
  Value number(double value) { return math.splat(points, value); }
  Value scale(Value value, double factor) { return math.multiply(value, number(factor)); }

  /// Points in elements of dimension `dim`.
  Value findPlace(int64_t dim) {
    int64_t component = rank - 1 - dim;
    Value own = math.reshape(takeSlice(math, grid, rank + 1, component, component + 1), points.getShape());
    double size = static_cast<double>(getSize(dim));
    Value moved = math.add(own, number(1));
    Value place =
        alignsCorners ? scale(moved, (size - 1) / 2) : scale(math.subtract(scale(moved, size), number(1)), 0.5);
    return mode == Bicubic ? place : bring(place, dim);
  }

  /// Into the picture, as the padding says.
  Value bring(Value place, int64_t dim) {
    double size = static_cast<double>(getSize(dim));
    if (padding == Zeros) return place;
    if (padding == Reflection)
      place = alignsCorners ? reflect(place, 0, 2 * (size - 1)) : reflect(place, -1, 2 * size - 1);
    return writeClamp(math, place, number(0), number(size - 1));
  }

  /// At the ends, which are twice `low` and `high`.
  Value reflect(Value place, double twiceLow, double twiceHigh) {
    if (twiceLow == twiceHigh) return number(0);
    double low = twiceLow / 2, span = (twiceHigh - twiceLow) / 2;
    Value distance = math.absolute(math.subtract(place, number(low)));
    Value rest = math.create<arith::RemFOp>(distance, number(span));
    Value flips = math.create<math::FloorOp>(math.divide(distance, number(span)));
    Value isEven = math.isEqual(math.create<arith::RemFOp>(flips, number(2)), number(0));
    return math.select(isEven, math.add(rest, number(low)), math.add(math.subtract(number(span), rest), number(low)));
  }

  /// The elements at whole places, 0 outside, times `weight`.
  Value take(ArrayRef<Value> places, Value weight) {
    auto indices = points.clone(math.getBuilder().getI64Type());
    Value position = math.splat(indices, int64_t{0}), isInside;
    for (auto [dim, place] : llvm::enumerate(places)) {
      int64_t size = getSize(static_cast<int64_t>(dim));
      Value own = math.both(math.isAtLeast(place, number(0)), math.isLess(place, number(static_cast<double>(size))));
      isInside = isInside ? math.both(isInside, own) : own;
      Value clamped = writeClamp(math, place, number(0), number(static_cast<double>(size - 1)));
      Value index = math.create<FPToSIOp>(indices, clamped);
      position = math.add(math.multiply(position, math.splat(indices, size)), index);
    }
    ArrayRef<int64_t> shape = shapeOf(flatInput);
    SmallVector<int64_t> result{shape[0], shape[1], count}, slice{1, shape[1], 1};
    Value elements = math.create<GatherOp>(
        tensorType(flatInput).clone(result), flatInput, position, /*offset_dims=*/ArrayRef<int64_t>{1},
        /*collapsed_slice_dims=*/ArrayRef<int64_t>{2}, /*operand_batching_dims=*/ArrayRef<int64_t>{0},
        /*indices_batching_dims=*/ArrayRef<int64_t>{0}, /*start_index_map=*/ArrayRef<int64_t>{2},
        /*index_vector_dim=*/2, slice, /*unsigned_indices=*/false);
    int64_t dims[] = {0, 2};
    Value own = weight ? weight : number(1);
    own = math.broadcast(math.select(isInside, own, number(0)), dims, result);
    return math.multiply(elements, own);
  }

  Value sampleNearest(ArrayRef<Value> places) {
    SmallVector<Value> rounded;
    for (Value place : places) rounded.push_back(math.create<math::RoundEvenOp>(place));
    return take(rounded, {});
  }

  Value sampleLinear(ArrayRef<Value> places) {
    Value sum;
    for (int64_t corner = 0; corner < (1 << rank); ++corner) {
      SmallVector<Value> at;
      Value weight;
      for (auto [dim, place] : llvm::enumerate(places)) {
        Value first = math.create<math::FloorOp>(place), t = math.subtract(place, first);
        bool isSecond = (corner >> dim) & 1;
        Value own = isSecond ? t : math.subtract(number(1), t);
        at.push_back(isSecond ? math.add(first, number(1)) : first);
        weight = weight ? math.multiply(weight, own) : own;
      }
      Value part = take(at, weight);
      sum = sum ? math.add(sum, part) : part;
    }
    return sum;
  }

  /// ((a x + b) x + c) x + d.
  Value cubic(Value x, double a, double b, double c, double d) {
    Value sum = math.add(scale(x, a), number(b));
    sum = math.add(math.multiply(sum, x), number(c));
    return math.add(math.multiply(sum, x), number(d));
  }

  SmallVector<Value> cubicWeights(Value t) {
    auto inner = [&](Value x) { return cubic(x, kCubic + 2, -(kCubic + 3), 0, 1); };
    auto outer = [&](Value x) { return cubic(x, kCubic, -5 * kCubic, 8 * kCubic, -4 * kCubic); };
    Value one = number(1);
    return {outer(math.add(t, one)), inner(t), inner(math.subtract(one, t)), outer(math.subtract(number(2), t))};
  }

  /// Four taps along each dimension.
  Value sampleCubic(ArrayRef<Value> places) {
    SmallVector<SmallVector<Value>> taps(rank), weights(rank);
    for (auto [dim, place] : llvm::enumerate(places)) {
      Value first = math.create<math::FloorOp>(place);
      weights[dim] = cubicWeights(math.subtract(place, first));
      for (int64_t tap = 0; tap < 4; ++tap) {
        Value at = bring(math.add(first, number(static_cast<double>(tap - 1))), static_cast<int64_t>(dim));
        // Reflected places are whole, but for roundings.
        taps[dim].push_back(math.create<math::RoundEvenOp>(at));
      }
    }
    Value sum;
    for (int64_t corner = 0; corner < int64_t{1} << (2 * rank); ++corner) {
      SmallVector<Value> at;
      Value weight;
      for (int64_t dim = 0; dim < rank; ++dim) {
        int64_t tap = (corner >> (2 * (rank - 1 - dim))) & 3;
        at.push_back(taps[dim][tap]);
        weight = weight ? math.multiply(weight, weights[dim][tap]) : weights[dim][tap];
      }
      Value part = take(at, weight);
      sum = sum ? math.add(sum, part) : part;
    }
    return sum;
  }

  AtenOp& op;
  TensorMath& math;
  Value input, grid, flatInput;
  int64_t rank, mode, padding;
  bool alignsCorners;
  int64_t count = 0, pictures = 0;
  RankedTensorType points;  // [N, points of a picture]
};

LogicalResult lowerGridSampler(AtenOp& op) {
  if (tensorType(op.tensor("input")).getElementType() != tensorType(op.tensor("grid")).getElementType() ||
      !isa<FloatType>(op.element()))
    return op.error() << "has pictures and points of different types; expected floats of one type";
  return GridSampler(op).lower();
}

/// The points of a grid after an affine map: theta [N, d, d + 1].
LogicalResult lowerAffineGrid(AtenOp& op) {
  Value theta = op.tensor("theta");
  ArrayRef<int64_t> shape = op.type().getShape();
  int64_t rank = op.type().getRank() - 2, count = 1;
  if (rank < 1 || tensorType(theta).getRank() != 3 || shapeOf(theta)[1] != rank || shapeOf(theta)[2] != rank + 1)
    return op.error() << "has maps that do not fit; expected a matrix per picture";
  for (int64_t size : shape.drop_front().drop_back()) count *= size;
  SmallVector<Value> columns;
  SmallVector<int64_t> sizes(shape.drop_front().drop_back());
  auto picture = RankedTensorType::get(sizes, op.element());
  for (int64_t component = 0; component < rank; ++component) {
    int64_t dim = rank - 1 - component, size = sizes[dim];
    SmallVector<double> places;
    for (int64_t at = 0; at < size; ++at) {
      double place = size > 1 ? -1 + 2 * static_cast<double>(at) / static_cast<double>(size - 1) : 0;
      places.push_back(
          op.flag("align_corners", false) ? place : place * static_cast<double>(size - 1) / static_cast<double>(size));
    }
    columns.push_back(op.math.reshape(op.math.broadcast(op.vector(places, op.element()), dim, sizes), {count, 1}));
  }
  columns.push_back(op.math.splat(picture.clone(ArrayRef<int64_t>{count, 1}), 1.0));
  Value base = op.math.concatenate(columns, 1);
  // [count, d + 1] times [N, d, d + 1].
  Value product = op.math.create<DotGeneralOp>(tensorType(theta).clone(ArrayRef<int64_t>{count, shape[0], rank}), base,
                                               theta, ArrayRef<int64_t>{}, ArrayRef<int64_t>{}, ArrayRef<int64_t>{1},
                                               ArrayRef<int64_t>{2}, /*tf32=*/false);
  return op.finish(op.math.reshape(op.math.transpose(product, {1, 0, 2}), shape));
}

}  // namespace

void mlir::sgd::torch::addResampleOps(OpTable& table) {
  using R = Resampling;
  auto add = [&](StringRef name, LowerFn lower) {
    for (StringRef form : {".default", ".vec"}) table[(name + form).str()] = {lower, {}};
  };
  add("upsample_nearest1d", lowerUpsample<1, R::Nearest>);
  add("upsample_nearest2d", lowerUpsample<2, R::Nearest>);
  add("upsample_nearest3d", lowerUpsample<3, R::Nearest>);
  add("_upsample_nearest_exact1d", lowerUpsample<1, R::NearestExact>);
  add("_upsample_nearest_exact2d", lowerUpsample<2, R::NearestExact>);
  add("_upsample_nearest_exact3d", lowerUpsample<3, R::NearestExact>);
  add("upsample_linear1d", lowerUpsample<1, R::Linear>);
  add("upsample_bilinear2d", lowerUpsample<2, R::Linear>);
  add("upsample_trilinear3d", lowerUpsample<3, R::Linear>);
  add("upsample_bicubic2d", lowerUpsample<2, R::Cubic>);
  enter(table, {"grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default"},
        {lowerGridSampler, {"input", "grid"}, 4});
  enter(table, {"affine_grid_generator.default"}, {lowerAffineGrid, {"theta"}, 3});
}
