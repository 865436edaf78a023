// dlopen over a list of folders.
#include "targets/gpu/device/driver/dynamic_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sgd::cuda {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* value = getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Folders(const fs::path& parent) {
  std::vector<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    folders.push_back(at->path().string());
  }
  return folders;
}

// lib/python3.*/site-packages/nvidia/*/lib, Debian's dist-packages likewise.
void AddPythonFolders(const std::string& environment, std::vector<std::string>& folders) {
  if (environment.empty()) return;
  for (const std::string& python : Folders(fs::path(environment) / "lib")) {
    for (const char* site : {"site-packages", "dist-packages"}) {
      for (const std::string& package : Folders(fs::path(python) / site / "nvidia"))
        folders.push_back(absl::StrCat(package, "/lib"));
    }
  }
}

// The environments that own the python3 programs of PATH.
std::vector<std::string> PythonEnvironments() {
  const std::vector<std::string> programs = absl::StrSplit(Variable("PATH"), ':', absl::SkipEmpty());
  std::vector<std::string> environments;
  for (const std::string& folder : programs) {
    if (access((fs::path(folder) / "python3").c_str(), X_OK) == 0)
      environments.push_back(fs::path(folder).parent_path().string());
  }
  return environments;
}

std::string LastError() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error" : text;
}

}  // namespace

std::vector<std::string> LibraryFolders() {
  std::vector<std::string> folders;
  const std::string home = Variable("CUDA_HOME");
  for (const char* name : {"lib64", "lib"})
    folders.push_back(absl::StrCat(home.empty() ? "/usr/local/cuda" : home, "/", name));
  folders.push_back("/usr/local/nvidia/lib64");
  AddPythonFolders(Variable("VIRTUAL_ENV"), folders);
  AddPythonFolders(Variable("CONDA_PREFIX"), folders);
  for (const std::string& environment : PythonEnvironments()) AddPythonFolders(environment, folders);
  return folders;
}

absl::StatusOr<DynamicLibrary> DynamicLibrary::Open(const std::vector<std::string>& names, const std::string& purpose) {
  const std::string first = Variable("SGD_CUDA_LIBRARIES");
  std::vector<std::string> folders = absl::StrSplit(first, ':', absl::SkipEmpty());
  std::string problem;
  if (Variable("SGD_CUDA_LIBRARIES_ONLY") == "1") {
    problem = absl::StrCat("it is not in '", first, "' (SGD_CUDA_LIBRARIES), and SGD_CUDA_LIBRARIES_ONLY is set");
  } else {
    folders.push_back("");  // where the system looks
    for (std::string& folder : LibraryFolders()) folders.push_back(std::move(folder));
  }
  for (const std::string& folder : folders) {
    for (const std::string& name : names) {
      const std::string path = folder.empty() ? name : absl::StrCat(folder, "/", name);
      if (!folder.empty() && access(path.c_str(), F_OK) != 0) continue;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return DynamicLibrary(handle, path);
      // The error of a library that exists but cannot be opened says more than that of a missing one.
      const std::string error = LastError();
      if (problem.empty() || !folder.empty()) problem = error;
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("cannot open ", absl::StrJoin(names, " or "), ", ", purpose, ": ", problem,
                   "; expected it on the library path; install it, or name its folder in SGD_CUDA_LIBRARIES"));
}

absl::StatusOr<void*> DynamicLibrary::Find(const char* symbol) const {
  if (void* address = dlsym(handle_.get(), symbol)) return address;
  return absl::FailedPreconditionError(
      absl::StrCat(path_, " has no ", symbol, "; expected a newer version; install it"));
}

void DynamicLibrary::Close::operator()(void* handle) const { dlclose(handle); }

}  // namespace sgd::cuda
