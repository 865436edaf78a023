// Tile grids cover every element of C once; strides are seen in their plain form.
#include "targets/cpu/device/matmul/matmul_problem.h"

#include <gtest/gtest.h>

#include <vector>

namespace sgd::cpu {
namespace {

MatmulProblem RowMajor(uint64_t m, uint64_t n, uint64_t k, uint64_t batch, std::byte* c) {
  MatmulProblem problem;
  problem.element = artifact::ElementType::I8;
  problem.m = m, problem.n = n, problem.k = k;
  problem.batch = {1, 1, 1, batch};
  // Addresses of A and B are only computed here, never read.
  problem.a = {c, static_cast<int64_t>(k), 1, {}};
  problem.b = {c, static_cast<int64_t>(n), 1, {}};
  problem.c = {c, static_cast<int64_t>(n), 1, {0, 0, 0, static_cast<int64_t>(m * n)}};
  return problem;
}

TEST(TileGrid, CoversEveryElementOnce) {
  const uint64_t sizes[] = {1, 10, 64, 65, 127, 128, 300, 513};
  for (uint64_t m : sizes) {
    for (uint64_t n : sizes) {
      for (uint64_t k : {uint64_t{1}, uint64_t{100000}}) {
        for (bool transposed_b : {false, true}) {
          const uint64_t batch = m % 2 + 1;
          std::vector<std::byte> c(m * n * batch);
          MatmulProblem problem = RowMajor(m, n, k, batch, c.data());
          if (transposed_b) problem.b.rows = 1, problem.b.columns = static_cast<int64_t>(k);
          const TileGrid grid(problem);
          EXPECT_LE(grid.size(), 512u);
          for (uint64_t index = 0; index < grid.size(); ++index) {
            const StridedMatmul tile = grid.At(problem, index);
            EXPECT_LE(tile.m, grid.tile_m());
            EXPECT_LE(tile.n, grid.tile_n());
            for (uint64_t i = 0; i < tile.m; ++i) {
              for (uint64_t j = 0; j < tile.n; ++j) tile.c[i * n + j] = std::byte(int(tile.c[i * n + j]) + 1);
            }
          }
          EXPECT_EQ(c, std::vector<std::byte>(c.size(), std::byte{1})) << m << "x" << n << "x" << k;
        }
      }
    }
  }
}

TEST(TileGrid, LargeProblemsHaveTilesForManyThreads) {
  EXPECT_GE(TileGrid(RowMajor(1024, 1536, 384, 1, nullptr)).size(), 32u);
  EXPECT_GE(TileGrid(RowMajor(512, 512, 512, 1, nullptr)).size(), 16u);
  EXPECT_EQ(TileGrid(RowMajor(64, 64, 64, 1, nullptr)).size(), 1u);
  EXPECT_EQ(TileGrid(RowMajor(64, 64, 64, 48, nullptr)).size(), 48u);
}

TEST(TileGrid, SmallProblemsHaveTilesForAFewThreads) {
  EXPECT_GE(TileGrid(RowMajor(512, 256, 64, 1, nullptr)).size(), 4u);
  EXPECT_EQ(TileGrid(RowMajor(512, 64, 64, 1, nullptr)).size(), 2u);
  EXPECT_EQ(TileGrid(RowMajor(512, 64, 64, 3, nullptr)).size(), 6u);
  EXPECT_EQ(TileGrid(RowMajor(256, 64, 64, 1, nullptr)).size(), 1u);
}

TEST(TileGrid, NothingToDoHasNoTiles) {
  EXPECT_EQ(TileGrid(RowMajor(0, 5, 5, 1, nullptr)).size(), 0u);
  EXPECT_EQ(TileGrid(RowMajor(5, 0, 5, 1, nullptr)).size(), 0u);
  EXPECT_EQ(TileGrid(RowMajor(5, 5, 5, 0, nullptr)).size(), 0u);
  EXPECT_EQ(TileGrid(RowMajor(5, 5, 0, 1, nullptr)).size(), 1u);
}

}  // namespace
}  // namespace sgd::cpu
