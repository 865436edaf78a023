// Messages about what a machine lacks; memory, copies and fills.
#include "targets/gpu/device/cuda_device.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "emulated_device.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::cuda {
namespace {

using ::sgd::testing::EmulatedDevice;
using ::sgd::testing::ScopedVariable;
using ::testing::HasSubstr;

absl::Status Opening(const CudaDeviceOptions& options = {}) { return CudaDevice::Create(options).status(); }

TEST(CudaMachine, WithoutADriver) {
  const ScopedVariable none("SGD_CUDA_LIBRARIES", "/nonexistent"), only("SGD_CUDA_LIBRARIES_ONLY", "1");
  const absl::Status status = Opening();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open libcuda.so.1, the NVIDIA driver: it is not in '/nonexistent'"));
}

TEST(CudaMachine, WithoutAGpu) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES), gpus("SGD_EMULATED_GPUS", "0");
  const ScopedVariable visible("CUDA_VISIBLE_DEVICES", "7");
  const absl::Status status = Opening();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(status.message()),
            "the NVIDIA driver sees no GPU (CUDA_VISIBLE_DEVICES is '7'); expected one for each rank; "
            "check nvidia-smi and CUDA_VISIBLE_DEVICES");
}

TEST(CudaMachine, WithAnOldDriver) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES),
      version("SGD_EMULATED_DRIVER_VERSION", "11080");
  EXPECT_EQ(std::string(Opening().message()), "the NVIDIA driver is of CUDA 11.8; at least 12.0 is needed");
}

TEST(CudaMachine, WithFewerGpusThanRanks) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES), gpus("SGD_EMULATED_GPUS", "2");
  EXPECT_EQ(
      std::string(Opening({.local_rank = 2}).message()),
      "rank 2 of this host has no GPU: there are 2; start fewer ranks, or for a test let them share with --share-gpus");
  EXPECT_TRUE(Opening({.local_rank = 1}).ok());
  EXPECT_TRUE(Opening({.local_rank = 2, .shares_gpus = true}).ok());
}

TEST(CudaMachine, ErrorsSayWhatToDo) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  const auto driver = *Driver::Load();
  const absl::Status not_ready = driver->Check(CUDA_ERROR_SYSTEM_NOT_READY, "cannot start");
  EXPECT_EQ(not_ready.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(not_ready.message()), HasSubstr("nvidia-fabricmanager"));
  const absl::Status fault = driver->Check(CUDA_ERROR_ILLEGAL_ADDRESS, "the GPU");
  EXPECT_EQ(fault.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(fault.message()), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS: of the emulated GPU: a kernel has"));
  EXPECT_EQ(driver->Check(CUDA_ERROR_INVALID_VALUE, "a call").code(), absl::StatusCode::kInternal);
}

TEST_F(EmulatedDevice, IsOfTheThreadThatOpenedIt) {
  absl::Status status;
  std::thread([&] { status = device_->Allocate(64).status(); }).join();
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_INVALID_CONTEXT"));
}

TEST_F(EmulatedDevice, CopiesMayOverlap) {
  auto arena = *device_->Allocate(64);
  for (const auto& [from, to] : {std::pair(0, 8), std::pair(8, 0), std::pair(16, 16)}) {
    std::vector<uint8_t> values(64);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i);
    Put(arena->data(), values);
    auto copy = device_->PrepareCopy(arena->data() + from, arena->data() + to, 32);
    ASSERT_TRUE(copy.ok()) << copy.status();
    ASSERT_TRUE((*copy)->Execute().ok());
    for (size_t i = 0; i < 32; ++i) values[to + i] = static_cast<uint8_t>(from + i);
    EXPECT_EQ(Get<uint8_t>(arena->data(), 64), values) << from << " to " << to;
  }
}

TEST(DynamicLibrary, SaysWhatWasThereAndIsNoLibrary) {
  const ::sgd::testing::TemporaryFolder folder;
  std::ofstream(folder.File("libsgd_nothing.so.2")) << "not a library";
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", "/nonexistent:" + folder.path());
  const absl::Status status =
      DynamicLibrary::Open({"libsgd_nothing.so.3", "libsgd_nothing.so.2"}, "for nothing").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot open libsgd_nothing.so.3 or libsgd_nothing.so.2, for nothing: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder.File("libsgd_nothing.so.2")));
}

TEST(DynamicLibrary, FindsLibrariesOfAPythonEnvironment) {
  const ::sgd::testing::TemporaryFolder environment;
  const std::string folder = environment.path() + "/lib/python3.11/site-packages/nvidia/cu13/lib";
  std::filesystem::create_directories(folder);
  std::filesystem::copy(SGD_CUDA_DOUBLES "/libcuda.so.1", folder + "/libsgd_python.so.1");
  {
    const ScopedVariable active("VIRTUAL_ENV", environment.path());
    const auto library = DynamicLibrary::Open({"libsgd_python.so.1"}, "for a test");
    ASSERT_TRUE(library.ok()) << library.status();
    EXPECT_EQ(library->path(), folder + "/libsgd_python.so.1");
  }
  std::filesystem::create_directories(environment.path() + "/bin");
  std::filesystem::create_symlink("/bin/true", environment.path() + "/bin/python3");
  const ScopedVariable path("PATH", "/nonexistent:" + environment.path() + "/bin");
  const auto library = DynamicLibrary::Open({"libsgd_python.so.1"}, "for a test");
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(library->path(), folder + "/libsgd_python.so.1");
  EXPECT_TRUE(library->Find("cuInit").ok());
  EXPECT_THAT(std::string(library->Find("cuNothing").status().message()),
              HasSubstr("has no cuNothing; expected a newer version; install it"));
}

TEST_F(EmulatedDevice, WithoutCublas) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", "/nonexistent"), only("SGD_CUDA_LIBRARIES_ONLY", "1");
  artifact::MatmulT matmul;
  matmul.element = artifact::ElementType::F32;
  flatbuffers::FlatBufferBuilder builder;
  matmul.a = ::sgd::testing::SliceAt(artifact::Space::Private, 0, 0);
  matmul.b = ::sgd::testing::SliceAt(artifact::Space::Private, 0, 0);
  matmul.c = ::sgd::testing::SliceAt(artifact::Space::Private, 0, 0);
  builder.Finish(artifact::Matmul::Pack(builder, &matmul));
  const auto thunk = device_->PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), {});
  EXPECT_EQ(thunk.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(thunk.status().message()),
              HasSubstr("cannot open libcublasLt.so.13 or libcublasLt.so.12, which computes matmuls: "));
}

TEST_F(EmulatedDevice, OutOfMemory) {
  const absl::Status status = device_->Allocate(uint64_t{1} << 50).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bytes free, this rank needs 1125899906842624: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(EmulatedDevice, ArenasAreZeroedAndAligned) {
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{100}, uint64_t{1} << 20}) {
    auto arena = *device_->Allocate(bytes);
    EXPECT_EQ(arena->size(), bytes);
    EXPECT_EQ(reinterpret_cast<uint64_t>(arena->data()) % 4096, 0u);
    EXPECT_EQ(Get<uint8_t>(arena->data(), bytes), std::vector<uint8_t>(bytes));
  }
}

TEST_F(EmulatedDevice, CopiesWaitForTheirTurn) {
  auto arena = *device_->Allocate(4096);
  Put<int>(arena->data(), {1, 2, 3, 4});
  auto copy = *device_->PrepareCopy(arena->data(), arena->data() + 1024, 16);
  ASSERT_TRUE(copy->Execute().ok());
  EXPECT_EQ(Get<int>(arena->data() + 1024, 4), (std::vector<int>{1, 2, 3, 4}));
  EXPECT_TRUE(device_->PrepareCopy(arena->data(), arena->data(), 16).ok());
}

TEST_F(EmulatedDevice, FillsRepeatThePattern) {
  auto arena = *device_->Allocate(4096);
  for (const std::vector<uint8_t>& pattern :
       std::vector<std::vector<uint8_t>>{{7},
                                         {1, 2},
                                         {1, 2, 3},
                                         {1, 2, 3, 4},
                                         {5, 5, 5, 5},
                                         {1, 2, 1, 2},
                                         {1, 2, 3, 4, 5, 6},
                                         {1, 2, 3, 4, 5, 6, 7, 8},
                                         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}}) {
    for (uint64_t offset : {0, 1, 2, 64}) {
      for (uint64_t times : {0, 1, 5}) {
        Put(arena->data(), std::vector<uint8_t>(256, 0xee));
        auto thunk = *device_->PrepareFill(arena->data() + offset, times * pattern.size(), pattern);
        ASSERT_TRUE(thunk->Execute().ok());
        std::vector<uint8_t> expected(256, 0xee);
        for (size_t i = 0; i < times * pattern.size(); ++i) expected[offset + i] = pattern[i % pattern.size()];
        EXPECT_EQ(Get<uint8_t>(arena->data(), 256), expected) << pattern.size() << " at " << offset;
      }
    }
  }
}

TEST_F(EmulatedDevice, MemoryIsGivenBack) {
  void* driver = dlopen(SGD_CUDA_DOUBLES "/libcuda.so.1", RTLD_NOW);
  const auto bytes = reinterpret_cast<uint64_t (*)()>(dlsym(driver, "sgd_emulated_bytes"));
  ASSERT_NE(bytes, nullptr);
  const uint64_t before = bytes();
  auto arena = *device_->Allocate(1 << 20);
  EXPECT_GE(bytes(), before + (1 << 20));
  arena.reset();
  EXPECT_EQ(bytes(), before);
}

TEST(CudaDeviceOptions, CodeIsLoadedAtOnceWhereStreamsWaitForPeers) {
  const sgd::testing::ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  const sgd::testing::ScopedVariable loading("CUDA_MODULE_LOADING", ""), queues("CUDA_DEVICE_MAX_CONNECTIONS", "8");
  unsetenv("CUDA_MODULE_LOADING");
  ASSERT_TRUE(CudaDevice::Create({}).ok());
  EXPECT_EQ(getenv("CUDA_MODULE_LOADING"), nullptr);
  ASSERT_TRUE(CudaDevice::Create({.has_messages = true}).ok());
  EXPECT_STREQ(getenv("CUDA_MODULE_LOADING"), "EAGER");
  EXPECT_STREQ(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "8") << "the user's own";
}

}  // namespace
}  // namespace sgd::cuda
