// The driver compiles the module's text for the GPU when it is loaded.
#include "targets/gpu/device/driver/kernel_library.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/kernel_modules.h"
#include "targets/gpu/device/driver/kernel_text.h"

namespace sgd::cuda {
namespace {

constexpr uint32_t kStaticSharedLimit = 48 << 10;

// Of sm_90: 90. Of sm_90a as well on exactly that GPU.
std::optional<int> NumberOf(const std::string& name, int capability) {
  if (!name.starts_with("sm_")) return std::nullopt;
  int number = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + 3, end, number);
  if (error != std::errc() || (rest != end && number != capability)) return std::nullopt;
  return number;
}

absl::StatusOr<Module> LoadModule(const std::shared_ptr<const Driver>& driver, const artifact::ArtifactFile& file,
                                  const artifact::KernelModule& text) {
  std::array<char, 4096> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult result =
      driver->cuModuleLoadDataEx(&module, text.text.data(), options.size(), options.data(), values.data());
  absl::Status status = driver->Check(
      result, absl::StrCat(file.path(), ": cannot load the kernels for ", std::string(text.architecture)));
  if (status.ok()) return Module(driver, module);
  const std::string hint = result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                               ? absl::StrCat("; the driver is of CUDA ", driver->version / 1000, ".",
                                              driver->version % 1000 / 10, ", a newer one is needed")
                               : "";
  const std::string said = log[0] == 0 ? "" : absl::StrCat(": ", log.data());
  return absl::Status(status.code(), absl::StrCat(status.message(), said, hint));
}

}  // namespace

absl::StatusOr<size_t> ChooseArchitecture(const std::vector<std::string>& names, const GpuModel& gpu) {
  const int capability = gpu.capability;
  std::optional<size_t> best;
  int best_number = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == gpu.name) return i;
    const std::optional<int> number = NumberOf(names[i], capability);
    if (!number || *number > capability || (best && *number < best_number)) continue;
    best = i;
    best_number = *number;
  }
  if (best) return *best;
  return absl::FailedPreconditionError(absl::StrCat("compiled for ", absl::StrJoin(names, ", "), ", this GPU is an sm_",
                                                    capability, " (", gpu.name, "); compile with --target=cuda:sm_",
                                                    capability));
}

absl::StatusOr<std::unique_ptr<CudaKernelLibrary>> CudaKernelLibrary::Load(std::shared_ptr<const Driver> driver,
                                                                           const GpuModel& gpu,
                                                                           const artifact::ArtifactFile& file,
                                                                           int32_t stage) {
  auto library = std::make_unique<CudaKernelLibrary>();
  const artifact::Artifact& root = file.root();
  if (artifact::Size(root.kernels()) == 0) return library;
  absl::StatusOr<std::vector<artifact::KernelModule>> modules = artifact::ReadKernelModules(root, file.kernels());
  if (!modules.ok()) return modules.status();
  std::vector<std::string> names;
  for (const artifact::KernelModule& module : *modules) names.emplace_back(module.architecture);
  absl::StatusOr<size_t> chosen = ChooseArchitecture(names, gpu);
  if (!chosen.ok())
    return absl::Status(chosen.status().code(), absl::StrCat(file.path(), ": ", chosen.status().message()));
  const std::vector<bool> used = KernelsOf(root, stage);
  std::vector<std::string_view> others;
  for (uint32_t i = 0; i < used.size(); ++i) {
    if (!used[i]) others.push_back(root.kernels()->Get(i)->symbol()->string_view());
  }
  artifact::KernelModule own = (*modules)[*chosen];
  std::string own_text;
  if (!others.empty()) own.text = own_text = WithoutEntries(own.text, others);
  absl::StatusOr<Module> module = LoadModule(driver, file, own);
  if (!module.ok()) return module.status();
  library->module_ = *std::move(module);
  for (uint32_t i = 0; i < used.size(); ++i) {
    const artifact::Kernel* kernel = root.kernels()->Get(i);
    Kernel loaded{nullptr, kernel->threads(), kernel->shared_bytes()};
    if (kernel->only_combined() || !used[i]) {
      library->kernels_.push_back(loaded);
      continue;
    }
    const std::string what = absl::StrCat(file.path(), ": kernel ", kernel->symbol()->str());
    absl::Status status = driver->Check(
        driver->cuModuleGetFunction(&loaded.function, library->module_.get(), kernel->symbol()->c_str()), what);
    if (status.ok() && loaded.shared_bytes > kStaticSharedLimit) {
      status =
          driver->Check(driver->cuFuncSetAttribute(loaded.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                   static_cast<int>(loaded.shared_bytes)),
                        what);
    }
    if (!status.ok()) return status;
    library->kernels_.push_back(loaded);
  }
  return library;
}

}  // namespace sgd::cuda
