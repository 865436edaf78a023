// Each rule of linear algebra refuses its violation, with a message that says what and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/artifact/writer.h"
#include "runtime/linear_algebra/form.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

// LU of two matrices of 3 by 2: 48 bytes to 48, 16 of pivots, 8 of infos, with a lane of 64 bytes.
LinearAlgebraT Sample() {
  LinearAlgebraT call;
  call.kind = LinearAlgebraKind::Lu;
  call.element = ElementType::F32;
  call.batch = 2, call.m = 3, call.n = 2;
  call.inputs = {*testing::SliceAt(Space::Private, 0, 48)};
  call.outputs = {*testing::SliceAt(Space::Private, 64, 48), *testing::SliceAt(Space::Private, 128, 16),
                  *testing::SliceAt(Space::Private, 192, 8)};
  call.workspace = testing::SliceAt(Space::Private, 256, 64);
  return call;
}

std::string ErrorAfter(const std::function<void(LinearAlgebraT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  LinearAlgebraT call = Sample();
  change(call);
  testing::Append(*writer.artifact().programs[0], std::move(call));
  return std::string(writer.Serialize().status().message());
}

TEST(VerifyLinearAlgebra, RefusesWhatIsWrong) {
  struct Case {
    const char* name;
    std::function<void(LinearAlgebraT&)> change;
    const char* message;  // "": accepted
  };
  const Case cases[] = {
      {"unchanged", [](LinearAlgebraT&) {}, ""},
      {"no matrices", [](LinearAlgebraT& c) { c.batch = 0; }, ""},
      {"kind", [](LinearAlgebraT& c) { c.kind = static_cast<LinearAlgebraKind>(99); },
       "(linear_algebra): an unknown kind"},
      {"kind behind the transforms",
       [](LinearAlgebraT& c) { c.kind = static_cast<LinearAlgebraKind>(linear_algebra::kNumKinds); },
       "an unknown kind"},
      {"transform with a part missing",
       [](LinearAlgebraT& c) {
         c.kind = static_cast<LinearAlgebraKind>(linear_algebra::Kind::kFft);
         c.m = c.k = 1;
       },
       "1 operands where there are 2"},
      {"transform of longer rows",
       [](LinearAlgebraT& c) {
         c.kind = static_cast<LinearAlgebraKind>(linear_algebra::Kind::kRealFft);
         c.m = c.k = 1, c.n = 7;
       },
       "x"},
      {"element", [](LinearAlgebraT& c) { c.element = ElementType::BF16; }, "other elements than f32 and f64"},
      {"unknown element", [](LinearAlgebraT& c) { c.element = static_cast<ElementType>(99); }, "other elements"},
      {"complex", [](LinearAlgebraT& c) { c.options = linear_algebra::kComplex; }, "1 operands where there are 2"},
      {"conjugate", [](LinearAlgebraT& c) { c.options = linear_algebra::kConjugate; }, "options that it has not"},
      {"complex element", [](LinearAlgebraT& c) { c.element = ElementType::C64; }, "other elements than f32 and f64"},
      {"options", [](LinearAlgebraT& c) { c.options = linear_algebra::kFull; }, "lu with options that it has not"},
      {"unknown options", [](LinearAlgebraT& c) { c.options = 1u << 31; }, "lu with options that it has not"},
      {"empty", [](LinearAlgebraT& c) { c.m = 0; }, "lu of an empty matrix"},
      {"square", [](LinearAlgebraT& c) { c.kind = LinearAlgebraKind::Eigh; }, "not a square"},
      {"huge", [](LinearAlgebraT& c) { c.m = c.n = UINT64_MAX; }, "2^31 - 1 elements"},
      {"huge batch", [](LinearAlgebraT& c) { c.batch = uint64_t{1} << 47; }, "a tensor of more than 2^48 elements"},
      {"wrapping batch", [](LinearAlgebraT& c) { c.batch = UINT64_MAX / 6 + 2; }, "larger than 2^48"},
      {"no lanes", [](LinearAlgebraT& c) { c.lanes = 0; }, "no lanes"},
      {"many lanes", [](LinearAlgebraT& c) { c.lanes = 3; }, "more lanes than matrices"},
      {"workspace of two lanes", [](LinearAlgebraT& c) { c.lanes = 2; }, "the workspace reaches 128 elements"},
      {"no workspace", [](LinearAlgebraT& c) { c.workspace = nullptr; }, "the workspace is missing"},
      {"workspace that is not aligned",
       [](LinearAlgebraT& c) { c.workspace = testing::SliceAt(Space::Private, 260, 64); }, "not aligned to 64 bytes"},
      {"constant workspace", [](LinearAlgebraT& c) { c.workspace = testing::SliceAt(Space::Constant, 0, 64); },
       "the workspace"},
      {"operands", [](LinearAlgebraT& c) { c.inputs.clear(); }, "0 operands where there are 1"},
      {"results", [](LinearAlgebraT& c) { c.outputs.pop_back(); }, "2 results where there are 3"},
      {"short operand", [](LinearAlgebraT& c) { c.inputs[0] = *testing::SliceAt(Space::Private, 0, 44); },
       "a reaches 12 elements of f32 in a slice of 44 bytes"},
      {"short pivots", [](LinearAlgebraT& c) { c.outputs[1] = *testing::SliceAt(Space::Private, 128, 12); },
       "pivots reaches 4 elements of i32"},
      {"constant result", [](LinearAlgebraT& c) { c.outputs[2] = *testing::SliceAt(Space::Constant, 0, 8); },
       "info is in the constants"},
      {"in place", [](LinearAlgebraT& c) { c.outputs[0] = *testing::SliceAt(Space::Private, 0, 48); }, "lu overlaps a"},
      {"overlapping workspace", [](LinearAlgebraT& c) { c.workspace = testing::SliceAt(Space::Private, 192, 64); },
       "overlaps"},
  };
  for (const Case& c : cases) {
    if (*c.message == '\0') {
      EXPECT_EQ(ErrorAfter(c.change), "") << c.name;
    } else {
      EXPECT_THAT(ErrorAfter(c.change), HasSubstr(c.message)) << c.name;
    }
  }
}

}  // namespace
}  // namespace sgd::artifact
