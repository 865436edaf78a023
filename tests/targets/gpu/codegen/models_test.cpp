// Whole models with the GPU's kernels: a step on the emulator gives what the CPU's kernels give, on all ranks of the
// model's mesh, whatever the order of threads and blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compiler/driver/driver.h"
#include "runtime/artifact/element_type.h"
#include "runtime/exec/context.h"
#include "runtime/exec/executor.h"
#include "tests/runtime/comm/rank_threads.h"
#include "tests/targets/gpu/emulator/emulated_device.h"

namespace sgd {
namespace {

using emulator::EmulatedDevice;
using emulator::Order;
using Buffers = std::vector<std::vector<std::byte>>;

std::unique_ptr<artifact::ArtifactFile> Compile(const std::string& path, const std::string& target) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  mlir::sgd::CompileOptions options;
  options.target = target;
  options.threads = 1;
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  auto compilation = mlir::sgd::compile(mlir::sgd::ProgramSource{"main", path, text.str()}, options, stream);
  EXPECT_TRUE(mlir::succeeded(compilation)) << errors;
  if (mlir::failed(compilation)) return nullptr;
  auto opened = artifact::ArtifactFile::FromBytes(compilation->artifact, path);
  EXPECT_TRUE(opened.ok()) << opened.status();
  return opened.ok() ? std::move(*opened) : nullptr;
}

double Get(artifact::ElementType type, const std::byte* at) {
  const auto read = [&]<typename T>(T value) {
    std::memcpy(&value, at, sizeof(T));
    return value;
  };
  switch (type) {
    case artifact::ElementType::F64:
      return read(double{});
    case artifact::ElementType::F32:
      return read(float{});
    case artifact::ElementType::BF16: {
      const uint32_t bits = static_cast<uint32_t>(read(uint16_t{})) << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      return value;
    }
    case artifact::ElementType::F16:
      return static_cast<double>(read(static_cast<_Float16>(0)));
    default:
      return static_cast<double>(artifact::ElementSize(type) == 1   ? read(int8_t{})
                                 : artifact::ElementSize(type) == 2 ? read(int16_t{})
                                 : artifact::ElementSize(type) == 4 ? read(int32_t{})
                                                                    : read(int64_t{}));
  }
}

// Small numbers: floats around 0, whole numbers from 0 to 3, which are indices and labels of any model.
std::vector<std::byte> SomeValues(artifact::ElementType type, uint64_t bytes, uint32_t seed) {
  std::vector<std::byte> values(bytes);
  uint64_t state = seed * 0x9E3779B97F4A7C15ull + 1;
  const uint64_t size = artifact::ElementSize(type);
  for (uint64_t at = 0; at + size <= bytes; at += size) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const double unit = static_cast<double>(state >> 11) / 9007199254740992.0;
    const auto write = [&]<typename T>(T value) { std::memcpy(values.data() + at, &value, sizeof(T)); };
    const float number = static_cast<float>(unit - 0.5);
    if (type == artifact::ElementType::F64) {
      write(static_cast<double>(number));
    } else if (type == artifact::ElementType::F32) {
      write(number);
    } else if (type == artifact::ElementType::F16) {
      write(static_cast<_Float16>(number));
    } else if (type == artifact::ElementType::BF16) {
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof(bits));
      write(static_cast<uint16_t>(bits >> 16));
    } else {
      values[at] = static_cast<std::byte>(type == artifact::ElementType::Bool ? state >> 60 & 1 : state >> 60 & 3);
    }
  }
  return values;
}

// The outputs, global, after a step on all ranks as threads.
template <typename MakeDevice>
Buffers RunStep(const artifact::ArtifactFile& file, const MakeDevice& make_device) {
  Buffers outputs;
  std::mutex mutex;
  comm::RunAsThreads(
      static_cast<uint32_t>(file.ranks()), file.root().window_bytes(),
      [&](comm::SharedMemoryCommunicator& communicator) {
        auto device = make_device();
        ASSERT_TRUE(device.ok()) << device.status();
        auto context = exec::ExecutionContext::Create(file, **device, communicator);
        ASSERT_TRUE(context.ok()) << context.status();
        auto executor = exec::Executor::Create(**context, "main", {});
        ASSERT_TRUE(executor.ok()) << executor.status();
        for (size_t i = 0; i < (*executor)->inputs().size(); ++i) {
          const exec::Tensor& input = (*executor)->inputs()[i];
          const auto status = (*executor)->UploadInput(
              i, SomeValues(input.shard.type().element, input.shard.global_bytes(), static_cast<uint32_t>(i)));
          ASSERT_TRUE(status.ok()) << status;
        }
        const absl::Status status = (*executor)->Run(0);
        ASSERT_TRUE(status.ok()) << status;
        std::lock_guard<std::mutex> lock(mutex);
        outputs.resize((*executor)->outputs().size());
        for (size_t i = 0; i < outputs.size(); ++i) {
          outputs[i].resize((*executor)->outputs()[i].shard.global_bytes());
          ASSERT_TRUE((*executor)->DownloadOutput(i, outputs[i]).ok());
        }
      });
  return outputs;
}

void ExpectClose(const artifact::ArtifactFile& file, const Buffers& actual, const Buffers& expected) {
  const artifact::Program& program = **file.FindProgram("main");
  ASSERT_EQ(actual.size(), expected.size());
  for (uint32_t output = 0; output < expected.size(); ++output) {
    const artifact::ElementType type = program.outputs()->Get(output)->type()->element();
    const bool is_narrow = type == artifact::ElementType::BF16 || type == artifact::ElementType::F16;
    const uint64_t size = artifact::ElementSize(type);
    double scale = 1e-6;
    for (uint64_t at = 0; at < expected[output].size(); at += size) {
      const double value = std::fabs(Get(type, expected[output].data() + at));
      if (std::isfinite(value)) scale = std::max(scale, value);
    }
    for (uint64_t at = 0; at < expected[output].size(); at += size) {
      const double a = Get(type, actual[output].data() + at), e = Get(type, expected[output].data() + at);
      const bool is_same = a == e || (std::isnan(a) && std::isnan(e));
      ASSERT_TRUE(is_same || std::fabs(a - e) <= (is_narrow ? 2e-2 : 2e-4) * scale)
          << "output " << output << " element " << at / size << ": " << a << ", on the CPU " << e;
    }
  }
}

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, AsOnTheCpu) {
  const std::string path = std::string(SGD_MODELS_DIR) + "/" + GetParam() + ".mlir";
  const auto cpu = Compile(path, "cpu"), gpu = Compile(path, "cuda:emulated");
  ASSERT_TRUE(cpu && gpu);
  const Buffers expected = RunStep(*cpu, [] { return cpu::CpuDevice::Create({}); });
  const Buffers forward = RunStep(*gpu, [] { return EmulatedDevice::Create(Order::kForward); });
  if (HasFatalFailure()) return;
  ExpectClose(*gpu, forward, expected);
  const Buffers backward = RunStep(*gpu, [] { return EmulatedDevice::Create(Order::kBackward); });
  EXPECT_TRUE(forward == backward) << "the order of threads changes bits";
}

std::string TestName(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Small, Models,
                         ::testing::Values("mlp_digits/model", "gpt_dp/model", "gpt_tp/model", "gpt_zero3/model",
                                           "gpt_scan/model", "resnet_small/model", "resnet_spatial/model",
                                           "loops/cond_in_scan", "loops/cumsum_scan", "loops/lstm", "loops/nested",
                                           "loops/micro_batches", "loops/scan_layers", "loops/swap", "loops/switch",
                                           "loops/while_unknown", "manual/collectives", "manual/pipeline",
                                           "manual/ring_grad", "manual/two_axes"),
                         TestName);

// Of `./dev test --long`.
INSTANTIATE_TEST_SUITE_P(DISABLED_Large, Models, ::testing::Values("attention/model", "bench_mlp/single"), TestName);

}  // namespace
}  // namespace sgd
