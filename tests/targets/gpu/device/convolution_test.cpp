// Convolutions through the library's interface against sums of products, and how engines are chosen.
#include "runtime/artifact/epilogue.h"
#include "targets/gpu/device/cudnn/convolution.h"

#include <gmock/gmock.h>

#include <cmath>

#include "emulated_device.h"
#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/cudnn/cudnn_engines.h"
#include "tests/runtime/artifact/convolution_products.h"
#include "tests/runtime/library/sum_epilogues.h"

namespace sgd::cuda {
namespace {

using artifact::ConvolutionDim;
using artifact::ConvolutionT;
using artifact::ElementType;
using artifact::Slice;
using artifact::Space;
using artifact::WindowDim;
using library::Epilogue;
using library::EpilogueStep;
using ::sgd::testing::EmulatedDevice;
using ::sgd::testing::ForEachProduct;
using ::sgd::testing::ForEachResult;
using ::testing::HasSubstr;

// Small integers are exact in every type.
double ValueAt(size_t i) { return static_cast<double>(i * 7 % 5) - 2; }

constexpr uint64_t kLhs = 0, kRhs = 8192, kResult = 16384, kWorkspace = 24576, kBias = 40960, kEnd = 41216;

std::unique_ptr<Slice> SliceAt(uint64_t offset, uint64_t bytes) {
  return std::make_unique<Slice>(Space::Private, offset, bytes);
}

// x[2, 7, 5, groups * 2], 3x2 windows with strides 2 and 1, to y[2, 4, 4, groups * 3].
ConvolutionT Forward(int64_t groups) {
  ConvolutionT c;
  const int64_t x = groups * 2, y = groups * 3;
  c.batch = std::make_unique<ConvolutionDim>(2, 35 * x, 0, 16 * y);
  c.groups = std::make_unique<ConvolutionDim>(groups, 2, 3, 3);
  c.inputs = std::make_unique<ConvolutionDim>(2, 1, y, 0);
  c.outputs = std::make_unique<ConvolutionDim>(3, 0, 1, 1);
  c.spatial = {WindowDim(7, 4, 3, 2, 1, 1, 5 * x, 4 * y, 4 * y), WindowDim(5, 4, 2, 1, 1, 0, x, 2 * y, y)};
  return c;
}

// Its gradients, as frontends write them.
ConvolutionT ByData(int64_t groups) {
  const ConvolutionT f = Forward(groups);
  const int64_t x = groups * 2, y = groups * 3;
  ConvolutionT c;
  c.batch = std::make_unique<ConvolutionDim>(2, 16 * y, 0, 35 * x);
  c.groups = std::make_unique<ConvolutionDim>(groups, 3, 3, 2);
  c.inputs = std::make_unique<ConvolutionDim>(3, 1, 1, 0);
  c.outputs = std::make_unique<ConvolutionDim>(2, 0, y, 1);
  c.spatial = {WindowDim(4, 7, 3, 1, -1, -1, 4 * y, 4 * y, 5 * x), WindowDim(4, 5, 2, 1, -1, 0, y, 2 * y, x)};
  c.lhs_dilations = {2, 1};
  return c;
}
ConvolutionT ByFilter(int64_t groups) {
  const int64_t x = groups * 2, y = groups * 3;
  ConvolutionT c;
  c.batch = std::make_unique<ConvolutionDim>(2, 1, 0, y);
  c.groups = std::make_unique<ConvolutionDim>(groups, 2, 3, 3);
  c.inputs = std::make_unique<ConvolutionDim>(2, 35 * x, 16 * y, 0);
  c.outputs = std::make_unique<ConvolutionDim>(3, 0, 1, 1);
  c.spatial = {WindowDim(7, 3, 4, 1, 2, 1, 5 * x, 4 * y, 4 * y), WindowDim(5, 2, 4, 1, 1, 0, x, y, 2 * y)};
  return c;
}

class ConvolutionTest : public EmulatedDevice {
 protected:
  static void Place(ConvolutionT& c, ElementType element, uint64_t workspace) {
    c.element = element;
    c.rounds = artifact::ElementSize(element) == 2;
    c.lhs = SliceAt(kLhs, 8192), c.rhs = SliceAt(kRhs, 8192), c.result = SliceAt(kResult, 8192);
    if (artifact::EpilogueOf(c.epilogue).Has(EpilogueStep::kBias)) c.bias = SliceAt(kBias, 256);
    if (workspace != 0) c.workspace = SliceAt(kWorkspace, workspace);
  }

  device::PreparedThunk Make(const ConvolutionT& c, std::byte* memory) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Convolution::Pack(builder, &c));
    device::MemoryMap map;
    map.private_base = memory;
    return device_->PrepareConvolution(*flatbuffers::GetRoot<artifact::Convolution>(builder.GetBufferPointer()), map);
  }

  template <typename T>
  void Check(ElementType element, ConvolutionT c) {
    Place(c, element, 16384);
    auto arena = *device_->Allocate(kEnd);
    std::vector<T> values(8192 / sizeof(T));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(ValueAt(i));
    for (uint64_t offset : {kLhs, kRhs, kResult}) Put(arena->data() + offset, values);
    Put(arena->data() + kBias, std::vector<T>(values.begin(), values.begin() + 256 / sizeof(T)));
    auto thunk = Make(c, arena->data());
    ASSERT_TRUE(thunk.ok()) << thunk.status();
    ASSERT_TRUE((*thunk)->Execute().ok());
    std::vector<double> expected(values.size());
    for (size_t i = 0; i < values.size(); ++i) expected[i] = ValueAt(i);
    const auto columns = static_cast<int64_t>(c.groups->size() * c.outputs->size());  // the innermost of the result
    ForEachResult(c, [&](int64_t place) {
      double& start = expected[static_cast<size_t>(place)];
      if (!artifact::EpilogueOf(c.epilogue).Has(EpilogueStep::kResidual)) start = 0;
      if (c.bias != nullptr) start = ValueAt(static_cast<size_t>(place % columns));
    });
    ForEachProduct(c, [&](int64_t place, int64_t lhs, int64_t rhs) {
      expected[static_cast<size_t>(place)] += ValueAt(static_cast<size_t>(lhs)) * ValueAt(static_cast<size_t>(rhs));
    });
    if (artifact::EpilogueOf(c.epilogue).Has(EpilogueStep::kRelu))
      ForEachResult(c, [&](int64_t place) {
        double& value = expected[static_cast<size_t>(place)];
        value = std::max(value, 0.0);
      });
    const std::vector<T> result = Get<T>(arena->data() + kResult, values.size());
    for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(static_cast<double>(result[i]), expected[i]) << i;
  }

  std::string Choices() { return device_->algorithm_choices()->Save(); }
};

TEST_F(ConvolutionTest, EveryKindAndType) {
  for (int64_t groups : {1, 3}) {
    for (const auto& make : {Forward, ByData, ByFilter}) {
      Check<float>(ElementType::F32, make(groups));
      Check<double>(ElementType::F64, make(groups));
      Check<_Float16>(ElementType::F16, make(groups));
    }
  }
}

TEST_F(ConvolutionTest, Epilogues) {
  const auto with = [](ConvolutionT c, Epilogue epilogue) {
    c.epilogue = artifact::StepsOf(epilogue);
    return c;
  };
  for (int64_t groups : {1, 3}) {
    for (const auto& make : {Forward, ByData, ByFilter})
      Check<float>(ElementType::F32, with(make(groups), testing::kResidual));
    Check<_Float16>(ElementType::F16, with(Forward(groups), testing::kResidual));
    for (Epilogue epilogue : {testing::kBias, testing::kBiasRelu}) {
      Check<float>(ElementType::F32, with(Forward(groups), epilogue));
      Check<_Float16>(ElementType::F16, with(Forward(groups), epilogue));
    }
  }
  ConvolutionT c = with(ByData(1), testing::kBias);
  Place(c, ElementType::F32, 0);
  auto arena = *device_->Allocate(kEnd);
  EXPECT_THAT(std::string(Make(c, arena->data()).status().message()), HasSubstr("forward convolutions"));
  c = with(Forward(1), testing::kResidualBias);
  Place(c, ElementType::F32, 0);
  EXPECT_THAT(std::string(Make(c, arena->data()).status().message()), HasSubstr("an epilogue of residual, bias"));
}

TEST_F(ConvolutionTest, ReluKeepsNaN) {
  ConvolutionT c = Forward(1);
  c.epilogue = artifact::StepsOf(testing::kBiasRelu);
  Place(c, ElementType::F32, 16384);
  auto arena = *device_->Allocate(kEnd);
  Put(arena->data(), std::vector<float>(kEnd / sizeof(float), std::nanf("")));
  auto thunk = Make(c, arena->data());
  ASSERT_TRUE(thunk.ok()) << thunk.status();
  ASSERT_TRUE((*thunk)->Execute().ok());
  EXPECT_TRUE(std::isnan(Get<float>(arena->data() + kResult, 1).front()));
}

// A kernel read backwards without strides, and padding that leaves elements out.
TEST_F(ConvolutionTest, UnusualWindows) {
  const auto with = [](int64_t dilation, int64_t low_of_rows, int64_t low_of_columns) {
    ConvolutionT c = Forward(1);
    c.spatial = {WindowDim(7, 4, 3, 2, dilation, low_of_rows, 10, 12, 12),
                 WindowDim(5, 4, 2, 1, dilation, low_of_columns, 2, 6, 3)};
    return c;
  };
  Check<float>(ElementType::F32, with(-1, -1, -1));
  Check<float>(ElementType::F32, with(1, -1, -2));
}

// The fake proposes engines that change bits or precision first.
TEST_F(ConvolutionTest, ChoosesAmongEnginesWithTheRightResults) {
  auto arena = *device_->Allocate(kEnd);
  const auto chosen = [&](ElementType element, uint64_t workspace) {
    auto device = CudaDevice::Create({});
    device_ = *std::move(device);
    ConvolutionT c = Forward(1);
    Place(c, element, workspace);
    EXPECT_TRUE(Make(c, arena->data()).ok());
    return Choices();
  };
  EXPECT_THAT(chosen(ElementType::F16, 0), HasSubstr("engine 45, 2=2"));
  EXPECT_THAT(chosen(ElementType::F64, 0), HasSubstr("engine 45, 2=2"));
  EXPECT_THAT(chosen(ElementType::F32, 16384), HasSubstr("engine 70, 2=2"));
  EXPECT_THAT(chosen(ElementType::F32, 64), HasSubstr("engine 0"));
}

TEST_F(ConvolutionTest, OtherRanksTakeTheFirstOnesEngine) {
  auto arena = *device_->Allocate(kEnd);
  ConvolutionT c = Forward(1);
  Place(c, ElementType::F32, 16384);
  ASSERT_TRUE(Make(c, arena->data()).ok());
  std::string choices = Choices();
  const auto start = [&](bool decides, const std::string& given) {
    device_ = *CudaDevice::Create({});
    device_->algorithm_choices()->set_decides(decides);
    EXPECT_TRUE(device_->algorithm_choices()->Restore(given).ok());
    return Make(c, arena->data()).status();
  };
  EXPECT_TRUE(start(false, choices).ok());
  EXPECT_EQ(Choices(), choices);
  // One that cuDNN refuses, one with other bits, and no choice at all.
  for (const char* wrong : {"engine 71, 2=2", "engine 20, 2=2", "engine 70, 2=9", "engine x9, 2=2"}) {
    std::string changed = choices;
    changed.replace(changed.find("engine 70, 2=2"), 14, wrong);
    EXPECT_EQ(start(false, changed).code(), absl::StatusCode::kFailedPrecondition) << wrong;
    ASSERT_TRUE(start(true, changed).ok()) << wrong;
    EXPECT_EQ(Choices(), choices);
  }
  EXPECT_THAT(std::string(start(false, "").message()), HasSubstr("there is none (cuDNN "));
}

TEST_F(ConvolutionTest, TimesCandidatesWhenAsked) {
  auto arena = *device_->Allocate(kEnd);
  ConvolutionT c = Forward(1);
  Place(c, ElementType::F16, 16384);
  device_->algorithm_choices()->set_times_candidates(true);
  auto thunk = Make(c, arena->data());
  ASSERT_TRUE(thunk.ok()) << thunk.status();
  ASSERT_TRUE((*thunk)->Execute().ok());
  EXPECT_TRUE(device_->Synchronize().ok());
  // One of the three that give the right results, whichever the clock prefers.
  EXPECT_THAT(Choices(),
              ::testing::AnyOf(HasSubstr("engine 45, 2=2"), HasSubstr("engine 70, 2=2"), HasSubstr("engine 0")));
}

TEST_F(ConvolutionTest, RefusesWhatTheCompilerMakesKernelsOf) {
  ConvolutionT c = Forward(1);
  Place(c, ElementType::I32, 0);
  EXPECT_EQ(std::string(Make(c, nullptr).status().message()),
            "convolution on a GPU: elements that are no floats; the compiler makes kernels of such convolutions: "
            "compile again");
}

TEST(EngineChoice, IsAText) {
  const EngineChoice choice{.engine = 45, .knobs = {{2, 10}, {8, 0}}};
  EXPECT_EQ(choice.Text(), "engine 45, 2=10, 8=0");
  absl::StatusOr<EngineChoice> parsed = EngineChoice::Parse(choice.Text());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->engine, 45);
  EXPECT_EQ(parsed->knobs, choice.knobs);
  EXPECT_TRUE(EngineChoice::Parse("engine 0").ok());
  for (const char* text : {"", "engine", "engine ", "engine 1,2=3", "engine 1, 2", "engine 1, 2=", "engine 1, -2=3",
                           "engine 1, 999=3", "engine 1, 2=3=4", "motor 1"})
    EXPECT_FALSE(EngineChoice::Parse(text).ok()) << text;
}

}  // namespace
}  // namespace sgd::cuda
