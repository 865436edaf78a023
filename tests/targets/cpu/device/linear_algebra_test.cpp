// Every kind by LAPACK: the same bits for any number of threads, factors that multiply back to their matrix, and an end
// on whatever padding may hold.
#include "targets/cpu/device/linear_algebra/linear_algebra.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "runtime/linear_algebra/form.h"

namespace sgd::cpu {
namespace {

using linear_algebra::Form;
using linear_algebra::Kind;

const LapackLibrary& Library() {
  static const auto* library = new std::unique_ptr<const LapackLibrary>(*LapackLibrary::Open());
  return **library;
}

// Operands and results of a batch in one block of memory, each tensor on a cache line of its own.
class Call {
 public:
  Call(const Form& form, uint64_t batch) : form_(form), batch_(batch) {
    for (const linear_algebra::Tensor& tensor : linear_algebra::InputsOf(form)) Place(tensor, table_.inputs);
    for (const linear_algebra::Tensor& tensor : linear_algebra::OutputsOf(form)) Place(tensor, table_.outputs);
    table_.kind = static_cast<artifact::LinearAlgebraKind>(form.kind);
    table_.options = form.options;
    table_.element = artifact::ElementType::F64;
    table_.batch = batch, table_.m = form.m, table_.n = form.n, table_.k = form.k;
    table_.lanes = linear_algebra::LanesFor(form, batch, sizeof(double));
    const uint64_t bytes = table_.lanes * linear_algebra::WorkspaceOf(form).Bytes(sizeof(double));
    table_.workspace = std::make_unique<artifact::Slice>(artifact::Space::Private, end_, bytes);
    memory_.resize((end_ + bytes) / sizeof(double));
  }

  double* In(size_t i) { return At(table_.inputs[i]); }
  double* Out(size_t i) { return At(table_.outputs[i]); }
  const int32_t* Integers(size_t i) { return reinterpret_cast<const int32_t*>(Out(i)); }
  const Form& form() const { return form_; }

  // Normal numbers in all operands, the same every time.
  void Fill() {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    const uint64_t elements = table_.outputs[0].offset() / sizeof(double);
    for (uint64_t i = 0; i < elements; ++i) memory_[i] = normal(random);
    if (form_.kind == Kind::kPivotedQr) std::memset(In(table_.inputs.size() - 1), 0, table_.inputs.back().size());
  }

  // The bytes of all results.
  std::vector<double> Run(uint32_t threads) {
    const auto started = ThreadPool::Start(threads).value();
    ThreadPool& pool = *started;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::LinearAlgebra::Pack(builder, &table_));
    device::MemoryMap map;
    map.private_base = reinterpret_cast<std::byte*>(memory_.data());
    auto thunk = MakeLinearAlgebra(pool, Library(),
                                   *flatbuffers::GetRoot<artifact::LinearAlgebra>(builder.GetBufferPointer()), map);
    EXPECT_TRUE(thunk.ok() && (*thunk)->Execute().ok());
    return {Out(0), memory_.data() + end_ / sizeof(double)};
  }

 private:
  void Place(const linear_algebra::Tensor& tensor, std::vector<artifact::Slice>& slices) {
    const uint64_t bytes = batch_ * tensor.Elements() * (tensor.is_integer ? sizeof(int32_t) : sizeof(double));
    slices.emplace_back(artifact::Space::Private, end_, bytes);
    end_ += (bytes + 63) / 64 * 64;
  }
  double* At(const artifact::Slice& slice) { return memory_.data() + slice.offset() / sizeof(double); }

  Form form_;
  uint64_t batch_;
  uint64_t end_ = 0;
  artifact::LinearAlgebraT table_;
  std::vector<double> memory_;
};

std::vector<Form> AllForms() {
  std::vector<Form> forms;
  for (uint8_t kind = 0; kind < linear_algebra::kNumKinds; ++kind) {
    for (uint32_t set = 0; set < 1024; ++set) {
      const uint32_t options = set % 256 | set / 256 * linear_algebra::kComplex;
      const Form square{static_cast<Kind>(kind), options, 6, 6, 4}, tall{static_cast<Kind>(kind), options, 7, 4, 3},
          wide{static_cast<Kind>(kind), options, 3, 5, 3};
      for (const Form& form : {square, tall, wide}) {
        if (linear_algebra::WhyNot(form).empty()) forms.push_back(form);
      }
    }
  }
  return forms;
}

std::string NameOf(const Form& form) {
  return std::string(linear_algebra::KindName(form.kind)) + " " + std::to_string(form.options) + " of " +
         std::to_string(form.m) + "x" + std::to_string(form.n);
}

TEST(LinearAlgebra, BitsDoNotDependOnThreads) {
  for (const Form& form : AllForms()) {
    Call call(form, 40);
    call.Fill();
    const std::vector<double> one = call.Run(1);
    for (uint32_t threads : {1, 2, 5}) {
      const std::vector<double> other = call.Run(threads);
      ASSERT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)), 0) << NameOf(form);
    }
  }
}

TEST(LinearAlgebra, EndsOnWhateverPaddingHolds) {
  for (const Form& form : AllForms()) {
    for (double value : {std::nan(""), std::numeric_limits<double>::infinity(), 0.0, 1e308, 5e-324}) {
      Call call(form, 2);
      call.Fill();
      for (double* at = call.In(0); at != call.Out(0); ++at) *at = value;
      call.Run(2);
    }
  }
}

// Iterations are not begun on a matrix that is not finite; its neighbour is as ever.
TEST(LinearAlgebra, MatricesThatAreNotFiniteGiveNan) {
  const Form form{Kind::kEigh, linear_algebra::kVectors | linear_algebra::kLower, 3, 3, 0};
  Call call(form, 2);
  call.Fill();
  call.In(0)[3] = std::nan("");      // row 1, column 0: in the lower triangle
  call.In(0)[9 + 1] = std::nan("");  // row 0, column 1: not read
  call.Run(1);
  EXPECT_TRUE(std::isnan(call.Out(0)[0]) && std::isnan(call.Out(1)[2]));
  EXPECT_EQ(call.Integers(2)[0], -1);
  EXPECT_FALSE(std::isnan(call.Out(0)[9]) || std::isnan(call.Out(1)[3]));
  EXPECT_EQ(call.Integers(2)[1], 0);
}

TEST(LinearAlgebra, CholeskyNamesTheFirstBadMinor) {
  Call call({Kind::kCholesky, linear_algebra::kLower, 2, 2, 0}, 2);
  const double matrices[] = {4, 9, 2, 2, 1, 9, 2, 1};  // upper triangles hold anything
  std::copy(std::begin(matrices), std::end(matrices), call.In(0));
  call.Run(1);
  EXPECT_THAT(std::vector<double>(call.Out(0), call.Out(0) + 4), ::testing::ElementsAre(2, 9, 1, 1));
  EXPECT_EQ(call.Integers(1)[0], 0);
  EXPECT_EQ(call.Integers(1)[1], 2);
}

// a = u diag(s) vt, of every shape and both algorithms, whatever of u and v is asked for.
TEST(LinearAlgebra, SvdMultipliesBack) {
  for (const Form& form : AllForms()) {
    if (form.kind != Kind::kSvd || !form.Has(linear_algebra::kVectors) || form.Has(linear_algebra::kComplex)) continue;
    Call call(form, 3);
    call.Fill();
    call.Run(2);
    const uint64_t columns = form.Has(linear_algebra::kFull) ? form.m : form.p();
    const uint64_t rows = form.Has(linear_algebra::kFull) ? form.n : form.p();
    for (uint64_t matrix = 0; matrix < 3; ++matrix) {
      for (uint64_t i = 0; i < form.m; ++i) {
        for (uint64_t j = 0; j < form.n; ++j) {
          double sum = 0;
          for (uint64_t k = 0; k < form.p(); ++k)
            sum += call.Out(1)[matrix * form.m * columns + i * columns + k] * call.Out(0)[matrix * form.p() + k] *
                   call.Out(2)[matrix * rows * form.n + k * form.n + j];
          ASSERT_NEAR(sum, call.In(0)[(matrix * form.m + i) * form.n + j], 1e-12) << NameOf(form);
        }
      }
    }
  }
}

// a v = v w with complex values, whose vectors come in pairs.
TEST(LinearAlgebra, EigSolvesItsEquation) {
  const Form form{Kind::kEig, linear_algebra::kVectors, 6, 6, 0};
  Call call(form, 5);
  call.Fill();
  call.Run(2);
  for (uint64_t matrix = 0; matrix < 5; ++matrix) {
    const double *a = call.In(0) + matrix * 36, *re = call.Out(2) + matrix * 36, *im = call.Out(3) + matrix * 36;
    for (uint64_t j = 0; j < 6; ++j) {
      const double w_re = call.Out(0)[matrix * 6 + j], w_im = call.Out(1)[matrix * 6 + j];
      for (uint64_t i = 0; i < 6; ++i) {
        double sum_re = 0, sum_im = 0;
        for (uint64_t k = 0; k < 6; ++k) sum_re += a[i * 6 + k] * re[k * 6 + j], sum_im += a[i * 6 + k] * im[k * 6 + j];
        EXPECT_NEAR(sum_re, w_re * re[i * 6 + j] - w_im * im[i * 6 + j], 1e-12);
        EXPECT_NEAR(sum_im, w_re * im[i * 6 + j] + w_im * re[i * 6 + j], 1e-12);
      }
    }
  }
}

// Tensor `i` and the imaginary parts behind it.
std::vector<std::complex<double>> Join(const double* re, const double* im, uint64_t elements) {
  std::vector<std::complex<double>> joined(elements);
  for (uint64_t i = 0; i < elements; ++i) joined[i] = {re[i], im[i]};
  return joined;
}

// The same of complex matrices, whose operand and results are parts; the phase of a vector is LAPACK's.
TEST(LinearAlgebra, ComplexEigSolvesItsEquation) {
  const uint64_t n = 5, all = 3 * n * n;
  const Form form{Kind::kEig, linear_algebra::kVectors | linear_algebra::kLeftVectors | linear_algebra::kComplex, n, n};
  Call call(form, 3);
  call.Fill();
  call.Run(2);
  const auto a = Join(call.In(0), call.In(1), all), w = Join(call.Out(0), call.Out(1), 3 * n),
             left = Join(call.Out(2), call.Out(3), all), right = Join(call.Out(4), call.Out(5), all);
  for (uint64_t matrix = 0; matrix < 3; ++matrix) {
    EXPECT_EQ(call.Integers(6)[matrix], 0);
    const uint64_t begin = matrix * n * n;
    for (uint64_t j = 0; j < n; ++j) {
      double norm = 0;
      for (uint64_t i = 0; i < n; ++i) {
        std::complex<double> av = 0, ua = 0;
        for (uint64_t k = 0; k < n; ++k) {
          av += a[begin + i * n + k] * right[begin + k * n + j];
          ua += std::conj(left[begin + k * n + j]) * a[begin + k * n + i];
        }
        EXPECT_NEAR(std::abs(av - w[matrix * n + j] * right[begin + i * n + j]), 0, 1e-12);
        EXPECT_NEAR(std::abs(ua - w[matrix * n + j] * std::conj(left[begin + i * n + j])), 0, 1e-12);
        norm += std::norm(right[begin + i * n + j]);
      }
      EXPECT_NEAR(norm, 1, 1e-12);
    }
  }
}

// op(a) x = b and x op(a) = b, for every op, triangle and diagonal.
TEST(LinearAlgebra, ComplexTriangularSolvesAreThoseOfTheirOp) {
  using namespace linear_algebra;
  for (const Form& form : AllForms()) {
    if (form.kind != Kind::kTriangularSolve || !form.Has(kComplex)) continue;
    Call call(form, 2);
    call.Fill();
    const uint64_t m = form.m, n = form.n, order = form.other();
    for (uint64_t i = 0; i < 2 * order * order; ++i) call.In(0)[i] += i % (order * order) % (order + 1) == 0 ? 9 : 0;
    call.Run(2);
    for (uint64_t matrix = 0; matrix < 2; ++matrix) {
      const auto a = Join(call.In(0) + matrix * order * order, call.In(1) + matrix * order * order, order * order),
                 b = Join(call.In(2) + matrix * m * n, call.In(3) + matrix * m * n, m * n),
                 x = Join(call.Out(0) + matrix * m * n, call.Out(1) + matrix * m * n, m * n);
      auto triangle = [&](uint64_t i, uint64_t j) -> std::complex<double> {
        if (i == j && form.Has(kUnitDiagonal)) return 1;
        return i == j || form.Has(kLower) == (i > j) ? a[i * order + j] : 0;
      };
      auto op = [&](uint64_t i, uint64_t j) {
        const std::complex<double> element = form.Has(kTranspose) ? triangle(j, i) : triangle(i, j);
        return form.Has(kConjugate) ? std::conj(element) : element;
      };
      for (uint64_t i = 0; i < m; ++i) {
        for (uint64_t j = 0; j < n; ++j) {
          std::complex<double> sum = 0;
          for (uint64_t k = 0; k < order; ++k)
            sum += form.Has(kRight) ? x[i * n + k] * op(k, j) : op(i, k) * x[k * n + j];
          ASSERT_NEAR(std::abs(sum - b[i * n + j]), 0, 1e-9) << NameOf(form);
        }
      }
    }
  }
}

TEST(LapackLibrary, SaysWhatToInstall) {
  setenv("SGD_LAPACK", "/nowhere/liblapack.so", 1);
  const absl::Status status = LapackLibrary::Open().status();
  unsetenv("SGD_LAPACK");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::AllOf(::testing::HasSubstr("/nowhere/liblapack.so"),
                                                              ::testing::HasSubstr("libopenblas0-pthread")));
  EXPECT_THAT(Library().version(), ::testing::HasSubstr("LAPACK 3."));
}

// Many calls at a time: a library that shares working memory between them gives wrong results soon.
TEST(LapackLibrary, MayBeCalledByThreadsWhereItSaysSo) {
  Call call({Kind::kTriangularSolve, linear_algebra::kLower, 48, 48, 0}, 512);
  call.Fill();
  for (uint64_t matrix = 0; matrix < 512; ++matrix) {
    for (uint64_t i = 0; i < 48; ++i) call.In(0)[(matrix * 48 + i) * 48 + i] = 60;
  }
  const std::vector<double> one = call.Run(1);
  for (int run = 0; run < 10; ++run) {
    const std::vector<double> other = call.Run(8);
    ASSERT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(double)), 0);
  }
}

}  // namespace
}  // namespace sgd::cpu
