// Instructions are prepared as an artifact's are, so that what is timed is what programs run.
#include "runtime/measure/device_rates.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/measure/timing.h"

namespace sgd::measure {
namespace {

using artifact::ElementType;

constexpr uint64_t kLeastMatmul = 256;
constexpr uint64_t kLaunches = 1000, kLaunchBytes = 64;
// Of the convolution by which packing is measured: an image, windows of 3 x 3, and few results for each.
constexpr uint64_t kImage = 64, kWindow = 3, kInputs = 16, kOutputs = 8;
constexpr uint64_t kLeastArena = 1 << 20;  // has its operands and result

class DeviceMeasurement {
 public:
  DeviceMeasurement(device::Device& device, const Agreement& agreement, const DeviceSizes& sizes)
      : device_(device), agreement_(agreement), sizes_(sizes) {}

  absl::StatusOr<DeviceRates> Run() {
    // Of all ranks, since they measure together.
    const absl::StatusOr<uint64_t> cache_bytes = agreement_.Least(sizes_.cache_bytes);
    if (!cache_bytes.ok()) return cache_bytes.status();
    DeviceRates rates;
    rates.cache_bytes = *cache_bytes;
    const uint64_t cached_copy = *cache_bytes / 4;
    const uint64_t matmul_bytes = 3 * sizes_.most_matmul * sizes_.most_matmul * sizeof(float);
    auto arena = device_.Allocate(std::max({matmul_bytes, 2 * sizes_.copied_bytes, 2 * cached_copy, kLeastArena}));
    if (!arena.ok()) return arena.status();
    arena_ = *std::move(arena);
    absl::Status status;
    // None after an error, which ends the others' waits.
    const auto measure = [&](double& rate, auto measurement) {
      if (!status.ok()) return;
      const absl::StatusOr<double> measured = measurement();
      if (measured.ok()) rate = *measured;
      status = measured.status();
    };
    measure(rates.flops, [&] { return MatmulRate(ElementType::F32); });
    measure(rates.half_flops, [&] { return MatmulRate(ElementType::BF16); });
    measure(rates.memory_bandwidth, [&] { return CopyRate(sizes_.copied_bytes, 1); });
    if (cached_copy > 0) measure(rates.cache_bandwidth, [&] { return CopyRate(cached_copy, kLaunches); });
    if (sizes_.packs) measure(rates.packed_elements, [&] { return PackingRate(rates.flops); });
    measure(rates.launch_latency, [&] { return LaunchSeconds(); });
    if (!status.ok()) return status;
    return rates;
  }

 private:
  // Of `times` executions of the thunk, on the slowest rank; the shortest of several attempts.
  absl::StatusOr<double> Seconds(device::Thunk& thunk, uint64_t times) {
    return agreement_.ShortestOfAll([&]() -> absl::Status {
      for (uint64_t i = 0; i < times; ++i)
        if (absl::Status status = thunk.Execute(); !status.ok()) return status;
      return device_.Synchronize();
    });
  }

  device::PreparedThunk PrepareMatmul(ElementType element, uint64_t size) {
    artifact::MatmulT matmul;
    matmul.element = element;
    matmul.m = matmul.n = matmul.k = size;
    const uint64_t bytes = size * size * artifact::ElementSize(element);
    matmul.a = std::make_unique<artifact::Slice>(artifact::Space::Private, 0, bytes);
    matmul.b = std::make_unique<artifact::Slice>(artifact::Space::Private, bytes, bytes);
    matmul.c = std::make_unique<artifact::Slice>(artifact::Space::Private, 2 * bytes, bytes);
    matmul.a_m = matmul.b_k = matmul.c_m = static_cast<int64_t>(size);
    matmul.a_k = matmul.b_n = matmul.c_n = 1;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Matmul::Pack(builder, &matmul));
    return device_.PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()),
                                 {.private_base = arena_->data()});
  }

  // Sizes double until a matmul takes long enough; all ranks see the same seconds.
  absl::StatusOr<double> MatmulRate(ElementType element) {
    for (uint64_t size = std::min(kLeastMatmul, sizes_.most_matmul);; size *= 2) {
      auto thunk = PrepareMatmul(element, size);
      if (!thunk.ok()) return thunk.status();
      const absl::StatusOr<double> seconds = Seconds(**thunk, 1);
      if (!seconds.ok()) return seconds.status();
      if (*seconds >= sizes_.least_seconds || 2 * size > sizes_.most_matmul)
        return 2.0 * static_cast<double>(size * size * size) / *seconds;
    }
  }

  device::PreparedThunk PrepareConvolution() {
    constexpr uint64_t kRow = kImage * kInputs, kResultRow = kImage * kOutputs;
    const artifact::WindowDim down(kImage, kImage, kWindow, 1, 1, 1, kRow, kWindow * kInputs * kOutputs, kResultRow);
    const artifact::WindowDim across(kImage, kImage, kWindow, 1, 1, 1, kInputs, kInputs * kOutputs, kOutputs);
    const uint64_t lhs = kImage * kRow * sizeof(float), rhs = kWindow * kWindow * kInputs * kOutputs * sizeof(float);
    artifact::ConvolutionT convolution;
    convolution.element = ElementType::F32;
    convolution.spatial = {down, across};
    convolution.batch = std::make_unique<artifact::ConvolutionDim>(1, 0, 0, 0);
    convolution.groups = std::make_unique<artifact::ConvolutionDim>(1, 0, 0, 0);
    convolution.inputs = std::make_unique<artifact::ConvolutionDim>(kInputs, 1, kOutputs, 0);
    convolution.outputs = std::make_unique<artifact::ConvolutionDim>(kOutputs, 0, 1, 1);
    convolution.lhs = std::make_unique<artifact::Slice>(artifact::Space::Private, 0, lhs);
    convolution.rhs = std::make_unique<artifact::Slice>(artifact::Space::Private, lhs, rhs);
    convolution.result =
        std::make_unique<artifact::Slice>(artifact::Space::Private, lhs + rhs, kImage * kResultRow * sizeof(float));
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Convolution::Pack(builder, &convolution));
    return device_.PrepareConvolution(*flatbuffers::GetRoot<artifact::Convolution>(builder.GetBufferPointer()),
                                      {.private_base = arena_->data()});
  }

  // Multiplications, which take `flops` a second, are no part of it. Where they seem to take nearly all of the time,
  // which noise can cause, a fourth is left for packing.
  absl::StatusOr<double> PackingRate(double flops) {
    auto thunk = PrepareConvolution();
    if (!thunk.ok()) return thunk.status();
    constexpr uint64_t kTimes = 10;
    const absl::StatusOr<double> seconds = Seconds(**thunk, kTimes);
    if (!seconds.ok()) return seconds.status();
    constexpr double kPacked = kImage * kImage * kWindow * kWindow * kInputs;
    const double multiplying = 2 * kPacked * kOutputs / flops, all = *seconds / kTimes;
    return kPacked / std::max(all - multiplying, all / 4);
  }

  absl::StatusOr<double> CopyRate(uint64_t bytes, uint64_t times) {
    auto thunk = device_.PrepareCopy(arena_->data(), arena_->data() + bytes, bytes);
    if (!thunk.ok()) return thunk.status();
    const absl::StatusOr<double> seconds = Seconds(**thunk, times);
    if (!seconds.ok()) return seconds.status();
    return 2.0 * static_cast<double>(bytes * times) / *seconds;
  }

  // Of instructions of their own each, as a step has them.
  absl::StatusOr<double> LaunchSeconds() {
    const uint8_t zero = 0;
    std::vector<std::unique_ptr<device::Thunk>> thunks(kLaunches);
    for (uint64_t i = 0; i < kLaunches; ++i) {
      auto thunk = device_.PrepareFill(arena_->data() + i * kLaunchBytes, kLaunchBytes, {&zero, 1});
      if (!thunk.ok()) return thunk.status();
      thunks[i] = *std::move(thunk);
    }
    const absl::StatusOr<double> seconds = agreement_.ShortestOfAll([&]() -> absl::Status {
      for (const std::unique_ptr<device::Thunk>& thunk : thunks)
        if (absl::Status status = thunk->Execute(); !status.ok()) return status;
      return device_.Synchronize();
    });
    if (!seconds.ok()) return seconds.status();
    return *seconds / kLaunches;
  }

  device::Device& device_;
  const Agreement& agreement_;
  const DeviceSizes sizes_;
  std::unique_ptr<device::Arena> arena_;
};

}  // namespace

absl::StatusOr<DeviceRates> MeasureDevice(device::Device& device, comm::Control& control, const DeviceSizes& sizes,
                                          absl::Duration timeout) {
  const Agreement agreement(control, timeout);
  return DeviceMeasurement(device, agreement, sizes).Run();
}

}  // namespace sgd::measure
