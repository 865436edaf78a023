// Transforms against their definition, for every way that they are computed; the same bits for any number of threads
// and layout of parts.
#include "targets/cpu/device/fft/fft_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "runtime/linear_algebra/form.h"

namespace sgd::cpu {
namespace {

using Complex = std::complex<double>;

// Along the middle one of [outer, size, inner], in extended precision: by definition, long lines by the recursion that
// tables are made by.
void TransformDim(std::vector<Complex>& numbers, uint64_t size, uint64_t inner, bool is_inverse) {
  constexpr uint64_t kLongLine = 128;
  const long double sign = is_inverse ? -1 : 1, scale = is_inverse ? 1 / static_cast<long double>(size) : 1;
  const std::vector<RootOfUnity> circle = CircleOf(size);
  std::vector<RootOfUnity> line(size), transformed(size);
  for (uint64_t begin = 0; begin < numbers.size(); ++begin) {
    if (begin / inner % size != 0) continue;
    for (uint64_t j = 0; j < size; ++j) {
      const Complex number = numbers[begin + j * inner];
      line[j] = {number.real(), sign * number.imag()};
    }
    if (size > kLongLine) transformed = TransformInTables(line);
    for (uint64_t k = 0; k < size && size <= kLongLine; ++k) {
      transformed[k] = {0, 0};
      for (uint64_t j = 0; j < size; ++j) {
        const RootOfUnity root = circle[j * k % size];
        transformed[k].re += line[j].re * root.re - line[j].im * root.im;
        transformed[k].im += line[j].re * root.im + line[j].im * root.re;
      }
    }
    for (uint64_t k = 0; k < size; ++k) {
      numbers[begin + k * inner] = {static_cast<double>(scale * transformed[k].re),
                                    static_cast<double>(scale * sign * transformed[k].im)};
    }
  }
}

// Of a batch: random numbers, symmetric where the result is to be real, and what is to come out.
struct Expected {
  std::vector<Complex> before, after;

  explicit Expected(const FftShape& shape) {
    std::mt19937 random(static_cast<uint32_t>(shape.n + 31 * shape.m + 97 * shape.batch));
    std::normal_distribution<double> normal;
    before.resize(shape.batch * shape.k * shape.m * shape.n);
    for (Complex& number : before) number = {normal(random), shape.kind == FftKind::kComplex ? normal(random) : 0};
    if (shape.kind == FftKind::kToReal) {
      after = before;  // reals, whose forward transform is the operand
      Transform(shape, before, false);
    } else {
      after = before;
      Transform(shape, after, shape.is_inverse);
    }
  }

  static void Transform(const FftShape& shape, std::vector<Complex>& numbers, bool is_inverse) {
    TransformDim(numbers, shape.n, 1, is_inverse);
    TransformDim(numbers, shape.m, shape.n, is_inverse);
    TransformDim(numbers, shape.k, shape.n * shape.m, is_inverse);
  }
};

// A tensor of reals, of two parts, or of pairs, of rows of which the first `width` of `n` elements are kept.
template <typename T>
class Side {
 public:
  Side(uint64_t rows, uint64_t n, uint64_t width, bool is_real, bool is_paired)
      : rows_(rows),
        n_(n),
        width_(width),
        is_real_(is_real),
        is_paired_(is_paired),
        memory_(2 * rows * width + 1, T{-7}) {}

  Numbers<T> numbers() {
    T* data = memory_.data();
    if (is_real_) return {data, nullptr, 1};
    return is_paired_ ? Numbers<T>{data, data + 1, 2} : Numbers<T>{data, data + rows_ * width_, 1};
  }
  void Set(const std::vector<Complex>& values) {
    ForEach([&](uint64_t at, T* re, T* im) {
      *re = static_cast<T>(values[at].real());
      if (im != nullptr) *im = static_cast<T>(values[at].imag());
    });
  }
  std::vector<std::complex<T>> Get() {
    std::vector<std::complex<T>> values;
    ForEach([&](uint64_t, T* re, T* im) { values.emplace_back(*re, im == nullptr ? T{0} : *im); });
    return values;
  }
  double Error(const std::vector<Complex>& expected) {
    double largest = 0, error = 0;
    ForEach([&](uint64_t at, T* re, T* im) {
      const Complex value = {*re, im == nullptr ? 0 : *im};
      largest = std::max(largest, std::abs(expected[at]));
      error = std::max(error, std::abs(value - (im == nullptr ? expected[at].real() : expected[at])));
    });
    return error / largest;
  }
  // Nothing is written behind the tensor.
  bool IsIntact() const { return memory_.back() == T{-7} && (!is_real_ || memory_[rows_ * width_] == T{-7}); }

 private:
  template <typename Body>
  void ForEach(const Body& body) {
    const Numbers<T> data = numbers();
    for (uint64_t row = 0; row < rows_; ++row) {
      for (uint64_t i = 0; i < width_; ++i) {
        const auto offset = static_cast<int64_t>(row * width_ + i) * data.step;
        body(row * n_ + i, data.re + offset, data.im == nullptr ? nullptr : data.im + offset);
      }
    }
  }

  uint64_t rows_, n_, width_;
  bool is_real_, is_paired_;
  std::vector<T> memory_;
};

linear_algebra::Form FormOf(const FftShape& shape) {
  using linear_algebra::Kind;
  const Kind kind = shape.kind == FftKind::kComplex    ? Kind::kFft
                    : shape.kind == FftKind::kFromReal ? Kind::kRealFft
                                                       : Kind::kInverseRealFft;
  return {kind, linear_algebra::kThreeDims, shape.m, shape.n, shape.k};
}

template <typename T>
std::vector<std::complex<T>> RunOnce(const FftShape& shape, const Expected& expected, bool pairs_from, bool pairs_to,
                                     uint32_t threads) {
  const uint64_t rows = shape.batch * shape.k * shape.m, half = shape.n / 2 + 1;
  Side<T> from(rows, shape.n, shape.kind == FftKind::kToReal ? half : shape.n, shape.kind == FftKind::kFromReal,
               pairs_from);
  Side<T> to(rows, shape.n, shape.kind == FftKind::kFromReal ? half : shape.n, shape.kind == FftKind::kToReal,
             pairs_to);
  from.Set(expected.before);
  const auto started = ThreadPool::Start(threads).value();
  ThreadPool& pool = *started;
  ThreadScratch scratch(threads);
  const uint64_t lanes = linear_algebra::LanesFor(FormOf(shape), shape.batch, sizeof(T));
  std::vector<T> workspace(lanes * linear_algebra::WorkspaceOf(FormOf(shape)).Bytes(sizeof(T)) / sizeof(T));
  const Numbers<T> read = from.numbers();
  FftTransform<T> transform(pool, scratch, shape, {read.re, read.im, read.step}, to.numbers(), lanes, workspace.data());
  EXPECT_TRUE(transform.Reserve().ok());
  transform.Run();
  // About the square root of the number of passes in units of the last place.
  EXPECT_LT(to.Error(expected.after), sizeof(T) == 4 ? 1e-6 : 4e-15);
  EXPECT_TRUE(to.IsIntact());
  return to.Get();
}

template <typename T>
void Check(const FftShape& shape) {
  SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(shape.kind) << (shape.is_inverse ? " inverse " : " ")
                                    << shape.batch << " of " << shape.k << "x" << shape.m << "x" << shape.n << ", "
                                    << sizeof(T) << " bytes");
  const Expected expected(shape);
  const auto first = RunOnce<T>(shape, expected, false, false, 1);
  EXPECT_EQ(first, RunOnce<T>(shape, expected, true, true, 3));
  EXPECT_EQ(first, RunOnce<T>(shape, expected, false, true, 2));
  EXPECT_EQ(first, RunOnce<T>(shape, expected, true, false, 1));
}

void CheckKinds(uint64_t batch, uint64_t k, uint64_t m, uint64_t n) {
  Check<float>({FftKind::kComplex, false, batch, k, m, n});
  Check<double>({FftKind::kComplex, true, batch, k, m, n});
  Check<float>({FftKind::kFromReal, false, batch, k, m, n});
  Check<double>({FftKind::kToReal, true, batch, k, m, n});
}

TEST(Fft, AllSmallLengthsFewRows) {
  for (uint64_t n = 1; n <= 70; ++n) CheckKinds(1 + n % 3, 1, 1, n);
}

// In lanes: every radix, one step and two, whole vectors of rows and parts of them.
TEST(Fft, ManyRows) {
  for (uint64_t n : {2, 9, 16, 49, 61, 64, 121, 169, 243, 480, 512, 1000, 1536}) CheckKinds(37, 1, 1, n);
}

// Vectors of a row's own columns; 8,192 and more numbers are cut across threads, 32,768 have roots in two parts.
TEST(Fft, SingleLongRows) {
  for (uint64_t n : {1024, 2187, 4096, 12288, 16384, 16807}) CheckKinds(1, 1, 1, n);
  Check<float>({FftKind::kComplex, false, 1, 1, 1, 32768});
}

// Convolutions.
TEST(Fft, LargePrimes) {
  for (uint64_t n : {67, 101, 499, 1009, 2018}) CheckKinds(3, 1, 1, n);
}

TEST(Fft, SeveralDimensions) {
  CheckKinds(2, 1, 8, 8);
  CheckKinds(5, 1, 7, 5);
  CheckKinds(1, 1, 480, 16);
  CheckKinds(3, 6, 4, 10);
  CheckKinds(2, 16, 16, 16);
  CheckKinds(1, 3, 67, 9);   // columns of a large prime
  CheckKinds(2, 5, 12, 1);   // rows of one number
  CheckKinds(1, 1, 100, 2);  // columns that would not fill lanes
}

TEST(Fft, NothingToDo) {
  const auto started = ThreadPool::Start(1).value();
  ThreadPool& pool = *started;
  ThreadScratch scratch(1);
  FftTransform<float> transform(pool, scratch, {FftKind::kComplex, false, 0, 1, 1, 8}, {nullptr, nullptr, 1},
                                {nullptr, nullptr, 1}, 1, nullptr);
  ASSERT_TRUE(transform.Reserve().ok());
  transform.Run();
}

// Kernels of each instruction set that this machine has.
TEST(Fft, InstructionSets) {
  for (InstructionSet set : {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (set > BestInstructionSet()) continue;
    const FftKernels<double>& kernels = FftKernelsFor<double>(set);
    for (uint64_t n : {60, 256, 1009}) {
      const FftShape shape = {FftKind::kComplex, false, 1, 1, 1, n};
      const Expected expected(shape);
      Side<double> from(1, n, n, false, true), to(1, n, n, false, true);
      from.Set(expected.before);
      const RowTransform<double> row(kernels, n);
      std::vector<double> scratch(row.scratch());
      const Numbers<double> read = from.numbers();
      row.Run({read.re, read.im, read.step}, to.numbers(), 1, scratch.data());
      EXPECT_LT(to.Error(expected.after), 4e-15) << n << " by set " << static_cast<int>(set);
    }
  }
}

}  // namespace
}  // namespace sgd::cpu
