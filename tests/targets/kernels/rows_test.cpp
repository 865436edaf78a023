// Compiled sorts and choices of the largest elements against the standard library's, over row lengths and types.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/targets/kernels/kernel_check.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

constexpr int kRows = 5;
// Less than a run, a run, and one to three merges.
constexpr int kLengths[] = {1, 7, 8, 9, 31, 65};

/// The positions of a row, those that `comesFirst` puts first before; equal ones in order.
template <typename ComesFirst>
std::vector<int64_t> order(int64_t begin, int64_t length, ComesFirst comesFirst) {
  std::vector<int64_t> positions(length);
  std::iota(positions.begin(), positions.end(), begin);
  std::sort(positions.begin(), positions.end(),
            [&](int64_t x, int64_t y) { return comesFirst(x, y) || (!comesFirst(y, x) && x < y); });
  return positions;
}

/// All rows at once, and one by one.
void forEachCut(const KernelRunner& kernel, const std::vector<Tensor>& inputs,
                llvm::function_ref<void(const std::vector<Tensor>&)> compare) {
  std::vector<int64_t> single;
  for (int64_t row = 0; row <= kernel.interface().range; ++row) single.push_back(row);
  for (const std::vector<int64_t>& cuts : {std::vector<int64_t>{}, single}) compare(kernel.run(inputs, cuts));
}

TEST(SortRows, KeysWithPositions) {
  for (int length : kLengths) {
    std::string keys = shape({kRows, length}, "i16"), positions = shape({kRows, length}, "f64");
    std::string types = keys + ", " + positions;
    KernelRunner kernel(cluster(keys + "; " + positions, keys + "; " + positions + "; " + keys + "; " + positions,
                                "%k: " + keys + ", %p: " + positions,
                                "%0:4 = fusion.sort_rows(%k, %p) {\n^bb0(%a: i16, %b: i16, %c: f64, %d: f64):\n%l = "
                                "arith.cmpi sgt, %a, %b : i16\n"
                                "fusion.yield %l : i1\n} : (" +
                                    types + ") -> (" + types + ", " + types +
                                    ")\nfusion.yield %0#0, %0#1, %0#2, %0#3 : " + types + ", " + types));
    ASSERT_TRUE(kernel.ok());
    std::vector<Tensor> inputs = kernel.makeInputs();
    for (int i = 0; i < kRows * length; ++i) inputs[0].setInteger(i, i * 7919 % 13 - 6), inputs[1].set(i, i);
    forEachCut(kernel, inputs, [&](const std::vector<Tensor>& results) {
      for (int row = 0; row < kRows; ++row) {
        std::vector<int64_t> expected = order(row * length, length, [&](int64_t x, int64_t y) {
          return inputs[0].getInteger(x) > inputs[0].getInteger(y);
        });
        for (int i = 0; i < length; ++i) {
          ASSERT_EQ(results[1].get(row * length + i), expected[i]) << "length " << length;
          ASSERT_EQ(results[0].getInteger(row * length + i), inputs[0].getInteger(expected[i]));
        }
      }
    });
  }
}

/// Floats of all kinds, many of them equal.
double someFloat(int i) {
  const double special[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, NAN, 1.0, -1.0};
  return i % 3 == 0 ? special[i / 3 % 7] : (i * 7919 % 31) / 4.0 - 3;
}

int64_t totalOrder(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

TEST(TopK, TotalOrder) {
  for (const char* type : {"f32", "bf16", "f16", "f64"}) {
    for (int length : {1, 31}) {
      for (int k : {0, 3, length}) {
        if (k > length) continue;
        std::string input = shape({kRows, length}, type), values = shape({kRows, k}, type),
                    positions = shape({kRows, k}, "i32");
        KernelRunner kernel(cluster(input, values + "; " + positions, "%x: " + input,
                                    "%0:2 = sgd.top_k %x k = " + std::to_string(k) + " : (" + input + ") -> (" +
                                        values + ", " + positions + ")\nfusion.yield %0#0, %0#1 : " + values + ", " +
                                        positions));
        ASSERT_TRUE(kernel.ok());
        std::vector<Tensor> inputs = kernel.makeInputs();
        for (int i = 0; i < kRows * length; ++i) inputs[0].set(i, someFloat(i));
        forEachCut(kernel, inputs, [&](const std::vector<Tensor>& results) {
          for (int row = 0; row < kRows; ++row) {
            std::vector<int64_t> expected = order(row * length, length, [&](int64_t x, int64_t y) {
              return totalOrder(inputs[0].get(x)) > totalOrder(inputs[0].get(y));
            });
            for (int i = 0; i < k; ++i)
              ASSERT_EQ(results[1].getInteger(row * k + i), expected[i] - row * length) << type << " " << length;
          }
        });
      }
    }
  }
}

}  // namespace
