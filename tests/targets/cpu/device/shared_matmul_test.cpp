// Large products by all threads have the bits of the same product on one thread, which packed_matmul_test holds against
// plain loops.
#include "targets/cpu/device/matmul/shared_matmul.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "targets/cpu/device/matmul/packed_matmul.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::cpu {
namespace {

using artifact::ElementType;
using library::Epilogue;
using library::EpilogueStep;

struct Case {
  uint64_t m, n, k;
  bool a_transposed, b_transposed;
  Epilogue epilogue = testing::kNoEpilogue;
  bool bias_per_row = false;
  uint64_t batch = 1;
  bool shares_b = false;  // B is the same for all of the batch
};

std::ostream& operator<<(std::ostream& out, const Case& x) {
  return out << x.batch << " of " << x.m << "x" << x.n << "x" << x.k << (x.a_transposed ? " t" : " n")
             << (x.b_transposed ? "t " : "n ") << library::TextOf(x.epilogue);
}

std::vector<float> RandomValues(uint64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f;
  return values;
}

// C has a gap of three elements behind every row.
struct Operands {
  explicit Operands(const Case& x)
      : a(RandomValues(x.batch * x.m * x.k, 1)),
        b(RandomValues((x.shares_b ? 1 : x.batch) * x.k * x.n, 2)),
        c(RandomValues(x.batch * x.m * (x.n + 3), 3)),
        bias(RandomValues(x.m + x.n, 4)) {}
  std::vector<float> a, b, c, bias;
};

MatmulProblem ProblemOf(const Case& x, const Operands& operands, std::vector<float>& c) {
  const int64_t m = static_cast<int64_t>(x.m), n = static_cast<int64_t>(x.n), k = static_cast<int64_t>(x.k);
  MatmulProblem problem;
  problem.element = ElementType::F32;
  problem.epilogue = x.epilogue;
  problem.m = x.m, problem.n = x.n, problem.k = x.k;
  problem.batch[3] = x.batch;
  problem.a = {
      reinterpret_cast<const std::byte*>(operands.a.data()), x.a_transposed ? 1 : k, x.a_transposed ? m : 1, {}};
  problem.b = {
      reinterpret_cast<const std::byte*>(operands.b.data()), x.b_transposed ? 1 : n, x.b_transposed ? k : 1, {}};
  problem.c = {reinterpret_cast<std::byte*>(c.data()), n + 3, 1, {}};
  problem.a.batch[3] = m * k, problem.b.batch[3] = x.shares_b ? 0 : k * n, problem.c.batch[3] = m * (n + 3);
  if (x.epilogue.Has(EpilogueStep::kBias)) {
    problem.bias = reinterpret_cast<const std::byte*>(operands.bias.data());
    problem.bias_per_row = x.bias_per_row;
  }
  return problem;
}

std::vector<float> OnOneThread(const PackedKernels& kernels, const Case& x, const Operands& operands) {
  std::vector<float> c = operands.c;
  const MatmulProblem problem = ProblemOf(x, operands, c);
  std::byte* scratch = static_cast<std::byte*>(std::aligned_alloc(64, PackedScratchBytes(kernels, x.m, x.n, x.k)));
  for (uint64_t batch = 0; batch < x.batch; ++batch) {
    const int64_t at = static_cast<int64_t>(batch) * 4;
    StridedMatmul product;
    product.element = problem.element, product.epilogue = problem.epilogue;
    product.m = x.m, product.n = x.n, product.k = x.k;
    product.a = problem.a.base + at * problem.a.batch[3], product.b = problem.b.base + at * problem.b.batch[3];
    product.c = problem.c.base + at * problem.c.batch[3];
    product.a_m = problem.a.rows, product.a_k = problem.a.columns;
    product.b_k = problem.b.rows, product.b_n = problem.b.columns;
    product.c_m = problem.c.rows, product.c_n = problem.c.columns;
    product.bias = problem.bias, product.bias_per_row = problem.bias_per_row;
    PackedMultiply(kernels, product, scratch);
  }
  std::free(scratch);
  return c;
}

std::vector<float> Shared(const PackedKernels& kernels, uint32_t threads, const Case& x, const Operands& operands) {
  std::vector<float> c = operands.c;
  const MatmulProblem problem = ProblemOf(x, operands, c);
  EXPECT_TRUE(IsForSharedMatmul(kernels, problem)) << x;
  const auto started = ThreadPool::Start(threads).value();
  ThreadPool& pool = *started;
  ThreadScratch scratch(threads);
  auto thunk = MakeSharedMatmul(pool, scratch, kernels, problem);
  EXPECT_TRUE(thunk.ok() && (*thunk)->Execute().ok()) << x;
  return c;
}

TEST(SharedMatmul, HasTheBitsOfOneThread) {
  const Case cases[] = {
      {200, 330, 150, false, false, testing::kBias},
      {330, 200, 150, false, false, testing::kBiasRelu, true},
      {331, 203, 400, true, true, testing::kResidual},
      {203, 331, 400, true, true, testing::kBiasRelu},
      {700, 50, 400, false, true, testing::kBias},        // rows of A are read where they lie
      {700, 50, 400, true, true, testing::kBias, true},   // and its columns
      {30, 1000, 400, false, false, testing::kResidual},  // rows of B are read where they lie
      {600, 1, 15000, false, false, testing::kResidualBias},
      {1, 600, 15000, false, false, testing::kBias},
      {2000, 4200, 1, false, false, testing::kResidualBiasRelu},
      {300, 310, 420, false, false, testing::kRelu},
      {40, 512, 512, false, false, testing::kNoEpilogue, false, 3},
      {300, 100, 300, true, false, testing::kNoEpilogue, false, 3, true},
      {300, 310, 4200, false, false, testing::kBias},  // more packed blocks than there is room for at once
  };
  for (InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (set > BestInstructionSet()) continue;
    const PackedKernels& kernels = *PackedKernelsFor(set, ElementType::F32);
    for (const Case& x : cases) {
      const Operands operands(x);
      const std::vector<float> expected = OnOneThread(kernels, x, operands);
      for (uint32_t threads : {1u, 2u, 3u}) {
        const std::vector<float> actual = Shared(kernels, threads, x, operands);
        ASSERT_EQ(std::memcmp(actual.data(), expected.data(), expected.size() * sizeof(float)), 0)
            << x << " threads " << threads;
      }
    }
  }
}

// B as [n / 32, k, 32]: a batch of 32 columns each for one A, until they are joined.
TEST(SharedMatmul, ReadsBlocksOfColumnsInPlace) {
  constexpr uint64_t kColumns = 32;
  for (const Case& x : {Case{32, 2048, 512, false, false}, Case{1, 32768, 300, false, false},
                        Case{100, 288, 401, true, false, testing::kResidual}}) {
    const Operands operands(x);
    std::vector<float> packed(operands.b.size());
    for (uint64_t k = 0; k < x.k; ++k) {
      for (uint64_t n = 0; n < x.n; ++n)
        packed[(n / kColumns * x.k + k) * kColumns + n % kColumns] = operands.b[k * x.n + n];
    }
    for (InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
      if (set > BestInstructionSet()) continue;
      const PackedKernels& kernels = *PackedKernelsFor(set, ElementType::F32);
      std::vector<float> c = operands.c;
      MatmulProblem problem = ProblemOf(x, operands, c);
      problem.n = kColumns, problem.batch[2] = x.n / kColumns;
      problem.b = {reinterpret_cast<const std::byte*>(packed.data()), kColumns, 1, {}};
      problem.b.batch[2] = static_cast<int64_t>(x.k * kColumns), problem.c.batch[2] = kColumns;
      const MatmulProblem joined = JoinColumnBlocks(problem);
      ASSERT_EQ(joined.n, x.n) << x;
      ASSERT_EQ(joined.BatchCount(), 1u) << x;
      ASSERT_TRUE(IsForSharedMatmul(kernels, joined)) << x;
      const auto pool = ThreadPool::Start(2).value();
      ThreadScratch scratch(2);
      auto thunk = MakeSharedMatmul(*pool, scratch, kernels, joined);
      ASSERT_TRUE(thunk.ok() && (*thunk)->Execute().ok()) << x;
      const std::vector<float> expected = OnOneThread(kernels, x, operands);
      EXPECT_EQ(std::memcmp(c.data(), expected.data(), c.size() * sizeof(float)), 0) << x;
      // Each block has an A of its own, or results are apart.
      problem.a.batch[2] = 1;
      EXPECT_EQ(JoinColumnBlocks(problem).n, kColumns);
      problem.a.batch[2] = 0, problem.c.batch[2] = 2 * kColumns;
      EXPECT_EQ(JoinColumnBlocks(problem).n, kColumns);
    }
  }
}

TEST(SharedMatmul, IsForLargeProductsWithSumsInC) {
  const Case x{512, 512, 512, false, false, testing::kBiasRelu};
  const Operands operands({1, 1, 1, false, false});
  std::vector<float> c = operands.c;
  MatmulProblem problem = ProblemOf(x, operands, c);
  const auto is_for = [&](ElementType element) {
    return IsForSharedMatmul(*PackedKernelsFor(InstructionSet::kBaseline, element), problem);
  };
  EXPECT_TRUE(is_for(ElementType::F32));
  EXPECT_TRUE(is_for(ElementType::F64));
  EXPECT_FALSE(is_for(ElementType::BF16));
  EXPECT_FALSE(is_for(ElementType::I32));  // its relu comes after the sum
  problem.epilogue = testing::kNoEpilogue;
  EXPECT_TRUE(is_for(ElementType::I32));
  problem.c.columns = 2;
  EXPECT_FALSE(is_for(ElementType::F32));
  problem.c.columns = 1;
  problem.m = 8;
  EXPECT_FALSE(is_for(ElementType::F32));
}

TEST(ThreadScratch, KeepsPartsApart) {
  ThreadScratch scratch(3);
  for (uint64_t bytes : {uint64_t{1}, uint64_t{1000}, uint64_t{3} << 20, uint64_t{10}}) {
    ASSERT_TRUE(scratch.Reserve(bytes, 2 * bytes).ok());
    std::memset(scratch.Shared(), 0, 2 * bytes);
    EXPECT_GE(scratch.For(0), scratch.Shared() + 2 * bytes);
    for (uint32_t thread = 0; thread < 3; ++thread) {
      std::memset(scratch.For(thread), 0, bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch.For(thread)) % 64, 0u);
      if (thread > 0) EXPECT_GE(scratch.For(thread), scratch.For(thread - 1) + bytes);
    }
  }
}

}  // namespace
}  // namespace sgd::cpu
