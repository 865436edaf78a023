// dlopen, then every routine by its Fortran name.
#include "targets/cpu/device/linear_algebra/lapack_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <mutex>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace sgd::cpu {
namespace {

constexpr char kAdvice[] =
    "install an OpenBLAS with threads (Debian: apt-get install libopenblas0-pthread), or name a LAPACK library in "
    "SGD_LAPACK";

// OpenBLAS starts threads of its own when it is opened, unless its environment says otherwise; ours are enough. Set
// while it is opened only.
class OneThreadEnvironment {
 public:
  OneThreadEnvironment() {
    if (const char* before = getenv(kName)) before_ = before;
    setenv(kName, "1", /*overwrite=*/1);
  }
  ~OneThreadEnvironment() {
    if (before_.has_value()) {
      setenv(kName, before_->c_str(), /*overwrite=*/1);
    } else {
      unsetenv(kName);
    }
  }

 private:
  static constexpr char kName[] = "OPENBLAS_NUM_THREADS";
  std::optional<std::string> before_;
};

// Several devices of one process may ask at a time. It is never unloaded: OpenBLAS takes long to start and keeps memory
// per thread.
void* OpenOnce(const char* path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return handle;
  const OneThreadEnvironment one_thread;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const LapackLibrary>> LapackLibrary::Open() {
  const char* chosen = getenv("SGD_LAPACK");
  const std::string path = chosen != nullptr ? chosen : "libopenblas.so.0";
  void* handle = OpenOnce(path.c_str());
  if (handle == nullptr) {
    const char* error = dlerror();
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot open LAPACK, which computes the program's linear algebra: ", error == nullptr ? "unknown error" : error,
        "; ", kAdvice));
  }
  auto library = absl::WrapUnique(new LapackLibrary(handle));
  library->path_ = path;
  if (absl::Status status = library->Initialize(); !status.ok()) return status;
  return library;
}

LapackLibrary::~LapackLibrary() { dlclose(handle_); }

absl::Status LapackLibrary::Find(const char* symbol, void** function) const {
  *function = dlsym(handle_, symbol);
  if (*function != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path_, " has no ", symbol, "; ", kAdvice));
}

template <typename T>
absl::Status LapackLibrary::FindAll(char prefix, LapackRoutines<T>& r) const {
  const std::pair<const char*, void**> wanted[] = {
      {"trsm", reinterpret_cast<void**>(&r.trsm)},   {"potrf", reinterpret_cast<void**>(&r.potrf)},
      {"getrf", reinterpret_cast<void**>(&r.getrf)}, {"geqrf", reinterpret_cast<void**>(&r.geqrf)},
      {"geqp3", reinterpret_cast<void**>(&r.geqp3)}, {"orgqr", reinterpret_cast<void**>(&r.orgqr)},
      {"ormqr", reinterpret_cast<void**>(&r.ormqr)}, {"syevd", reinterpret_cast<void**>(&r.syevd)},
      {"gesdd", reinterpret_cast<void**>(&r.gesdd)}, {"gesvd", reinterpret_cast<void**>(&r.gesvd)},
      {"geev", reinterpret_cast<void**>(&r.geev)},   {"gees", reinterpret_cast<void**>(&r.gees)},
      {"gehrd", reinterpret_cast<void**>(&r.gehrd)}, {"sytrd", reinterpret_cast<void**>(&r.sytrd)},
      {"gtsv", reinterpret_cast<void**>(&r.gtsv)}};
  return FindEach(prefix, wanted);
}

template <typename T>
absl::Status LapackLibrary::FindAll(char prefix, ComplexLapackRoutines<T>& r) const {
  const std::pair<const char*, void**> wanted[] = {
      {"trsm", reinterpret_cast<void**>(&r.trsm)},   {"potrf", reinterpret_cast<void**>(&r.potrf)},
      {"getrf", reinterpret_cast<void**>(&r.getrf)}, {"geqrf", reinterpret_cast<void**>(&r.geqrf)},
      {"geqp3", reinterpret_cast<void**>(&r.geqp3)}, {"ungqr", reinterpret_cast<void**>(&r.ungqr)},
      {"unmqr", reinterpret_cast<void**>(&r.unmqr)}, {"heevd", reinterpret_cast<void**>(&r.heevd)},
      {"gesdd", reinterpret_cast<void**>(&r.gesdd)}, {"gesvd", reinterpret_cast<void**>(&r.gesvd)},
      {"geev", reinterpret_cast<void**>(&r.geev)},   {"gees", reinterpret_cast<void**>(&r.gees)},
      {"gehrd", reinterpret_cast<void**>(&r.gehrd)}, {"hetrd", reinterpret_cast<void**>(&r.hetrd)},
      {"gtsv", reinterpret_cast<void**>(&r.gtsv)}};
  return FindEach(prefix, wanted);
}

absl::Status LapackLibrary::FindEach(char prefix, std::span<const std::pair<const char*, void**>> wanted) const {
  for (const auto& [name, function] : wanted) {
    const std::string symbol = absl::StrCat(std::string(1, prefix), name, "_");
    if (absl::Status status = Find(symbol.c_str(), function); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LapackLibrary::Initialize() {
  if (absl::Status status = FindAll('s', floats_); !status.ok()) return status;
  if (absl::Status status = FindAll('d', doubles_); !status.ok()) return status;
  if (absl::Status status = FindAll('c', complex_floats_); !status.ok()) return status;
  if (absl::Status status = FindAll('z', complex_doubles_); !status.ok()) return status;
  void* version = nullptr;
  if (absl::Status status = Find("ilaver_", &version); !status.ok()) return status;
  int major = 0, minor = 0, patch = 0;
  reinterpret_cast<void (*)(int*, int*, int*)>(version)(&major, &minor, &patch);
  version_ = absl::StrCat("LAPACK ", major, ".", minor, ".", patch);
  // OpenBLAS's own: absent in other libraries, of which nothing is known but that the caller's thread computes.
  if (void* config = dlsym(handle_, "openblas_get_config")) {
    absl::StrAppend(&version_, " of ", absl::StripAsciiWhitespace(reinterpret_cast<const char* (*)()>(config)()));
  }
  if (void* core = dlsym(handle_, "openblas_get_corename"))
    absl::StrAppend(&version_, " for ", reinterpret_cast<const char* (*)()>(core)());
  if (void* set_threads = dlsym(handle_, "openblas_set_num_threads")) reinterpret_cast<void (*)(int)>(set_threads)(1);
  void* parallel = dlsym(handle_, "openblas_get_parallel");
  is_concurrent_ = parallel != nullptr && reinterpret_cast<int (*)()>(parallel)() != 0;
  return absl::OkStatus();
}

}  // namespace sgd::cpu
