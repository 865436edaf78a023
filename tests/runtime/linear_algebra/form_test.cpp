// Checks a call's form: its tensors, its memory, and the refusal of calls that do not exist.
#include "runtime/linear_algebra/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::linear_algebra {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::vector<uint64_t>> Shapes(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<uint64_t>> shapes;
  for (const Tensor& tensor : tensors) {
    shapes.emplace_back();
    for (const Dim& dim : tensor.dims) shapes.back().push_back(dim.size);
  }
  return shapes;
}

using S = std::vector<std::vector<uint64_t>>;

TEST(Form, SaysWhatEachKindReadsAndWrites) {
  EXPECT_EQ(Shapes(InputsOf({Kind::kTriangularSolve, 0, 5, 3})), (S{{5, 5}, {5, 3}}));
  EXPECT_EQ(Shapes(InputsOf({Kind::kTriangularSolve, kRight, 5, 3})), (S{{3, 3}, {5, 3}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kLu, 0, 5, 3})), (S{{5, 3}, {3}, {}}));
  EXPECT_EQ(Shapes(InputsOf({Kind::kHouseholderMultiply, 0, 5, 3, 2})), (S{{5, 2}, {2}, {5, 3}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kEigh, kVectors, 4, 4})), (S{{4, 4}, {4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kEigh, 0, 4, 4})), (S{{4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kSvd, kVectors, 5, 3})), (S{{3}, {5, 3}, {3, 3}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kSvd, kVectors | kFull, 5, 3})), (S{{3}, {5, 5}, {3, 3}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kTridiagonal, 0, 4, 4})), (S{{4, 4}, {4}, {3}, {3}, {}}));
  EXPECT_EQ(Shapes(InputsOf({Kind::kTridiagonalSolve, 0, 5, 3})), (S{{5}, {5}, {5}, {5, 3}}));
}

// Complex tensors are two, real parts first; what is real or an integer stays one.
TEST(Form, ComplexTensorsAreTwo) {
  const Form lu{Kind::kLu, kComplex, 5, 3};
  EXPECT_EQ(Shapes(InputsOf(lu)), (S{{5, 3}, {5, 3}}));
  EXPECT_EQ(Shapes(OutputsOf(lu)), (S{{5, 3}, {5, 3}, {3}, {}}));
  EXPECT_EQ(OutputsOf(lu)[1].name, "imaginary lu");
  EXPECT_TRUE(OutputsOf(lu)[1].is_imaginary);
  EXPECT_EQ(Shapes(OutputsOf({Kind::kEigh, kComplex | kVectors, 4, 4})), (S{{4, 4}, {4, 4}, {4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kTridiagonal, kComplex, 4, 4})), (S{{4, 4}, {4, 4}, {4}, {3}, {3}, {3}, {}}));
  EXPECT_EQ(Shapes(InputsOf({Kind::kPivotedQr, kComplex, 5, 3})), (S{{5, 3}, {5, 3}, {3}}));
  // Eigenvalues are complex whatever the matrix is.
  EXPECT_EQ(Shapes(OutputsOf({Kind::kEig, kVectors, 4, 4})), (S{{4}, {4}, {4, 4}, {4, 4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kEig, kVectors | kComplex, 4, 4})), (S{{4}, {4}, {4, 4}, {4, 4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kSchur, kComplex, 4, 4})), (S{{4, 4}, {4, 4}, {4}, {4}, {}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kSchur, 0, 4, 4})), (S{{4, 4}, {4}, {4}, {}}));
  const Operands multiply = OperandsOf(Kind::kHouseholderMultiply, kComplex);
  EXPECT_EQ(multiply.count, 6u);
  EXPECT_EQ(multiply.main, 4u);
  EXPECT_EQ(multiply.reflectors, 2);
}

// Columns of a right-hand side are independent; nothing else is.
TEST(Form, KnowsWhichDimensionsAreFree) {
  for (uint8_t kind = 0; kind < kNumKinds; ++kind) {
    for (uint32_t options : {0u, uint32_t{kRight}}) {
      const Form form{static_cast<Kind>(kind), options, 4, 4, 4};
      if (!WhyNot(form).empty()) continue;
      int free = 0;
      for (const std::vector<Tensor>& tensors : {InputsOf(form), OutputsOf(form)}) {
        for (const Tensor& tensor : tensors) {
          for (const Dim& dim : tensor.dims) free += dim.is_free ? 1 : 0;
        }
      }
      const bool is_solver = form.kind == Kind::kTriangularSolve || form.kind == Kind::kHouseholderMultiply ||
                             form.kind == Kind::kTridiagonalSolve;
      EXPECT_EQ(free, is_solver ? 2 : 0) << KindName(form.kind);
    }
  }
}

// All sets of options of matrices, and all of transforms.
std::vector<uint32_t> AllOptions() {
  std::vector<uint32_t> options;
  for (uint32_t set = 0; set < 1024; ++set) options.push_back(set % 256 | set / 256 * kComplex);
  for (uint32_t set = kInverse; set < kComplex; set += kInverse) options.push_back(set);
  return options;
}

// Everything that a kind refuses is named after it; what it takes has working memory that LAPACK's integers can count.
TEST(Form, EverySmallFormHasWorkspaceOrAReason) {
  for (uint8_t kind = 0; kind < kNumKinds; ++kind) {
    for (uint32_t options : AllOptions()) {
      for (uint64_t m = 0; m < 4; ++m) {
        for (uint64_t n = 0; n < 4; ++n) {
          for (uint64_t k = 0; k < 4; ++k) {
            const Form form{static_cast<Kind>(kind), options, m, n, k};
            const std::string why = WhyNot(form);
            if (!why.empty()) {
              EXPECT_THAT(why, HasSubstr(KindName(form.kind)));
              continue;
            }
            EXPECT_EQ(InputsOf(form).size(), OperandsOf(form.kind, options).count);
            EXPECT_EQ(WorkspaceOf(form).Bytes(4) % 64, 0u);
            for (uint64_t batch : {0, 1, 5, 1000}) {
              const uint64_t lanes = LanesFor(form, batch, 4);
              EXPECT_GE(lanes, 1u);
              EXPECT_LE(lanes, batch == 0 ? 1 : batch);
            }
          }
        }
      }
    }
  }
}

TEST(Form, RefusesWhatThereIsNot) {
  EXPECT_THAT(WhyNot({Kind::kCholesky, kLower, 4, 4}), IsEmpty());
  EXPECT_THAT(WhyNot({Kind::kCholesky, kRight, 4, 4}), HasSubstr("options that it has not"));
  EXPECT_THAT(WhyNot({Kind::kTriangularSolve, kComplex | kTranspose | kConjugate, 4, 4}), IsEmpty());
  EXPECT_THAT(WhyNot({Kind::kTriangularSolve, kTranspose | kConjugate, 4, 4}), HasSubstr("not complex and transposed"));
  EXPECT_THAT(WhyNot({Kind::kTriangularSolve, kComplex | kConjugate, 4, 4}), HasSubstr("not complex and transposed"));
  EXPECT_THAT(WhyNot({Kind::kHouseholderMultiply, kComplex | kTranspose, 4, 4, 2}), HasSubstr("not of its conjugate"));
  EXPECT_THAT(WhyNot({Kind::kEigh, kVectors | kComplex, 40000, 40000}), HasSubstr("of working memory"));
  EXPECT_THAT(WhyNot({Kind::kSvd, kFull, 4, 4}), HasSubstr("full vectors without vectors"));
  EXPECT_THAT(WhyNot({Kind::kQr, 0, 0, 4}), HasSubstr("qr of an empty matrix"));
  EXPECT_THAT(WhyNot({Kind::kEigh, 0, 4, 5}), HasSubstr("4 rows and 5 columns, not a square"));
  EXPECT_THAT(WhyNot({Kind::kHouseholderProduct, 0, 4, 5, 2}), HasSubstr("more columns than rows"));
  EXPECT_THAT(WhyNot({Kind::kHouseholderMultiply, kRight, 9, 4, 5}), HasSubstr("more reflectors than they have rows"));
  EXPECT_THAT(WhyNot({Kind::kLu, 0, uint64_t{1} << 32, uint64_t{1} << 32}), HasSubstr("2^31 - 1 elements"));
  EXPECT_THAT(WhyNot({Kind::kLu, 0, UINT64_MAX, UINT64_MAX}), HasSubstr("2^31 - 1 elements"));
  EXPECT_THAT(WhyNot({Kind::kEigh, kVectors, 40000, 40000}), HasSubstr("2^31 - 1 elements of working memory"));
}

TEST(Form, TransformsSayTheirShapes) {
  EXPECT_EQ(Shapes(InputsOf({Kind::kFft, 0, 1, 8, 1})), (S{{8}, {8}}));
  EXPECT_EQ(Shapes(InputsOf({Kind::kFft, kTwoDims | kPairedOperand, 4, 8, 1})), (S{{4, 8, 2}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kRealFft, kThreeDims, 4, 9, 3})), (S{{3, 4, 5}, {3, 4, 5}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kRealFft, kPairedResult, 1, 8, 1})), (S{{5, 2}}));
  EXPECT_EQ(Shapes(OutputsOf({Kind::kInverseRealFft, kOddLength, 1, 9, 1})), (S{{9}}));
  EXPECT_EQ(WorkspaceOf({Kind::kInverseRealFft, kTwoDims, 4, 8, 1}).work, 2u * 4 * 5);
  EXPECT_EQ(WorkspaceOf({Kind::kFft, 0, 1, kMostRowOfThread, 1}).work, 0u);
  EXPECT_GE(WorkspaceOf({Kind::kFft, 0, 1, 2 * kMostRowOfThread, 1}).work, 4 * kMostRowOfThread);
}

TEST(Form, RefusesTransformsThatThereAreNot) {
  EXPECT_THAT(WhyNot({Kind::kFft, kInverse, 1, 8, 1}), IsEmpty());
  EXPECT_THAT(WhyNot({Kind::kFft, kLower, 1, 8, 1}), HasSubstr("options that it has not"));
  EXPECT_THAT(WhyNot({Kind::kRealFft, kInverse, 1, 8, 1}), HasSubstr("options that it has not"));
  EXPECT_THAT(WhyNot({Kind::kFft, kTwoDims | kThreeDims, 1, 8, 1}), HasSubstr("two and over three"));
  EXPECT_THAT(WhyNot({Kind::kFft, 0, 1, 0, 1}), HasSubstr("no elements"));
  EXPECT_THAT(WhyNot({Kind::kFft, 0, 4, 8, 1}), HasSubstr("more dimensions than are transformed"));
  EXPECT_THAT(WhyNot({Kind::kInverseRealFft, 0, 1, 9, 1}), HasSubstr("another length"));
  EXPECT_THAT(WhyNot({Kind::kFft, kThreeDims, UINT64_MAX, UINT64_MAX, UINT64_MAX}), HasSubstr("2^31 - 1 elements"));
  EXPECT_THAT(WhyNot({Kind::kFft, kThreeDims, 1 << 15, 1 << 15, 4}), HasSubstr("2^31 - 1 elements"));
}

// The same plan for any machine: lanes shrink as matrices grow.
TEST(Form, LanesFollowFromSizes) {
  EXPECT_EQ(LanesFor({Kind::kLu, 0, 4, 4}, 4096, 4), 64u);
  EXPECT_EQ(LanesFor({Kind::kLu, 0, 4, 4}, 3, 4), 3u);
  EXPECT_EQ(LanesFor({Kind::kLu, 0, 1024, 1024}, 100, 4), 8u);
  EXPECT_EQ(LanesFor({Kind::kLu, 0, 8192, 8192}, 100, 4), 1u);
}

}  // namespace
}  // namespace sgd::linear_algebra
