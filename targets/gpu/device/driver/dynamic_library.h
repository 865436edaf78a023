// Libraries that are opened at run time, since they come with a driver, a toolkit or a Python package and not with us.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::cuda {

// Folders that hold NVIDIA's libraries on this machine, in the order in which they are searched behind the system's
// own: CUDA_HOME (or /usr/local/cuda), where containers mount the driver, then the packages of Python environments
// (VIRTUAL_ENV, CONDA_PREFIX, those of the python3 programs in PATH).
std::vector<std::string> LibraryFolders();

// An open library. Functions found in it may be called while it lives; none is ever unloaded before.
class DynamicLibrary {
 public:
  // Opens the first of the names that exists. Names are sonames, newest first. SGD_CUDA_LIBRARIES, folders with colons
  // between, comes before everything else, and with SGD_CUDA_LIBRARIES_ONLY=1 there is nothing else.
  // FailedPrecondition, saying what was tried, when there is none; `purpose` says what it is for.
  static absl::StatusOr<DynamicLibrary> Open(const std::vector<std::string>& names, const std::string& purpose);

  // Address of a function; FailedPrecondition, asking for a newer version, when the library has it not.
  absl::StatusOr<void*> Find(const char* symbol) const;
  // The same, as a function of a known type.
  template <typename Function>
  absl::Status Find(const char* symbol, Function& function) const {
    absl::StatusOr<void*> address = Find(symbol);
    if (!address.ok()) return address.status();
    function = reinterpret_cast<Function>(*address);
    return absl::OkStatus();
  }

  // As it was opened.
  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  DynamicLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  std::unique_ptr<void, Close> handle_;
  std::string path_;
};

}  // namespace sgd::cuda
