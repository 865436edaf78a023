// cuDNN itself, where it is installed, plans our graphs for a GPU that is not there: it accepts every descriptor that
// we make, and has engines within the limits. Skipped where there is none, or one before 9.8.
#include "targets/gpu/device/cudnn.h"

#include <gmock/gmock.h>

#include "emulated_device.h"
#include "targets/gpu/device/convolution_graph.h"
#include "targets/gpu/device/cudnn_engines.h"

namespace sgd::cuda {
namespace {

using artifact::ConvolutionDim;
using artifact::ConvolutionForm;
using artifact::ConvolutionKind;
using artifact::ConvolutionT;
using artifact::ElementType;
using artifact::WindowDim;
using ::sgd::testing::ScopedVariable;
using ::testing::HasSubstr;

// An H200.
constexpr char kGpu[] =
    R"({"deviceVer": 900, "driverVer": 13000, "maxGridSize": [2147483647, 65535, 65535],
    "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "multiProcessorCount": 132, "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024,
    "maxRegistersPerSM": 65536, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
    "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "smClockRateKHz": 1980000,
    "memClockRateKHz": 3201000, "l2CacheSize": 62914560, "deviceName": "NVIDIA H200", "totalGlobalMem": 150754820096,
    "cudaDeviceId": 0})";

// Of the middle of a ResNet: 3x3 windows with strides 2, [4, 17, 17, 32] to [4, 9, 9, 64], NHWC.
ConvolutionT Convolution(ConvolutionKind kind) {
  ConvolutionT c;
  c.groups = std::make_unique<ConvolutionDim>(1, 0, 0, 0);
  switch (kind) {
    case ConvolutionKind::Forward:
      c.batch = std::make_unique<ConvolutionDim>(4, 9248, 0, 5184);
      c.inputs = std::make_unique<ConvolutionDim>(32, 1, 64, 0);
      c.outputs = std::make_unique<ConvolutionDim>(64, 0, 1, 1);
      c.spatial = {WindowDim(17, 9, 3, 2, 1, 1, 544, 6144, 576), WindowDim(17, 9, 3, 2, 1, 1, 32, 2048, 64)};
      break;
    case ConvolutionKind::DataGradient:
      c.batch = std::make_unique<ConvolutionDim>(4, 5184, 0, 9248);
      c.inputs = std::make_unique<ConvolutionDim>(64, 1, 1, 0);
      c.outputs = std::make_unique<ConvolutionDim>(32, 0, 64, 1);
      c.spatial = {WindowDim(9, 17, 3, 1, -1, -1, 576, 6144, 544), WindowDim(9, 17, 3, 1, -1, -1, 64, 2048, 32)};
      c.lhs_dilations = {2, 2};
      break;
    case ConvolutionKind::FilterGradient:
      c.batch = std::make_unique<ConvolutionDim>(32, 1, 0, 64);
      c.inputs = std::make_unique<ConvolutionDim>(4, 9248, 5184, 0);
      c.outputs = std::make_unique<ConvolutionDim>(64, 0, 1, 1);
      c.spatial = {WindowDim(17, 3, 9, 1, 2, 1, 544, 576, 6144), WindowDim(17, 3, 9, 1, 2, 1, 32, 64, 2048)};
      break;
  }
  return c;
}

TEST(Cudnn, SaysWhatIsMissing) {
  ScopedVariable libraries("SGD_CUDA_LIBRARIES", "/nonexistent"), only("SGD_CUDA_LIBRARIES_ONLY", "1");
  absl::Status status = Cudnn::Open().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot open libcudnn.so.9, which computes convolutions"));
}

class CudnnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Cudnn::OpenFor(kGpu);
    if (absl::IsFailedPrecondition(cudnn.status())) GTEST_SKIP() << cudnn.status();
    ASSERT_TRUE(cudnn.ok()) << cudnn.status();
    cudnn_ = *std::move(cudnn);
  }

  std::unique_ptr<Cudnn> cudnn_;
};

TEST_F(CudnnTest, HasEnginesForEveryKindAndType) {
  for (ConvolutionKind kind :
       {ConvolutionKind::Forward, ConvolutionKind::DataGradient, ConvolutionKind::FilterGradient}) {
    for (ElementType element : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " of type " << static_cast<int>(element));
      ConvolutionT c = Convolution(kind);
      c.element = element;
      c.rounds = element == ElementType::F16 || element == ElementType::BF16;
      absl::StatusOr<ConvolutionForm> form = artifact::ConvolutionFormOf(c);
      ASSERT_TRUE(form.ok()) << form.status();
      ASSERT_EQ(form->kind, kind);
      absl::StatusOr<CudnnDescriptor> graph = BuildConvolutionGraph(*cudnn_, *form, element, {});
      ASSERT_TRUE(graph.ok()) << graph.status();
      for (uint64_t workspace : {uint64_t{0}, uint64_t{8} << 20}) {
        const EngineLimits limits{.workspace_bytes = workspace, .takes_tensor_cores = element != ElementType::F32};
        absl::StatusOr<std::vector<EngineChoice>> proposals = ProposeEngines(*cudnn_, *graph, limits);
        ASSERT_TRUE(proposals.ok()) << proposals.status();
        ASSERT_FALSE(proposals->empty());
        // The fallback needs nothing and always works.
        absl::StatusOr<CudnnDescriptor> plan = PlanWith(*cudnn_, *graph, proposals->back(), limits);
        EXPECT_TRUE(plan.ok()) << proposals->back().Text() << ": " << plan.status();
      }
    }
  }
}

TEST_F(CudnnTest, AChoiceMakesTheSamePlanAgain) {
  ConvolutionT c = Convolution(ConvolutionKind::Forward);
  c.element = ElementType::F32;
  const ConvolutionForm form = *artifact::ConvolutionFormOf(c);
  absl::StatusOr<CudnnDescriptor> graph = BuildConvolutionGraph(*cudnn_, form, ElementType::F32, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const EngineLimits limits{.workspace_bytes = 8 << 20, .takes_tensor_cores = false};
  absl::StatusOr<std::vector<EngineChoice>> proposals = ProposeEngines(*cudnn_, *graph, limits);
  ASSERT_TRUE(proposals.ok() && !proposals->empty());
  absl::StatusOr<EngineChoice> again = EngineChoice::Parse(proposals->front().Text());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(PlanWith(*cudnn_, *graph, *again, limits).ok());
  // What is not one is refused by cuDNN, not executed.
  EXPECT_FALSE(PlanWith(*cudnn_, *graph, {.engine = 100000, .knobs = {}}, limits).ok());
  again->knobs.emplace_back(CUDNN_KNOB_TYPE_TILE_SIZE, 1 << 20);
  EXPECT_FALSE(PlanWith(*cudnn_, *graph, *again, limits).ok());
}

}  // namespace
}  // namespace sgd::cuda
