// cuDNN itself, where it is installed, plans our graphs for a GPU that is not there: it accepts every descriptor that
// we make, and has engines within the limits. Skipped where there is none, or one before 9.8.
#include "targets/gpu/device/cudnn/cudnn.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <string_view>

#include "emulated_device.h"
#include "targets/gpu/device/cudnn/attention_graph.h"
#include "targets/gpu/device/cudnn/convolution_graph.h"
#include "targets/gpu/device/cudnn/cudnn_engines.h"
#include "tests/runtime/library/sum_epilogues.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define SGD_FINDS_LEAKS
#endif
#endif

namespace sgd::cuda {
namespace {

using artifact::ConvolutionDim;
using artifact::ConvolutionForm;
using artifact::ConvolutionKind;
using artifact::ConvolutionT;
using artifact::ElementType;
using artifact::WindowDim;
using library::Epilogue;
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
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open libcudnn.so.9, which computes convolutions and attention"));
}

// NVIDIA's library leaves memory behind for each engine that it finishes. That the product gives back what it makes is
// checked with the fake, which leaks nothing.
#ifdef SGD_FINDS_LEAKS
using IgnoresLeaks = __lsan::ScopedDisabler;
#else
struct IgnoresLeaks {};
#endif

class CudnnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<Cudnn>> cudnn = Cudnn::OpenFor(kGpu);
    const char* must_run = std::getenv("SGD_MUST_RUN");
    const bool must_be_here = must_run != nullptr && std::string_view(must_run).find("cudnn") != std::string_view::npos;
    if (!must_be_here && absl::IsFailedPrecondition(cudnn.status())) GTEST_SKIP() << cudnn.status();
    ASSERT_TRUE(cudnn.ok()) << cudnn.status();
    cudnn_ = *std::move(cudnn);
  }

  [[no_unique_address]] IgnoresLeaks ignores_leaks_;
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
      absl::StatusOr<CudnnDescriptor> graph = BuildConvolutionGraph(*cudnn_, *form, element, testing::kNoEpilogue, {});
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

// Two batches of four heads, in memory as [batch, rows, heads, depth].
artifact::AttentionT Attention(bool is_gradient, uint64_t key_heads, uint64_t columns, uint64_t depth) {
  artifact::AttentionT a;
  a.element = ElementType::BF16;
  a.batch = a.batch_step = 2, a.heads = a.head_step = 4, a.key_heads = key_heads;
  a.rows = 77, a.columns = columns, a.depth = a.value_depth = depth;
  a.scale = 0.125F;
  const auto tensor = [&](uint64_t rows, uint64_t heads) {
    return std::make_unique<artifact::AttentionTensor>(artifact::Slice(), rows * heads * depth, depth, heads * depth);
  };
  a.query = tensor(a.rows, a.heads), a.out = tensor(a.rows, a.heads);
  a.key = tensor(columns, key_heads), a.value = tensor(columns, key_heads);
  if (!is_gradient) return a;
  a.gradients = std::make_unique<artifact::AttentionGradientsT>();
  a.gradients->out_gradient = tensor(a.rows, a.heads), a.gradients->query = tensor(a.rows, a.heads);
  a.gradients->key = tensor(columns, key_heads), a.gradients->value = tensor(columns, key_heads);
  return a;
}

// Engines for them are compiled at run time, for which cuDNN wants a driver: docs/decisions/021 says what they were.
TEST_F(CudnnTest, AcceptsAttention) {
  for (bool is_gradient : {false, true}) {
    for (uint64_t key_heads : {4, 2, 1}) {
      for (uint64_t columns : {77, 128, 1000}) {
        for (uint64_t depth : {8, 64, 256}) {
          SCOPED_TRACE(::testing::Message() << is_gradient << " " << key_heads << " " << columns << " " << depth);
          artifact::AttentionT a = Attention(is_gradient, key_heads, columns, depth);
          EXPECT_TRUE(BuildAttentionGraph(*cudnn_, a).ok());
          a.element = ElementType::F16;
          a.has_diagonal = true;
          EXPECT_TRUE(BuildAttentionGraph(*cudnn_, a).ok());
          a.diagonal = 5;
          a.bias_element = ElementType::F32;
          a.bias = std::make_unique<artifact::AttentionTensor>(artifact::Slice(), 0, a.rows * columns, columns);
          absl::StatusOr<AttentionGraph> graph = BuildAttentionGraph(*cudnn_, a);
          EXPECT_TRUE(graph.ok()) << graph.status();
        }
      }
    }
  }
}

// Every epilogue that the compiler fuses (targets/gpu/libraries) has engines within the limits, with tensor cores and
// without.
TEST_F(CudnnTest, HasEnginesForEpilogues) {
  const auto check = [&](ConvolutionKind kind, ElementType element, Epilogue epilogue, bool takes_tensor_cores) {
    SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " of type " << static_cast<int>(element) << " with "
                                      << library::TextOf(epilogue));
    ConvolutionT c = Convolution(kind);
    c.element = element;
    c.rounds = element != ElementType::F32;
    absl::StatusOr<CudnnDescriptor> graph =
        BuildConvolutionGraph(*cudnn_, *artifact::ConvolutionFormOf(c), element, epilogue, {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    const EngineLimits limits{.workspace_bytes = 8 << 20, .takes_tensor_cores = takes_tensor_cores};
    absl::StatusOr<std::vector<EngineChoice>> proposals = ProposeEngines(*cudnn_, *graph, limits);
    ASSERT_TRUE(proposals.ok()) << proposals.status();
    ASSERT_FALSE(proposals->empty());
    // Others are compiled as they are planned, which takes long.
    EXPECT_TRUE(PlanWith(*cudnn_, *graph, proposals->back(), limits).ok());
  };
  for (ElementType element : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    const bool is_wide = element == ElementType::F32;
    for (ConvolutionKind kind :
         {ConvolutionKind::Forward, ConvolutionKind::DataGradient, ConvolutionKind::FilterGradient})
      check(kind, element, testing::kResidual, !is_wide);
    for (Epilogue epilogue : {testing::kBias, testing::kBiasRelu})
      check(ConvolutionKind::Forward, element, epilogue, !is_wide);
  }
  check(ConvolutionKind::Forward, ElementType::F32, testing::kBiasRelu, true);
}

TEST_F(CudnnTest, AChoiceMakesTheSamePlanAgain) {
  ConvolutionT c = Convolution(ConvolutionKind::Forward);
  c.element = ElementType::F32;
  const ConvolutionForm form = *artifact::ConvolutionFormOf(c);
  absl::StatusOr<CudnnDescriptor> graph =
      BuildConvolutionGraph(*cudnn_, form, ElementType::F32, testing::kNoEpilogue, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  const EngineLimits limits{.workspace_bytes = 8 << 20, .takes_tensor_cores = false};
  absl::StatusOr<std::vector<EngineChoice>> proposals = ProposeEngines(*cudnn_, *graph, limits);
  ASSERT_TRUE(proposals.ok() && !proposals->empty());
  absl::StatusOr<EngineChoice> again = EngineChoice::Parse(proposals->front().Text());
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(PlanWith(*cudnn_, *graph, *again, limits).ok());
  // cuDNN refuses a number that is no engine's and executes nothing.
  EXPECT_FALSE(PlanWith(*cudnn_, *graph, {.engine = 100000, .knobs = {}}, limits).ok());
  again->knobs.emplace_back(CUDNN_KNOB_TYPE_TILE_SIZE, 1 << 20);
  EXPECT_FALSE(PlanWith(*cudnn_, *graph, *again, limits).ok());
}

}  // namespace
}  // namespace sgd::cuda
