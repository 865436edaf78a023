// Sizes, tables and the ops of each stage; see fft_stages.h.
#include "frontends/stablehlo/complex/fft_stages.h"

using namespace mlir;
using namespace mlir::sgd;

/// Up to this size one matmul is at least as fast as two with a pass between them.
static constexpr int64_t kLargestFactor = 64;
/// A prime is transformed by its table up to this size, which costs as much as the three transforms of a convolution.
static constexpr int64_t kLargestPrime = 400;

static int64_t rankOf(Value x) { return tensorType(x).getRank(); }

Value FftStages::table(ArrayRef<int64_t> shape, const std::function<long double(ArrayRef<int64_t>)>& get) {
  SmallVector<int64_t> position(shape.size(), 0);
  auto type = RankedTensorType::get(shape, element);
  std::vector<double> values;
  values.reserve(type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    values.push_back(static_cast<double>(get(position)) + 0.0);  // no negative zeros
    for (int64_t dim = shape.size() - 1; dim >= 0 && ++position[dim] == shape[dim]; --dim) position[dim] = 0;
  }
  if (element.isF64()) return m.constant(DenseElementsAttr::get(type, ArrayRef<double>(values)));
  std::vector<float> narrow(values.begin(), values.end());
  return m.constant(DenseElementsAttr::get(type, ArrayRef<float>(narrow)));
}

Value FftStages::contract(Value lhs, Value table, ArrayRef<int64_t> lhsDims, ArrayRef<int64_t> tableDims) {
  MLIRContext* context = m.builder.getContext();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rankOf(lhs); ++dim)
    if (!llvm::is_contained(lhsDims, dim)) shape.push_back(shapeOf(lhs)[dim]);
  for (int64_t dim = 0; dim < rankOf(table); ++dim)
    if (!llvm::is_contained(tableDims, dim)) shape.push_back(shapeOf(table)[dim]);
  // Never in a narrower type, whatever the program allows for its own matmuls.
  Attribute highest = stablehlo::PrecisionAttr::get(context, stablehlo::Precision::HIGHEST);
  NamedAttribute attributes[] = {
      m.named("dot_dimension_numbers", stablehlo::DotDimensionNumbersAttr::get(context, {}, {}, lhsDims, tableDims)),
      m.named("precision_config", m.builder.getArrayAttr({highest, highest}))};
  return m.create<stablehlo::DotGeneralOp>(RankedTensorType::get(shape, element), {lhs, table}, attributes);
}

/// Entry (plane in, plane out) of the matrix that multiplies (re, im) by `root`.
static long double entry(Root root, int64_t in, int64_t out) {
  if (in == out) return root.re;
  return in == 0 ? root.im : -root.im;
}

static Root conjugateIf(Root root, int sign) { return sign < 0 ? Root{root.re, -root.im} : root; }

Value FftStages::multiplyByTable(Value planes, int sign, long double factor) {
  int64_t n = shapeOf(planes).back(), last = rankOf(planes) - 1;
  if (n == 1 && factor == 1) return planes;
  Value roots = table({2, n, 2, n}, [&](ArrayRef<int64_t> at) {
    return factor * entry(conjugateIf(rootOfUnity(multiplyModulo(at[1], at[3], n), n), sign), at[0], at[2]);
  });
  return contract(planes, roots, {last - 1, last}, {0, 1});
}

Value FftStages::transform(Value planes, int sign, long double factor) {
  element = getElement(planes);
  int64_t n = shapeOf(planes).back();
  if (n <= kLargestFactor) return multiplyByTable(planes, sign, factor);
  if (int64_t n1 = chooseFactor(n, kLargestFactor); n1 > 1) return split(planes, n1, sign, factor);
  // Its least prime factor is larger than those that are split off.
  return n <= kLargestPrime ? multiplyByTable(planes, sign, factor) : convolve(planes, sign, factor);
}

Value FftStages::multiplyByRoots(Value planes, ArrayRef<int64_t> tableShape, ArrayRef<int64_t> dims, int64_t planeDim,
                                 const std::function<Root(ArrayRef<int64_t>)>& get) {
  // (re, im) times the root's real part, plus (im, re) times its imaginary part with the signs -, +.
  const auto* found = llvm::find(dims, planeDim);
  size_t plane = found - dims.begin();
  Value same = table(tableShape, [&](ArrayRef<int64_t> at) { return get(at).re; });
  Value other = table(tableShape, [&](ArrayRef<int64_t> at) { return at[plane] == 0 ? -get(at).im : get(at).im; });
  auto spread = [&](Value values) { return m.broadcast(values, shapeOf(planes), dims); };
  return m.add(m.mul(planes, spread(same)), m.mul(m.reverse(planes, planeDim), spread(other)));
}

Value FftStages::split(Value planes, int64_t n1, int sign, long double factor) {
  int64_t batch = rankOf(planes) - 2, n = shapeOf(planes).back(), n2 = n / n1;
  SmallVector<int64_t> shape(shapeOf(planes).drop_back());
  shape.append({n1, n2});
  // Element j1 n2 + j2. Over j1: [batch.., 2, j1, j2] to [batch.., j2, 2, k1].
  Value roots = table({2, n1, 2, n1}, [&](ArrayRef<int64_t> at) {
    return factor * entry(conjugateIf(rootOfUnity(multiplyModulo(at[1], at[3], n1), n1), sign), at[0], at[2]);
  });
  Value inner = contract(m.reshape(planes, shape), roots, {batch, batch + 1}, {0, 1});
  inner = multiplyByRoots(inner, {n2, 2, n1}, {batch, batch + 1, batch + 2}, batch + 1, [&](ArrayRef<int64_t> at) {
    return conjugateIf(rootOfUnity(multiplyModulo(at[0], at[2], n), n), sign);
  });
  // Over j2, beside k1: [batch.., k1, 2, j2] to [batch.., k1, 2, k2].
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  SmallVector<int64_t> toLast(order), toFront(order);
  toLast.append({batch + 2, batch + 1, batch});
  toFront.append({batch + 1, batch + 2, batch});
  Value outer = transform(m.transpose(inner, toLast), sign, 1);
  // Element k2 n1 + k1.
  return m.reshape(m.transpose(outer, toFront), shapeOf(planes));
}

Value FftStages::convolve(Value planes, int sign, long double factor) {
  int64_t last = rankOf(planes) - 1, n = shapeOf(planes).back(), size = getSmoothSize(2 * n - 1);
  // j k = (j^2 + k^2 - (j - k)^2) / 2, so the transform is a convolution with chirp(j) = exp(sign pi i j^2 / n).
  auto chirp = [&](int64_t j) { return conjugateIf(rootOfUnity(multiplyModulo(j, j, 2 * n), 2 * n), sign); };
  auto multiplyByChirp = [&](Value x, long double by) {
    return multiplyByRoots(x, {2, n}, {last - 1, last}, last - 1, [&](ArrayRef<int64_t> at) {
      Root root = chirp(at[1]);
      return Root{by * root.re, by * root.im};
    });
  };
  SmallVector<int64_t> rest(shapeOf(planes));
  rest.back() = size - n;
  Value zeros = m.splat(tensorType(planes).clone(rest), 0.0);
  Value padded = m.concatenate({multiplyByChirp(planes, 1), zeros}, last);
  // The filter's transform is a table too.
  std::vector<Root> filter(size, Root{0, 0});
  for (int64_t j = 0; j < n; ++j) {
    Root root = chirp(j);
    filter[j] = filter[(size - j) % size] = {root.re, -root.im};
  }
  filter = transformOnHost(filter);
  Value spectrum = transform(padded, -1, 1);
  spectrum = multiplyByRoots(spectrum, {2, size}, {last - 1, last}, last - 1,
                             [&](ArrayRef<int64_t> at) { return filter[at[1]]; });
  Value convolved = transform(spectrum, 1, 1.0L / size);
  return multiplyByChirp(m.sliceDim(convolved, last, 0, n), factor);
}

Value FftStages::transformReal(Value x) {
  element = getElement(x);
  int64_t last = rankOf(x) - 1, n = shapeOf(x).back(), half = n / 2;
  if (n <= 2 * kLargestFactor || (n % 2 != 0 && n <= kLargestPrime)) {
    Value roots = table({n, 2, half + 1}, [&](ArrayRef<int64_t> at) {
      Root root = rootOfUnity(multiplyModulo(at[0], at[2], n), n);
      return at[1] == 0 ? root.re : -root.im;
    });
    return contract(x, roots, {last}, {0});
  }
  SmallVector<int64_t> shape(shapeOf(x).drop_back());
  if (n % 2 != 0) {
    shape.append({1, n});
    Value re = m.reshape(x, shape);
    Value whole = transform(m.concatenate({re, m.splat(re, 0.0)}, last), -1, 1);
    return m.sliceDim(whole, last + 1, 0, half + 1);
  }
  // Even elements as real parts, odd ones as imaginary parts: the transforms of both are told apart by symmetry.
  shape.append({half, 2});
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, last));
  order.append({last + 1, last});
  Value z = transform(m.transpose(m.reshape(x, shape), order), -1, 1);
  z = m.concatenate({z, m.sliceDim(z, last + 1, 0, 1)}, last + 1);
  Value mirrored = conjugate(m.reverse(z, last + 1), last);
  Value even = m.scale(m.add(z, mirrored), 0.5), odd = m.scale(m.sub(z, mirrored), 0.5);
  // odd / i times exp(-2 pi i k / n)
  odd = multiplyByRoots(odd, {2, half + 1}, {last, last + 1}, last, [&](ArrayRef<int64_t> at) {
    Root root = rootOfUnity(at[1], n);
    return Root{-root.im, -root.re};
  });
  return m.add(even, odd);
}

Value FftStages::conjugate(Value planes, int64_t planeDim) {
  Value signs = table({2}, [](ArrayRef<int64_t> at) { return at[0] == 0 ? 1.0L : -1.0L; });
  return m.mul(planes, m.broadcast(signs, shapeOf(planes), {planeDim}));
}

Value FftStages::ignoreImaginaryEnds(Value planes, int64_t n) {
  int64_t last = rankOf(planes) - 1, count = shapeOf(planes).back();
  auto type = RankedTensorType::get({2, count}, m.builder.getI1Type());
  SmallVector<bool> isRead(2 * count, true);
  isRead[count] = false;
  if (n % 2 == 0) isRead.back() = false;
  Value mask = m.broadcast(m.constant(DenseElementsAttr::get(type, isRead)), shapeOf(planes), {last - 1, last});
  return m.select(mask, planes, m.splat(planes, 0.0));
}

Value FftStages::invertToReal(Value planes, int64_t n) {
  element = getElement(planes);
  int64_t last = rankOf(planes) - 1, half = n / 2;
  planes = ignoreImaginaryEnds(planes, n);
  if (n <= 2 * kLargestFactor || (n % 2 != 0 && n <= kLargestPrime)) {
    Value roots = table({2, half + 1, n}, [&](ArrayRef<int64_t> at) {
      Root root = rootOfUnity(multiplyModulo(at[1], at[2], n), n);
      long double times = at[1] == 0 || 2 * at[1] == n ? 1 : 2;
      return times / n * (at[0] == 0 ? root.re : -root.im);
    });
    return contract(planes, roots, {last - 1, last}, {0, 1});
  }
  Value mirrored = conjugate(m.reverse(planes, last), last - 1);
  SmallVector<int64_t> shape(shapeOf(planes).drop_back(2));
  if (n % 2 != 0) {
    // The elements that symmetry implies.
    Value whole = m.concatenate({planes, m.sliceDim(mirrored, last, 0, half)}, last);
    Value x = m.sliceDim(transform(whole, 1, 1.0L / n), last - 1, 0, 1);
    shape.push_back(n);
    return m.reshape(x, shape);
  }
  Value even = m.scale(m.add(planes, mirrored), 0.5), odd = m.scale(m.sub(planes, mirrored), 0.5);
  // i odd times exp(2 pi i k / n)
  odd = multiplyByRoots(odd, {2, half + 1}, {last - 1, last}, last - 1, [&](ArrayRef<int64_t> at) {
    Root root = rootOfUnity(at[1], n);
    return Root{-root.im, root.re};
  });
  Value z = transform(m.sliceDim(m.add(even, odd), last, 0, half), 1, 1.0L / half);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, last - 1));
  order.append({last, last - 1});
  shape.push_back(n);
  return m.reshape(m.transpose(z, order), shape);
}
