// Ties the parts together; each part has its own file.
#include "runtime/linear_algebra/form.h"
#include "targets/cpu/device/cpu_device.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/reader.h"
#include "targets/cpu/device/arena.h"
#include "targets/cpu/device/convolution/convolution.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/device/fft/fft.h"
#include "targets/cpu/device/kernel_library.h"
#include "targets/cpu/device/linear_algebra/linear_algebra.h"
#include "targets/cpu/device/matmul/matmul.h"
#include "targets/cpu/device/thunks.h"
#include "targets/cpu/device/tiled.h"

namespace sgd::cpu {
namespace {

constexpr uint32_t kMaxThreads = 4096;

void DoNothing(void* const*, const int64_t*, int64_t, int64_t) {}

// As many chunks as large matmuls are cut into, distributed over all threads.
KernelCall NullCall(uint32_t threads) {
  KernelCall call;
  call.function = DoNothing;
  call.range = uint64_t{8} * threads;
  call.bytes = uint64_t{1} << 30;
  return call;
}

KernelCall CallOf(const artifact::Launch& launch, const device::KernelLibrary& library, const device::MemoryMap& memory,
                  std::span<const int64_t> coordinates, bool null_kernels) {
  KernelCall call;
  call.function = null_kernels ? DoNothing : static_cast<const CpuKernelLibrary&>(library).function(launch.kernel());
  for (uint64_t i = 0; i < artifact::Size(launch.buffers()); ++i) {
    const artifact::Slice& slice = *launch.buffers()->Get(static_cast<uint32_t>(i));
    call.buffers.push_back(memory.Address(slice));
    call.bytes += slice.size();
  }
  call.coordinates.assign(coordinates.begin(), coordinates.end());
  call.range = launch.range();
  call.grain = launch.grain();
  return call;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuDevice>> CpuDevice::Create(const CpuDeviceOptions& options) {
  if (options.threads == 0 || options.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.threads, " threads; between 1 and ", kMaxThreads, " are possible"));
  }
  absl::StatusOr<std::unique_ptr<ThreadPool>> pool =
      ThreadPool::Start(options.threads, options.cores, options.shares_cores);
  if (!pool.ok()) return pool.status();
  return absl::WrapUnique(new CpuDevice(options, *std::move(pool)));
}

std::string CpuDevice::fingerprint() const {
  absl::StatusOr<std::set<std::string>> flags = CpuFlags();
  return absl::StrCat("cpu; ", flags.ok() ? absl::StrJoin(*flags, " ") : "unknown CPU",
                      lapack_ == nullptr ? "" : absl::StrCat("; ", lapack_->version()));
}

absl::Status CpuDevice::OpenLibraries(const artifact::ArtifactFile& file) {
  for (const artifact::Program* program : *file.root().programs()) {
    for (uint64_t i = 0; i < artifact::Size(program->instructions()); ++i) {
      const artifact::Instruction& instruction = *program->instructions()->Get(static_cast<uint32_t>(i));
      const artifact::LinearAlgebra* call = instruction.op_as_LinearAlgebra();
      if (call != nullptr && !linear_algebra::IsTransform(static_cast<linear_algebra::Kind>(call->kind())))
        return lapack().status();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<const LapackLibrary*> CpuDevice::lapack() {
  if (lapack_ == nullptr) {
    absl::StatusOr<std::unique_ptr<const LapackLibrary>> opened = LapackLibrary::Open();
    if (!opened.ok()) return opened.status();
    lapack_ = *std::move(opened);
  }
  return lapack_.get();
}

absl::StatusOr<std::unique_ptr<device::Arena>> CpuDevice::Allocate(uint64_t bytes) { return AllocateArena(bytes); }

void CpuDevice::RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) {
  const uint32_t chunks = static_cast<uint32_t>(std::min<uint64_t>(count, ThreadPool::kMaxChunks));
  pool_->Run(pool_->size(), chunks, [&](uint32_t chunk, uint32_t) {
    const IndexRange part = PartOf(count, chunks, chunk);
    for (uint64_t i = part.begin; i < part.end; ++i) body(i);
  });
}

// The system lists the features of each core, which takes longer than loading a small program.
absl::Status CpuDevice::AdmitArtifact(const artifact::ArtifactFile& file) {
  if (cpu_flags_.empty()) {
    absl::StatusOr<std::set<std::string>> flags = CpuFlags();
    if (!flags.ok()) return flags.status();
    cpu_flags_ = *std::move(flags);
  }
  absl::Status status = CheckCpu(file.root(), cpu_flags_);
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(file.path(), ": ", status.message()));
}

absl::StatusOr<std::unique_ptr<device::KernelLibrary>> CpuDevice::LoadKernels(const artifact::ArtifactFile& file) {
  if (absl::Status status = AdmitArtifact(file); !status.ok()) return status;
  return CpuKernelLibrary::Load(file);
}

device::PreparedThunk CpuDevice::PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                               const device::MemoryMap& memory, std::span<const int64_t> coordinates) {
  return MakeLaunch(*pool_, CallOf(launch, library, memory, coordinates, null_kernels_));
}

device::PreparedThunk CpuDevice::PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                                    std::span<const device::CombinedLaunches> /*combined*/,
                                                    const device::KernelLibrary& library,
                                                    const device::MemoryMap& memory) {
  std::vector<KernelCall> calls;
  for (const device::GroupedLaunch& launch : launches) {
    calls.push_back(CallOf(*launch.launch, library, memory, launch.coordinates, null_kernels_));
  }
  return MakeLaunchGroup(*pool_, std::move(calls));
}

device::PreparedThunk CpuDevice::PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
  if (null_kernels_) return MakeLaunch(*pool_, NullCall(pool_->size()));
  return MakeMatmul(*pool_, scratch_, matmul, memory);
}

device::PreparedThunk CpuDevice::PrepareConvolution(const artifact::Convolution& convolution,
                                                    const device::MemoryMap& memory) {
  if (null_kernels_) return MakeLaunch(*pool_, NullCall(pool_->size()));
  return MakeConvolution(*pool_, scratch_, convolution, memory);
}

device::PreparedThunk CpuDevice::PrepareLinearAlgebra(const artifact::LinearAlgebra& call,
                                                      const device::MemoryMap& memory) {
  if (null_kernels_) return MakeLaunch(*pool_, NullCall(pool_->size()));
  if (linear_algebra::IsTransform(static_cast<linear_algebra::Kind>(call.kind())))
    return MakeFft(*pool_, scratch_, call, memory);
  absl::StatusOr<const LapackLibrary*> library = lapack();
  if (!library.ok()) return library.status();
  return MakeLinearAlgebra(*pool_, **library, call, memory);
}

device::PreparedThunk CpuDevice::PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                              const device::MemoryMap& memory) {
  if (null_kernels_) return MakeLaunch(*pool_, NullCall(pool_->size()));
  return MakeTiled(*pool_, {scratch_, tile_scratch_}, tiled, static_cast<const CpuKernelLibrary&>(library), memory);
}

device::PreparedThunk CpuDevice::PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) {
  return MakeCopy(*pool_, source, target, bytes);
}

device::PreparedThunk CpuDevice::PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) {
  return MakeFill(*pool_, target, bytes, pattern);
}

}  // namespace sgd::cpu
