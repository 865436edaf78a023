// memfd + dlopen; the reader has checked that the object runs no code by being loaded.
#include "targets/cpu/device/kernel_library.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace sgd::cpu {
namespace {

absl::Status LoadError(const artifact::ArtifactFile& file, const std::string& what) {
  return absl::InternalError(absl::StrCat(file.path(), ": cannot load the kernels: ", what));
}

absl::StatusOr<int> MemoryFile(const artifact::ArtifactFile& file) {
  const int descriptor = memfd_create("sgd-kernels", MFD_CLOEXEC);
  if (descriptor < 0) return LoadError(file, std::strerror(errno));
  artifact::Bytes rest = file.kernels();
  while (!rest.empty()) {
    const ssize_t written = write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const absl::Status status = LoadError(file, std::strerror(errno));
      close(descriptor);
      return status;
    }
    rest = rest.subspan(static_cast<size_t>(written));
  }
  return descriptor;
}

// A path of the file that no other library of the process has: dlopen gives back a library that it has opened by the
// same path, and descriptors have the numbers of closed ones. The path spells a number of the library in `/` and `/.`.
std::string UniquePath(int descriptor) {
  static std::atomic<uint64_t> libraries = 0;
  std::string path = "/proc/self/fd/";
  for (uint64_t digits = ++libraries; digits != 0; digits >>= 1) path += (digits & 1) != 0 ? "./" : "/";
  return absl::StrCat(path, descriptor);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpuKernelLibrary>> CpuKernelLibrary::Load(const artifact::ArtifactFile& file) {
  auto library = absl::WrapUnique(new CpuKernelLibrary);
  if (file.kernels().empty()) return library;
  absl::StatusOr<int> descriptor = MemoryFile(file);
  if (!descriptor.ok()) return descriptor.status();
  library->handle_ = dlopen(UniquePath(*descriptor).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(*descriptor);
  if (library->handle_ == nullptr) return LoadError(file, dlerror());
  if (file.root().kernels() == nullptr) return library;
  for (const artifact::Kernel* kernel : *file.root().kernels()) {
    void* function = dlsym(library->handle_, kernel->symbol()->c_str());
    if (function == nullptr) return LoadError(file, dlerror());
    library->functions_.push_back(reinterpret_cast<KernelFunction>(function));
  }
  return library;
}

CpuKernelLibrary::~CpuKernelLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace sgd::cpu
