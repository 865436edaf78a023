// Fills the table of functions.
#include "targets/gpu/device/driver/driver.h"

#include <stdlib.h>

#include "absl/strings/str_cat.h"
#include "targets/gpu/device/driver/driver_errors.h"

namespace sgd::cuda {
namespace {

// Graphs that hold copies, kernels and the nodes of NCCL; modules of PTX 8.0.
constexpr int kLeastVersion = 12000;

#define SGD_QUOTE(name) #name

absl::Status FindAll(const DynamicLibrary& library, Driver& driver) {
#define SGD_FIND(name) \
  if (absl::Status status = library.Find(SGD_QUOTE(name), driver.name); !status.ok()) return status;
  SGD_DRIVER_FUNCTIONS(SGD_FIND)
#undef SGD_FIND
  return library.Find("cuEventElapsedTime", driver.elapsed_time);
}

std::string VisibleDevices() {
  const char* visible = getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? "" : absl::StrCat(" (CUDA_VISIBLE_DEVICES is '", visible, "')");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Driver>> Driver::Load() {
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open({"libcuda.so.1"}, "the NVIDIA driver");
  if (!library.ok()) return library.status();
  auto driver = std::make_shared<Driver>();
  driver->library_ = std::make_unique<DynamicLibrary>(*std::move(library));
  if (absl::Status status = FindAll(*driver->library_, *driver); !status.ok()) return status;
  const CUresult result = driver->cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE)
    return absl::FailedPreconditionError(
        absl::StrCat("the NVIDIA driver sees no GPU", VisibleDevices(),
                     "; expected one for each rank; check nvidia-smi and CUDA_VISIBLE_DEVICES"));
  if (absl::Status status = driver->Check(result, "cannot start the NVIDIA driver"); !status.ok()) return status;
  if (absl::Status status = driver->Check(driver->cuDriverGetVersion(&driver->version), "cuDriverGetVersion");
      !status.ok())
    return status;
  if (driver->version < kLeastVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the NVIDIA driver is of CUDA ", driver->version / 1000, ".",
                                                      driver->version % 1000 / 10, "; at least ", kLeastVersion / 1000,
                                                      ".0 is needed"));
  }
  return std::shared_ptr<const Driver>(std::move(driver));
}

absl::Status Driver::Check(CUresult result, const std::string& what) const {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  const char* const advice = AdviceFor(result);
  return absl::Status(CodeOf(result), absl::StrCat(what, ": ", name == nullptr ? absl::StrCat("error ", result) : name,
                                                   text == nullptr ? "" : ": ", text == nullptr ? "" : text,
                                                   *advice == 0 ? "" : ": ", advice));
}

}  // namespace sgd::cuda
