// Products of the plan in the form of BLAS libraries, against index arithmetic.
#include "targets/gpu/device/matmul/gemm_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace sgd::cuda {
namespace {

using ::testing::HasSubstr;

class Packed {
 public:
  explicit Packed(const artifact::MatmulT& matmul) {
    artifact::MatmulT whole = matmul;
    for (auto* slice : {&whole.a, &whole.b, &whole.c}) {
      if (*slice == nullptr) *slice = std::make_unique<artifact::Slice>();
    }
    builder_.Finish(artifact::Matmul::Pack(builder_, &whole));
  }
  const artifact::Matmul& operator*() const {
    return *flatbuffers::GetRoot<artifact::Matmul>(builder_.GetBufferPointer());
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

// Elements of A and B that are multiplied for each element of C, in order of k.
using Terms = std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>>;

Terms TermsOf(const artifact::MatmulT& p) {
  Terms terms;
  const auto walk = [&](auto& self, size_t dim, int64_t a, int64_t b, int64_t c) -> void {
    if (dim < p.batch_dims.size()) {
      for (int64_t i = 0; i < static_cast<int64_t>(p.batch_dims[dim]); ++i) {
        self(self, dim + 1, a + i * p.a_batch[dim], b + i * p.b_batch[dim], c + i * p.c_batch[dim]);
      }
      return;
    }
    for (int64_t m = 0; m < static_cast<int64_t>(p.m); ++m) {
      for (int64_t n = 0; n < static_cast<int64_t>(p.n); ++n) {
        auto& list = terms[c + m * p.c_m + n * p.c_n];
        for (int64_t k = 0; k < static_cast<int64_t>(p.k); ++k)
          list.emplace_back(a + m * p.a_m + k * p.a_k, b + k * p.b_k + n * p.b_n);
      }
    }
  };
  walk(walk, 0, 0, 0, 0);
  return terms;
}

Terms TermsOf(const GemmForm& form) {
  Terms terms;
  for (const GemmForm::Offsets& call : form.calls) {
    for (uint64_t batch = 0; batch < form.batch; ++batch) {
      const int64_t i = static_cast<int64_t>(batch);
      for (uint64_t m = 0; m < form.m; ++m) {
        for (uint64_t n = 0; n < form.n; ++n) {
          auto& list = terms[call.c + i * form.c_stride + static_cast<int64_t>(n * form.c_leading + m)];
          for (uint64_t k = 0; k < form.k; ++k) {
            const uint64_t a = form.transposes_a ? m * form.a_leading + k : k * form.a_leading + m;
            const uint64_t b = form.transposes_b ? k * form.b_leading + n : n * form.b_leading + k;
            const int64_t at_a = call.a + i * form.a_stride + static_cast<int64_t>(a);
            const int64_t at_b = call.b + i * form.b_stride + static_cast<int64_t>(b);
            form.is_swapped ? list.emplace_back(at_b, at_a) : list.emplace_back(at_a, at_b);
          }
        }
      }
    }
  }
  return terms;
}

TEST(GemmForm, MultipliesTheSameElements) {
  size_t swapped = 0, several_calls = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto size = [&] { return 1 + random() % 4; };
    artifact::MatmulT p;
    p.element = artifact::ElementType::F32;
    p.m = size(), p.n = size(), p.k = size();
    const uint64_t batch_dims = random() % 4;
    // Lays dimensions out one inside of the other, with gaps; returns the stride of what comes around them.
    const auto lay_out = [&](uint64_t rows, uint64_t columns, int64_t& row, int64_t& column) {
      const bool row_major = random() % 2 == 0;
      const uint64_t leading = (row_major ? columns : rows) + random() % 3;
      (row_major ? column : row) = 1;
      (row_major ? row : column) = static_cast<int64_t>(leading);
      if (rows == 1 && random() % 2 == 0) row = 99;
      if (columns == 1 && random() % 2 == 0) column = 77;
      return static_cast<int64_t>(leading * (row_major ? rows : columns) + random() % 2);
    };
    int64_t a = lay_out(p.m, p.k, p.a_m, p.a_k), b = lay_out(p.k, p.n, p.b_k, p.b_n),
            c = lay_out(p.m, p.n, p.c_m, p.c_n);
    for (uint64_t i = 0; i < batch_dims; ++i) {
      const int64_t dim = static_cast<int64_t>(size());
      p.batch_dims.insert(p.batch_dims.begin(), static_cast<uint64_t>(dim));
      p.a_batch.insert(p.a_batch.begin(), random() % 3 == 0 ? 0 : a);
      p.b_batch.insert(p.b_batch.begin(), random() % 3 == 0 ? 0 : b);
      p.c_batch.insert(p.c_batch.begin(), c);
      a *= dim, b *= dim, c = c * dim + static_cast<int64_t>(random() % 2);
    }
    const Packed packed(p);
    const absl::StatusOr<GemmForm> form = GemmFormOf(*packed);
    ASSERT_TRUE(form.ok()) << form.status();
    EXPECT_EQ(TermsOf(*form), TermsOf(p));
    swapped += form->is_swapped;
    several_calls += form->calls.size() > 1;
  }
  EXPECT_GT(swapped, 100u);
  EXPECT_GT(several_calls, 50u);
}

artifact::MatmulT Plain() {
  artifact::MatmulT p;
  p.element = artifact::ElementType::F32;
  p.m = 4, p.n = 5, p.k = 6;
  p.a_m = 6, p.a_k = 1, p.b_k = 5, p.b_n = 1, p.c_m = 5, p.c_n = 1;
  return p;
}

TEST(GemmForm, FoldsBatchDimensions) {
  artifact::MatmulT p = Plain();
  p.batch_dims = {2, 1, 3};
  p.a_batch = {72, 999, 24}, p.b_batch = {0, 999, 0}, p.c_batch = {60, 999, 20};
  const GemmForm form = *GemmFormOf(*Packed(p));
  EXPECT_EQ(form.batch, 6u);
  EXPECT_EQ(form.calls.size(), 1u);
}

TEST(GemmForm, RefusesWhatLibrariesDoNotTake) {
  artifact::MatmulT p = Plain();
  p.a_k = 2, p.a_m = 12;
  EXPECT_EQ(std::string(GemmFormOf(*Packed(p)).status().message()),
            "matmul on a GPU: A of 4 by 6 elements with strides 12 and 2; expected stride 1 in one dimension and no "
            "overlap in the other; compile the model again");
  p = Plain();
  p.b_k = 2;
  EXPECT_EQ(GemmFormOf(*Packed(p)).status().code(), absl::StatusCode::kUnimplemented);
  p = Plain();
  p.c_n = 3;
  EXPECT_THAT(std::string(GemmFormOf(*Packed(p)).status().message()), HasSubstr("C of 4 by 5"));
  p = Plain();
  p.batch_dims = {2000, 2000}, p.a_batch = {1, 60000}, p.b_batch = {0, 0}, p.c_batch = {20, 40001};
  EXPECT_THAT(std::string(GemmFormOf(*Packed(p)).status().message()), HasSubstr("more than 1024 calls"));
}

}  // namespace
}  // namespace sgd::cuda
