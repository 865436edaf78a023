// Launches on the emulator.
#include "tests/targets/gpu/emulator/emulated_device.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/kernel_modules.h"

namespace sgd::emulator {
namespace {

// Memory of a rank up to which every access of its kernels is judged.
constexpr uint64_t kSmallBytes = 256 << 10;

class Library final : public device::KernelLibrary {
 public:
  std::unique_ptr<KernelModule> module;
  Judging judging = Judging::kSome;
  std::vector<std::pair<std::string, uint32_t>> kernels;  // symbol, threads
};

class LaunchThunk final : public device::Thunk {
 public:
  LaunchThunk(const Library& library, uint32_t kernel, Order order)
      : library_(library), kernel_(kernel), order_(order) {}

  // Adds the parameters and blocks of a launch to those there are.
  void Add(const artifact::Launch& launch, const device::MemoryMap& memory, std::span<const int64_t> coordinates) {
    blocks_ += launch.range();
    for (uint32_t i = 0; i < artifact::Size(launch.buffers()); ++i) {
      const artifact::Slice& slice = *launch.buffers()->Get(i);
      parameters_.push_back(reinterpret_cast<uintptr_t>(memory.Address(slice)));
      extents_.push_back({parameters_.back(), slice.size()});
    }
    for (const int64_t coordinate : coordinates) parameters_.push_back(static_cast<uint64_t>(coordinate));
  }

  absl::Status Execute() override {
    if (blocks_ == 0) return absl::OkStatus();
    const auto& [symbol, threads] = library_.kernels[kernel_];
    const std::string problem =
        library_.module->Launch(symbol, {0, static_cast<uint32_t>(blocks_), threads}, parameters_, order_,
                                {extents_, library_.judging == Judging::kAll});
    return problem.empty() ? absl::OkStatus() : absl::InternalError(problem);
  }

 private:
  const Library& library_;
  uint32_t kernel_;
  uint64_t blocks_ = 0;
  Order order_;
  std::vector<uint64_t> parameters_;
  std::vector<Extent> extents_;
};

class SeveralThunks final : public device::Thunk {
 public:
  explicit SeveralThunks(std::vector<std::unique_ptr<device::Thunk>> thunks) : thunks_(std::move(thunks)) {}
  absl::Status Execute() override {
    for (const std::unique_ptr<device::Thunk>& thunk : thunks_) {
      if (absl::Status status = thunk->Execute(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  std::vector<std::unique_ptr<device::Thunk>> thunks_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EmulatedDevice>> EmulatedDevice::Create(Order order) {
  absl::StatusOr<std::unique_ptr<cpu::CpuDevice>> cpu = cpu::CpuDevice::Create({});
  if (!cpu.ok()) return cpu.status();
  return std::unique_ptr<EmulatedDevice>(new EmulatedDevice(std::move(*cpu), order));
}

absl::StatusOr<std::unique_ptr<device::KernelLibrary>> EmulatedDevice::LoadKernels(const artifact::ArtifactFile& file) {
  auto library = std::make_unique<Library>();
  if (file.kernels().empty()) return library;
  auto modules = artifact::ReadKernelModules(file.root(), file.kernels());
  if (!modules.ok()) return modules.status();
  if (modules->front().architecture != "emulated") return absl::FailedPreconditionError("is not for cuda:emulated");
  std::string error;
  const bool is_small = file.root().private_bytes() + file.root().window_bytes() <= kSmallBytes;
  library->judging = is_small ? Judging::kAll : Judging::kSome;
  library->module = KernelModule::Load(std::string(modules->front().text), &error, library->judging);
  if (!library->module) return absl::InvalidArgumentError(absl::StrCat("the kernels: ", error));
  for (const artifact::Kernel* kernel : *file.root().kernels()) {
    library->kernels.emplace_back(kernel->symbol()->str(), kernel->threads());
  }
  return library;
}

device::PreparedThunk EmulatedDevice::PrepareLaunch(const artifact::Launch& launch,
                                                    const device::KernelLibrary& library,
                                                    const device::MemoryMap& memory,
                                                    std::span<const int64_t> coordinates) {
  auto thunk = std::make_unique<LaunchThunk>(static_cast<const Library&>(library), launch.kernel(), order_);
  thunk->Add(launch, memory, coordinates);
  return thunk;
}

device::PreparedThunk EmulatedDevice::PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                                         std::span<const device::CombinedLaunches> combined,
                                                         const device::KernelLibrary& library,
                                                         const device::MemoryMap& memory) {
  std::vector<std::unique_ptr<device::Thunk>> thunks;
  std::vector<bool> is_combined(launches.size(), false);
  for (const device::CombinedLaunches& together : combined) {
    auto thunk = std::make_unique<LaunchThunk>(static_cast<const Library&>(library), together.kernel, order_);
    for (const uint32_t launch : together.launches) {
      thunk->Add(*launches[launch].launch, memory, launches[launch].coordinates);
      is_combined[launch] = true;
    }
    thunks.push_back(std::move(thunk));
  }
  for (size_t i = 0; i < launches.size(); ++i) {
    if (is_combined[i]) continue;
    auto thunk = PrepareLaunch(*launches[i].launch, library, memory, launches[i].coordinates);
    if (!thunk.ok()) return thunk.status();
    thunks.push_back(std::move(*thunk));
  }
  return std::make_unique<SeveralThunks>(std::move(thunks));
}

}  // namespace sgd::emulator
