// Transforms each dimension in turn by its definition, in extended precision.
#include "reference/fourier.h"

#include <cmath>

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;
namespace la = ::sgd::linear_algebra;

namespace {

struct Number {
  long double re = 0, im = 0;
};

/// Along the middle dimension of [outer, size, inner].
void transformDim(std::vector<Number>& numbers, int64_t size, int64_t inner, bool isInverse) {
  std::vector<Number> circle(size), line(size);
  const long double step = 2 * std::acos(-1.0L) / static_cast<long double>(size);
  // The sine of a half turn is 0: the middle frequency of reals has no imaginary part.
  auto sine = [&](int64_t k) { return 2 * k == size ? 0 : (isInverse ? 1 : -1) * std::sin(step * k); };
  for (int64_t k = 0; k < size; ++k) circle[k] = {std::cos(step * k), sine(k)};
  for (int64_t begin = 0; begin < static_cast<int64_t>(numbers.size()); ++begin) {
    if (begin / inner % size != 0) continue;
    for (int64_t j = 0; j < size; ++j) line[j] = numbers[begin + j * inner];
    for (int64_t k = 0; k < size; ++k) {
      Number sum;
      for (int64_t j = 0, position = 0; j < size; ++j, position = (position + k) % size) {
        sum.re += line[j].re * circle[position].re - line[j].im * circle[position].im;
        sum.im += line[j].re * circle[position].im + line[j].im * circle[position].re;
      }
      if (isInverse) sum.re /= size, sum.im /= size;
      numbers[begin + k * inner] = sum;
    }
  }
}

/// The parts of element `at` of a tensor of pairs or of two tensors.
struct Parts {
  bool isPaired;
  std::pair<int64_t, int64_t> get(int64_t at) const {
    return isPaired ? std::make_pair(2 * at, 2 * at + 1) : std::make_pair(at, at);
  }
};

/// The numbers that are transformed; of inverse transforms to reals, with the halves that symmetry implies.
std::vector<Number> read(const la::Form& form, int64_t tensor, Operands in) {
  int64_t k = form.k, m = form.m, n = form.n;
  std::vector<Number> numbers(k * m * n);
  if (form.kind == la::Kind::kRealFft) {
    for (int64_t i = 0; i < k * m * n; ++i) numbers[i].re = in[0]->floats[tensor * k * m * n + i];
    return numbers;
  }
  Parts parts{form.Has(la::kPairedOperand)};
  const Tensor &re = *in[0], &im = parts.isPaired ? *in[0] : *in[1];
  int64_t width = form.kind == la::Kind::kFft ? n : n / 2 + 1;
  for (int64_t row = 0; row < k * m; ++row)
    for (int64_t i = 0; i < width; ++i) {
      auto [first, second] = parts.get((tensor * k * m + row) * width + i);
      numbers[row * n + i] = {re.floats[first], im.floats[second]};
    }
  return numbers;
}

void write(const la::Form& form, int64_t tensor, const std::vector<Number>& numbers, ArrayRef<Tensor*> out) {
  int64_t rows = form.k * form.m, n = form.n;
  int64_t width = form.kind == la::Kind::kRealFft ? n / 2 + 1 : n;
  Parts parts{form.Has(la::kPairedResult)};
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < width; ++i) {
      auto [first, second] = parts.get((tensor * rows + row) * width + i);
      out[0]->setFloat(first, static_cast<double>(numbers[row * n + i].re));
      if (form.kind != la::Kind::kInverseRealFft)
        out[parts.isPaired ? 0 : 1]->setFloat(second, static_cast<double>(numbers[row * n + i].im));
    }
}

/// Rows whose last dimension is halved, completed by what a real result implies.
void mirrorRows(std::vector<Number>& numbers, int64_t n) {
  for (int64_t row = 0; row < static_cast<int64_t>(numbers.size()) / n; ++row) {
    Number* line = numbers.data() + row * n;
    line[0].im = 0;
    if (n % 2 == 0) line[n / 2].im = 0;
    for (int64_t i = n / 2 + 1; i < n; ++i) line[i] = {line[n - i].re, -line[n - i].im};
  }
}

}  // namespace

void reference::evaluateTransform(const la::Form& form, int64_t batch, Operands in, ArrayRef<Tensor*> out) {
  bool toReal = form.kind == la::Kind::kInverseRealFft, isInverse = toReal || form.Has(la::kInverse);
  int64_t k = form.k, m = form.m, n = form.n;
  for (int64_t tensor = 0; tensor < batch; ++tensor) {
    std::vector<Number> numbers = read(form, tensor, in);
    // Real rows last: only then are they symmetric.
    if (!toReal) transformDim(numbers, n, 1, isInverse);
    transformDim(numbers, m, n, isInverse);
    transformDim(numbers, k, m * n, isInverse);
    if (toReal) {
      mirrorRows(numbers, n);
      transformDim(numbers, n, 1, isInverse);
    }
    write(form, tensor, numbers, out);
  }
}
