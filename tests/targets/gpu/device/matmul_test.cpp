// Products through the library's interface against three loops in f64.
#include "runtime/artifact/epilogue.h"
#include "targets/gpu/device/matmul/matmul.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "emulated_device.h"
#include "runtime/artifact/reader.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::cuda {
namespace {

using artifact::ElementType;
using artifact::Slice;
using artifact::Space;
using library::Epilogue;
using library::EpilogueStep;
using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

// Small integers are exact in every type, so that results are equal and not only near.
double ValueAt(size_t i) { return static_cast<double>(i * 7 % 5) - 2; }

template <typename T>
class Multiplication {
 public:
  Multiplication(uint64_t m, uint64_t n, uint64_t k, uint64_t batch, Epilogue epilogue, bool at, bool bt, bool ct)
      : m_(m), n_(n), k_(k), batch_(batch), epilogue_(epilogue), at_(at), bt_(bt), ct_(ct) {}

  artifact::MatmulT Matmul(ElementType element) const {
    artifact::MatmulT p;
    p.element = element;
    p.m = m_, p.n = n_, p.k = k_;
    const auto set = [](uint64_t rows, uint64_t columns, bool transposed, int64_t& row, int64_t& column) {
      row = transposed ? 1 : static_cast<int64_t>(columns);
      column = transposed ? static_cast<int64_t>(rows) : 1;
    };
    set(m_, k_, at_, p.a_m, p.a_k), set(k_, n_, bt_, p.b_k, p.b_n), set(m_, n_, ct_, p.c_m, p.c_n);
    p.batch_dims = {batch_};
    p.a_batch = {static_cast<int64_t>(m_ * k_)}, p.b_batch = {0}, p.c_batch = {static_cast<int64_t>(m_ * n_)};
    const auto slice = [](uint64_t offset, uint64_t count) {
      return std::make_unique<Slice>(Space::Private, offset, count * sizeof(T));
    };
    p.a = slice(kA, batch_ * m_ * k_), p.b = slice(kB, k_ * n_), p.c = slice(kC, batch_ * m_ * n_);
    p.epilogue = artifact::StepsOf(epilogue_);
    if (epilogue_.Has(EpilogueStep::kBias)) p.bias = slice(kBias, n_);
    return p;
  }

  double Expected(uint64_t batch, uint64_t i, uint64_t j) const {
    double sum = 0;
    for (uint64_t k = 0; k < k_; ++k) {
      sum += ValueAt(batch * m_ * k_ + (at_ ? k * m_ + i : i * k_ + k)) * ValueAt(bt_ ? j * k_ + k : k * n_ + j);
    }
    if (epilogue_.Has(EpilogueStep::kResidual)) sum += ValueAt(At(batch, i, j));
    if (epilogue_.Has(EpilogueStep::kBias)) sum += ValueAt(j);
    return epilogue_.Has(EpilogueStep::kRelu) ? std::max(sum, 0.0) : sum;
  }
  uint64_t At(uint64_t batch, uint64_t i, uint64_t j) const {
    return batch * m_ * n_ + (ct_ ? j * m_ + i : i * n_ + j);
  }

  static constexpr uint64_t kA = 0, kB = 4096, kC = 8192, kBias = 12288, kEnd = 16384;
  uint64_t m_, n_, k_, batch_;
  Epilogue epilogue_;
  bool at_, bt_, ct_;
};

class MatmulTest : public EmulatedDevice {
 protected:
  template <typename T>
  void Check(ElementType element, const Multiplication<T>& problem) {
    auto arena = *device_->Allocate(Multiplication<T>::kEnd);
    std::vector<T> values(512);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(ValueAt(i));
    for (uint64_t offset : {problem.kA, problem.kB, problem.kC, problem.kBias}) Put(arena->data() + offset, values);
    flatbuffers::FlatBufferBuilder builder;
    const artifact::MatmulT matmul = problem.Matmul(element);
    builder.Finish(artifact::Matmul::Pack(builder, &matmul));
    device::MemoryMap memory;
    memory.private_base = arena->data();
    auto thunk = device_->PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), memory);
    ASSERT_TRUE(thunk.ok()) << thunk.status();
    ASSERT_TRUE((*thunk)->Execute().ok());
    const std::vector<T> result = Get<T>(arena->data() + problem.kC, values.size());
    for (uint64_t batch = 0; batch < problem.batch_; ++batch) {
      for (uint64_t i = 0; i < problem.m_; ++i) {
        for (uint64_t j = 0; j < problem.n_; ++j) {
          ASSERT_EQ(static_cast<double>(result[problem.At(batch, i, j)]), problem.Expected(batch, i, j))
              << batch << " " << i << " " << j;
        }
      }
    }
  }

  absl::Status Refusal(const artifact::MatmulT& matmul) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Matmul::Pack(builder, &matmul));
    return device_->PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), {}).status();
  }
};

TEST_F(MatmulTest, EveryLayoutAndEpilogue) {
  for (int layout = 0; layout < 8; ++layout) {
    const bool at = layout & 1, bt = layout & 2, ct = layout & 4;
    for (Epilogue epilogue : {testing::kNoEpilogue, testing::kResidual, testing::kBias, testing::kBiasRelu,
                              testing::kResidualBias, testing::kResidualBiasRelu}) {
      if (ct && epilogue.Has(EpilogueStep::kBias)) continue;
      SCOPED_TRACE(layout);
      Check<float>(ElementType::F32, {5, 7, 3, 2, epilogue, at, bt, ct});
    }
  }
}

TEST_F(MatmulTest, SizesOfOneAndTypes) {
  for (uint64_t m : {1, 4}) {
    for (uint64_t n : {1, 5}) {
      for (uint64_t k : {1, 6}) {
        Check<float>(ElementType::F32, {m, n, k, 3, testing::kNoEpilogue, false, true, false});
        Check<double>(ElementType::F64, {m, n, k, 1, testing::kResidual, true, false, false});
        Check<_Float16>(ElementType::F16, {m, n, k, 2, testing::kBias, false, false, false});
      }
    }
  }
}

TEST_F(MatmulTest, RefusesIntegersAndAStridedBias) {
  artifact::MatmulT integers =
      Multiplication<int>(2, 2, 2, 1, testing::kNoEpilogue, false, false, false).Matmul(ElementType::I32);
  EXPECT_EQ(std::string(Refusal(integers).message()),
            "matmul on a GPU: elements of type i32; expected f64, f32, f16, bf16 or f8; compile the model again");
  artifact::MatmulT bias =
      Multiplication<float>(2, 2, 2, 1, testing::kBias, false, false, true).Matmul(ElementType::F32);
  EXPECT_EQ(Refusal(bias).code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(Refusal(bias).message()),
              HasSubstr("a bias along a strided dimension of C; expected stride 1"));
}

}  // namespace
}  // namespace sgd::cuda
