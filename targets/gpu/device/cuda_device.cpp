// Ties the parts together; each part has its own file.
#include "targets/gpu/device/cuda_device.h"

#include <stdlib.h>

#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "targets/gpu/device/cudnn/attention.h"
#include "targets/gpu/device/cudnn/convolution.h"
#include "targets/gpu/device/driver/gpu_info.h"
#include "targets/gpu/device/matmul/matmul.h"
#include "targets/gpu/device/memory/thunks.h"

namespace sgd::cuda {
namespace {

const char* Text(Registration registration) {
  switch (registration) {
    case Registration::kNone:
      return "no registered memory";
    case Registration::kLocal:
      return "registered memory";
    case Registration::kSymmetric:
      return "symmetric memory";
  }
  return "";
}

constexpr uint64_t kMaxBlocks = (uint64_t{1} << 31) - 1;  // of a grid along x

// Adds the arguments of a launch, and its blocks, to a call.
void AddLaunch(const artifact::Launch& launch, const device::MemoryMap& memory, std::span<const int64_t> coordinates,
               KernelCall& call, uint64_t& blocks) {
  for (uint64_t i = 0; i < artifact::Size(launch.buffers()); ++i) {
    call.arguments.push_back(AddressOf(memory.Address(*launch.buffers()->Get(static_cast<uint32_t>(i)))));
  }
  for (int64_t coordinate : coordinates) call.arguments.push_back(static_cast<uint64_t>(coordinate));
  blocks += launch.range();
}

// One launch of kernel `number` with the arguments and blocks of `launches`, one after another.
device::PreparedThunk MakeLaunchOf(CudaStreams& streams, uint32_t number, const device::KernelLibrary& library,
                                   const device::MemoryMap& memory,
                                   std::span<const device::GroupedLaunch* const> launches) {
  const CudaKernelLibrary::Kernel& kernel = static_cast<const CudaKernelLibrary&>(library).kernel(number);
  KernelCall call{kernel.function, 0, kernel.threads, kernel.shared_bytes, {}};
  uint64_t blocks = 0;
  for (const device::GroupedLaunch* launch : launches) {
    if (launch->launch->range() > kMaxBlocks) blocks = kMaxBlocks;
    AddLaunch(*launch->launch, memory, launch->coordinates, call, blocks);
  }
  if (blocks > kMaxBlocks)
    return absl::UnimplementedError(absl::StrCat(blocks, " blocks, a GPU runs at most ", kMaxBlocks));
  if (blocks > 0 && call.function == nullptr)
    return absl::InvalidArgumentError(absl::StrCat("kernel ", number, " runs as part of combined ones alone"));
  call.blocks = static_cast<uint32_t>(blocks);
  return MakeLaunch(streams, std::move(call));
}

// NCCL refuses two ranks on one GPU unless it takes them for ranks of different hosts, which talk through sockets.
void LetNcclShareGpus(uint32_t local_rank) {
  constexpr int kKeep = 0;  // the user's setting
  setenv("NCCL_HOSTID", absl::StrCat("sgd-", local_rank).c_str(), kKeep);
  for (const char* off : {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}) setenv(off, "1", kKeep);
  setenv("NCCL_SOCKET_IFNAME", "lo", kKeep);
}

// While a receive waits on the GPU, nothing that the host does may wait for the GPU, and no stream for another one that
// no event orders: code is loaded before and not when it is first run, which can wait for all that runs, and streams
// share no queue of the hardware. Read by the driver when it starts.
void LetStreamsWait() {
  constexpr int kKeep = 0;  // the user's setting
  setenv("CUDA_MODULE_LOADING", "EAGER", kKeep);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", kKeep);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Create(const CudaDeviceOptions& options) {
  if (options.has_messages) LetStreamsWait();
  absl::StatusOr<std::shared_ptr<const Driver>> driver = Driver::Load();
  if (!driver.ok()) return driver.status();
  auto device = absl::WrapUnique(new CudaDevice(*std::move(driver)));
  if (absl::Status status = device->Open(options); !status.ok()) return status;
  return device;
}

absl::Status CudaDevice::Open(const CudaDeviceOptions& options) {
  is_deterministic_ = options.is_deterministic;
  int count = 0;
  absl::Status status = driver_->Check(driver_->cuDeviceGetCount(&count), "cannot count GPUs");
  if (!status.ok()) return status;
  if (count == 0 || (options.local_rank >= static_cast<uint32_t>(count) && !options.shares_gpus)) {
    return absl::FailedPreconditionError(
        absl::StrCat("rank ", options.local_rank, " of this host has no GPU: there are ", count,
                     "; start fewer ranks, or for a test let them share with --share-gpus"));
  }
  if (options.shares_gpus) LetNcclShareGpus(options.local_rank);
  const int ordinal = static_cast<int>(options.local_rank % static_cast<uint32_t>(count));
  status = driver_->Check(driver_->cuDeviceGet(&device_, ordinal), absl::StrCat("GPU ", ordinal));
  if (!status.ok()) return status;
  absl::StatusOr<GpuInfo> info = DescribeGpu(*driver_, ordinal);
  if (!info.ok()) return info.status();
  gpu_ = {info->accelerator.name, info->capability};
  near_cores_ = info->accelerator.near_cores;
  choices_ = std::make_unique<device::AlgorithmChoices>(gpu_.name);
  status = ExplainGpuError(*driver_, driver_->cuDevicePrimaryCtxRetain(&context_, device_), device_,
                           absl::StrCat("cannot use GPU ", ordinal, " (", gpu_.name, ")"));
  if (!status.ok()) return status;
  status = driver_->Check(driver_->cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  if (!status.ok()) return status;
  absl::StatusOr<std::unique_ptr<CudaStreams>> streams = CudaStreams::Create(driver_);
  if (!streams.ok()) return streams.status();
  streams_ = *std::move(streams);
  transfer_ = std::make_unique<CudaTransfer>(*streams_, driver_);
  return absl::OkStatus();
}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) UseOnThisThread();  // of a lost rank, another thread destroys it
  cublas_.reset();
  cudnn_.reset();
  transfer_.reset();
  block_.reset();
  streams_.reset();
  if (context_ != nullptr) driver_->cuDevicePrimaryCtxRelease(device_);
}

std::string CudaDevice::fingerprint() const {
  return absl::StrCat(
      "cuda; ", gpu_.name, "; sm_", gpu_.capability, "; driver ", driver_->version,
      cublas_ == nullptr ? "" : absl::StrCat("; cuBLASLt ", cublas_->version()),
      cudnn_ == nullptr ? "" : absl::StrCat("; cuDNN ", cudnn_->version()),
      nccl_ == nullptr ? "" : absl::StrCat("; NCCL ", nccl_->version(), ", ", Text(nccl_->registration())));
}

absl::Status CudaDevice::OpenLibraries(const artifact::ArtifactFile& file) {
  bool has_matmuls = false, has_cudnn = false, has_collectives = false;
  for (const artifact::Program* program : *file.root().programs()) {
    for (uint64_t i = 0; i < artifact::Size(program->instructions()); ++i) {
      const artifact::Operation operation = program->instructions()->Get(static_cast<uint32_t>(i))->op_type();
      has_matmuls = has_matmuls || operation == artifact::Operation::Matmul;
      has_cudnn =
          has_cudnn || operation == artifact::Operation::Convolution || operation == artifact::Operation::Attention;
      has_collectives = has_collectives || operation == artifact::Operation::Collective ||
                        operation == artifact::Operation::Send || operation == artifact::Operation::Receive;
    }
  }
  if (has_matmuls) {
    if (absl::Status status = cublas().status(); !status.ok()) return status;
  }
  if (has_cudnn) {
    if (absl::Status status = cudnn().status(); !status.ok()) return status;
  }
  if (!has_collectives || file.ranks() == 1) return absl::OkStatus();
  return nccl().status();
}

absl::StatusOr<std::shared_ptr<const Nccl>> CudaDevice::nccl() {
  if (nccl_ == nullptr) {
    absl::StatusOr<std::shared_ptr<const Nccl>> opened = Nccl::Open(is_deterministic_);
    if (!opened.ok()) return opened.status();
    nccl_ = *std::move(opened);
  }
  return nccl_;
}

absl::Status CudaDevice::Reserve(uint64_t bytes) {
  absl::StatusOr<std::unique_ptr<MemoryBlock>> block = MemoryBlock::Take(*streams_, driver_, nccl_, bytes);
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  return absl::OkStatus();
}

std::optional<uint64_t> CudaDevice::used_bytes() const {
  size_t free = 0, total = 0;
  if (driver_->cuMemGetInfo(&free, &total) != CUDA_SUCCESS) return std::nullopt;
  return total - free;
}

absl::StatusOr<CublasLt*> CudaDevice::cublas() {
  if (cublas_ == nullptr) {
    absl::StatusOr<std::unique_ptr<CublasLt>> opened = CublasLt::Open(driver_->version);
    if (!opened.ok()) return opened.status();
    cublas_ = *std::move(opened);
  }
  return cublas_.get();
}

absl::StatusOr<Cudnn*> CudaDevice::cudnn() {
  if (cudnn_ == nullptr) {
    absl::StatusOr<std::unique_ptr<Cudnn>> opened = Cudnn::Open();
    if (!opened.ok()) return opened.status();
    cudnn_ = *std::move(opened);
  }
  return cudnn_.get();
}

absl::StatusOr<std::unique_ptr<device::Arena>> CudaDevice::Allocate(uint64_t bytes) {
  if (block_ != nullptr) {
    if (std::unique_ptr<device::Arena> arena = block_->Part(bytes)) return arena;
  }
  return AllocateOnDevice(*streams_, driver_, bytes);
}

absl::StatusOr<std::unique_ptr<device::Arena>> CudaDevice::AllocateWindow(uint64_t bytes) {
  if (block_ != nullptr) {
    if (std::unique_ptr<device::Arena> arena = block_->Part(bytes)) return arena;
  }
  return AllocateToRegister(*streams_, driver_, nccl_, bytes);
}

absl::StatusOr<std::unique_ptr<device::KernelLibrary>> CudaDevice::LoadKernels(const artifact::ArtifactFile& file) {
  return LoadKernelsOf(file, -1);
}

absl::StatusOr<std::unique_ptr<device::KernelLibrary>> CudaDevice::LoadKernelsOf(const artifact::ArtifactFile& file,
                                                                                 int32_t stage) {
  return CudaKernelLibrary::Load(driver_, gpu_, file, stage);
}

device::PreparedThunk CudaDevice::PrepareLaunch(const artifact::Launch& launch, const device::KernelLibrary& library,
                                                const device::MemoryMap& memory, std::span<const int64_t> coordinates) {
  const device::GroupedLaunch only{&launch, {coordinates.begin(), coordinates.end()}};
  const device::GroupedLaunch* const launches[] = {&only};
  return MakeLaunchOf(*streams_, launch.kernel(), library, memory, launches);
}

device::PreparedThunk CudaDevice::PrepareLaunchGroup(std::span<const device::GroupedLaunch> launches,
                                                     std::span<const device::CombinedLaunches> combined,
                                                     const device::KernelLibrary& library,
                                                     const device::MemoryMap& memory) {
  std::vector<std::unique_ptr<device::Thunk>> thunks;
  std::vector<bool> is_combined(launches.size(), false);
  const auto add = [&](uint32_t kernel, std::span<const device::GroupedLaunch* const> parts) {
    auto thunk = MakeLaunchOf(*streams_, kernel, library, memory, parts);
    if (thunk.ok()) thunks.push_back(*std::move(thunk));
    return thunk.status();
  };
  for (const device::CombinedLaunches& together : combined) {
    std::vector<const device::GroupedLaunch*> parts;
    for (const uint32_t launch : together.launches) {
      parts.push_back(&launches[launch]);
      is_combined[launch] = true;
    }
    if (absl::Status status = add(together.kernel, parts); !status.ok()) return status;
  }
  for (size_t i = 0; i < launches.size(); ++i) {
    const device::GroupedLaunch* const alone[] = {&launches[i]};
    if (is_combined[i]) continue;
    if (absl::Status status = add(launches[i].launch->kernel(), alone); !status.ok()) return status;
  }
  return MakeSequence(std::move(thunks));
}

device::PreparedThunk CudaDevice::PrepareMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
  absl::StatusOr<CublasLt*> library = cublas();
  if (!library.ok()) return library.status();
  return MakeMatmul(*streams_, **library, matmul, memory, *choices_);
}

device::PreparedThunk CudaDevice::PrepareConvolution(const artifact::Convolution& convolution,
                                                     const device::MemoryMap& memory) {
  absl::StatusOr<Cudnn*> library = cudnn();
  if (!library.ok()) return library.status();
  return MakeConvolution(*streams_, **library, *choices_, convolution, memory);
}

device::PreparedThunk CudaDevice::PrepareAttention(const artifact::Attention& attention,
                                                   const device::MemoryMap& memory) {
  absl::StatusOr<Cudnn*> library = cudnn();
  if (!library.ok()) return library.status();
  return MakeAttention(*streams_, **library, *choices_, attention, memory);
}

device::PreparedThunk CudaDevice::PrepareTiled(const artifact::Tiled& tiled, const device::KernelLibrary& library,
                                               const device::MemoryMap& memory) {
  return absl::UnimplementedError("tiles are for the caches of CPUs; an artifact for a GPU has none");
}

device::PreparedThunk CudaDevice::PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) {
  return MakeCopy(*streams_, driver_, source, target, bytes);
}

device::PreparedThunk CudaDevice::PrepareFill(std::byte* target, uint64_t bytes, std::span<const uint8_t> pattern) {
  return MakeFill(*streams_, target, bytes, pattern);
}

void CudaDevice::RunOnThreads(uint64_t count, const std::function<void(uint64_t)>& body) {
  for (uint64_t i = 0; i < count; ++i) body(i);
}

}  // namespace sgd::cuda
