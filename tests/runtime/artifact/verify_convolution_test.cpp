// Each rule of convolutions refuses its violation, with a message that says what and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

// Two lines of 8 elements of 2 features by 3 elements of 2 x 4 features: 128 + 96 bytes to two of 6 x 4: 192.
ConvolutionT Sample() {
  ConvolutionT c;
  c.element = ElementType::F32;
  c.batch = std::make_unique<ConvolutionDim>(2, 16, 0, 24);
  c.groups = std::make_unique<ConvolutionDim>(1, 0, 0, 0);
  c.inputs = std::make_unique<ConvolutionDim>(2, 1, 4, 0);
  c.outputs = std::make_unique<ConvolutionDim>(4, 0, 1, 1);
  c.spatial = {WindowDim(8, 6, 3, 1, 1, 0, 2, 8, 4)};
  c.lhs = testing::SliceAt(Space::Private, 0, 128);
  c.rhs = testing::SliceAt(Space::Private, 128, 96);
  c.result = testing::SliceAt(Space::Private, 256, 192);
  return c;
}

std::string ErrorAfter(const std::function<void(ConvolutionT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  ConvolutionT convolution = Sample();
  change(convolution);
  testing::Append(*writer.artifact().programs[0], std::move(convolution));
  return std::string(writer.Serialize().status().message());
}

WindowDim Window(uint64_t output, uint64_t kernel, int64_t stride, int64_t dilation, int64_t low) {
  return WindowDim(8, output, kernel, stride, dilation, low, 2, 8, 4);
}

TEST(VerifyConvolution, RefusesWhatIsWrong) {
  struct Case {
    const char* name;
    std::function<void(ConvolutionT&)> change;
    const char* message;  // "": accepted
  };
  const Case cases[] = {
      {"unchanged", [](ConvolutionT&) {}, ""},
      {"padding", [](ConvolutionT& c) { c.spatial = {Window(6, 3, 1, 1, 5)}; }, ""},
      {"backwards", [](ConvolutionT& c) { c.spatial = {Window(6, 3, 1, -1, -2)}; }, ""},
      {"element", [](ConvolutionT& c) { c.element = ElementType::Bool; }, "(convolution): unknown element type"},
      {"complex element", [](ConvolutionT& c) { c.element = ElementType::C64; }, "unknown element type"},
      {"unknown element", [](ConvolutionT& c) { c.element = static_cast<ElementType>(99); }, "unknown element type"},
      {"epilogue", [](ConvolutionT& c) { c.epilogue = {static_cast<EpilogueStep>(9)}; }, "unknown epilogue"},
      {"gelu", [](ConvolutionT& c) { c.epilogue = {EpilogueStep::Gelu}; },
       "epilogue step gelu, which convolutions have not"},
      {"stride", [](ConvolutionT& c) { c.spatial = {Window(6, 3, 0, 1, 0)}; }, "a stride below 1"},
      {"dilation", [](ConvolutionT& c) { c.spatial = {Window(6, 3, 1, 0, 0)}; }, "a dilation of 0"},
      {"far padding", [](ConvolutionT& c) { c.spatial = {Window(6, 3, 1, 1, INT64_MIN)}; }, "is larger than 2^31"},
      {"far windows",
       [](ConvolutionT& c) {
         c.batch = std::make_unique<ConvolutionDim>(1, 0, 0, 24);
         c.spatial = {WindowDim(1, 6, 3, 1 << 30, 1, 0, int64_t{1} << 40, 8, 4)};
       },
       "windows reach further than 2^56 elements"},
      {"dilated lhs", [](ConvolutionT& c) { c.lhs_dilations = {2}; }, ""},
      {"lhs dilations", [](ConvolutionT& c) { c.lhs_dilations = {2, 2}; }, "dilations of the lhs do not match"},
      {"lhs dilation", [](ConvolutionT& c) { c.lhs_dilations = {0}; }, "a dilation of the lhs below 1"},
      {"far dilation", [](ConvolutionT& c) { c.lhs_dilations = {INT64_MAX}; }, "or larger than 2^31"},
      {"rounds", [](ConvolutionT& c) { c.rounds = true; }, "rounds elements that are neither f16 nor bf16"},
      {"rounded result",
       [](ConvolutionT& c) {
         c.element = ElementType::BF16, c.rounds = true;
         c.result = testing::SliceAt(Space::Private, 256, 94);
       },
       "result reaches 48 elements of bf16"},
      {"workspace", [](ConvolutionT& c) { c.workspace = testing::SliceAt(Space::Private, 448, 64); }, ""},
      {"overlapping workspace", [](ConvolutionT& c) { c.workspace = testing::SliceAt(Space::Private, 440, 64); },
       "the workspace overlaps an operand"},
      {"constant workspace", [](ConvolutionT& c) { c.workspace = testing::SliceAt(Space::Constant, 0, 16); },
       "the workspace is in the constants"},
      {"huge", [](ConvolutionT& c) { c.spatial = {Window(uint64_t{1} << 40, 3, 1, 1, 0)}; }, "larger than 2^31"},
      {"work", [](ConvolutionT& c) { c.spatial.assign(3, Window(uint64_t{1} << 30, 1, 1, 1, 0)); },
       "more than 2^63 multiplications"},
      {"many dimensions", [](ConvolutionT& c) { c.spatial.assign(7, c.spatial[0]); }, "more than 6 spatial dimensions"},
      {"lhs", [](ConvolutionT& c) { c.lhs = testing::SliceAt(Space::Private, 0, 124); },
       "lhs reaches 32 elements of f32 in a slice of 124 bytes"},
      {"rhs", [](ConvolutionT& c) { c.rhs = testing::SliceAt(Space::Private, 128, 92); }, "rhs reaches 24 elements"},
      {"result", [](ConvolutionT& c) { c.result = testing::SliceAt(Space::Private, 256, 188); },
       "result reaches 48 elements"},
      {"negative", [](ConvolutionT& c) { c.inputs = std::make_unique<ConvolutionDim>(2, -1, 4, 0); },
       "lhs has a negative stride"},
      {"shared result", [](ConvolutionT& c) { c.batch = std::make_unique<ConvolutionDim>(2, 16, 0, 8); },
       "the strides of the result let two elements share one address"},
      {"overlap", [](ConvolutionT& c) { c.result = testing::SliceAt(Space::Private, 64, 192); },
       "the result overlaps an operand"},
      {"constant", [](ConvolutionT& c) { c.result = testing::SliceAt(Space::Constant, 0, 192); }, "read-only"},
      {"no bias", [](ConvolutionT& c) { c.epilogue = {EpilogueStep::Bias}; }, "no operand bias for epilogue step bias"},
      {"overlapping bias",
       [](ConvolutionT& c) {
         c.epilogue = {EpilogueStep::Bias};
         c.bias = testing::SliceAt(Space::Private, 256, 16);
       },
       "the result overlaps the bias"},
      {"missing dimension", [](ConvolutionT& c) { c.groups = nullptr; }, "lacks a required field"},
      {"nothing to sum",
       [](ConvolutionT& c) {
         c.inputs = std::make_unique<ConvolutionDim>(0, 1, 4, 0);
         c.lhs = testing::SliceAt(Space::Private, 0, 0);
         c.rhs = testing::SliceAt(Space::Private, 0, 0);
       },
       ""},
      // Sums of narrow types take more room than their operands.
      {"wide sums", [](ConvolutionT& c) { c.element = ElementType::BF16; }, ""},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    const std::string error = ErrorAfter(test.change);
    if (*test.message == '\0') {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_THAT(error, HasSubstr(test.message));
    }
  }
}

}  // namespace
}  // namespace sgd::artifact
