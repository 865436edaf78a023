// The cut of a tensor's dimensions into rows and columns.
#include "passes/spmd/compress/matrix_form.h"

#include "gtest/gtest.h"

namespace mlir::sgd {
namespace {

TEST(MatrixForm, CutsWhereFactorsAreSmallest) {
  auto get = [](std::initializer_list<int64_t> shape) {
    MatrixForm form = MatrixForm::get(shape);
    return std::pair(form.rows, form.columns);
  };
  EXPECT_EQ(get({24, 40}), std::pair(24l, 40l));
  EXPECT_EQ(get({2, 12, 16}), std::pair(24l, 16l));
  EXPECT_EQ(get({1, 5, 1, 7}), std::pair(5l, 7l));
  EXPECT_EQ(get({3, 3, 64, 128}), std::pair(576l, 128l)) << "a kernel of a convolution";
  EXPECT_EQ(get({100}), std::pair(1l, 100l));
  EXPECT_EQ(get({}), std::pair(1l, 1l));
}

TEST(MatrixForm, EmptyTensorsHaveNoElements) {
  MatrixForm form = MatrixForm::get({4, 0, 3});
  EXPECT_EQ(form.rows * form.columns, 0);
}

}  // namespace
}  // namespace mlir::sgd
