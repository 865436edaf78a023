// One list of places for all layouts.
#include "runtime/plugin/plugin_path.h"

#include <dlfcn.h>

#include <system_error>
#include <vector>

namespace sgd::plugin {
namespace {

namespace fs = std::filesystem;

// Folders of this library and of the program. The dynamic linker knows a library by the path that opened it.
std::vector<fs::path> OwnFolders() {
  std::vector<fs::path> folders;
  std::error_code error;
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&PathOf), &info) != 0 && info.dli_fname != nullptr) {
    const fs::path own = fs::canonical(info.dli_fname, error);
    if (!error) folders.push_back(own.parent_path());
  }
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  return folders;
}

}  // namespace

fs::path PathOf(const std::string& name) {
  const std::vector<fs::path> folders = OwnFolders();
  // bin/sgdrun, lib/libsgd.so, sgd/_sgd.so of a wheel and of build/python, jax_plugins/sgd/libsgd_pjrt.so of a wheel.
  for (const char* place : {"../lib/sgd", "sgd", "lib/sgd", "../../lib/sgd", "../../sgd/lib/sgd"}) {
    for (const fs::path& folder : folders) {
      std::error_code error;
      const fs::path path = (folder / place / name).lexically_normal();
      if (fs::exists(path, error)) return path;
    }
  }
  return (folders.back() / "../lib/sgd" / name).lexically_normal();
}

}  // namespace sgd::plugin
