// dlopen beside the program.
#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/comm/hosts/transport.h"
#include "runtime/comm/hosts/transport_hash.h"
#include "runtime/plugin/plugin_path.h"

namespace sgd::comm {

absl::StatusOr<const TransportPlugin*> OpenTransportPlugin() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path plugin = plugin::PathOf("libsgd_ucx.so");
  if (!fs::exists(plugin, error)) {
    return absl::FailedPreconditionError(
        absl::StrCat("CPU ranks on several hosts need UCX, which is not in this build: there is no ", plugin.string(),
                     "; expected the plugin; install libucx-dev and build anew"));
  }
  // Never closed: what it makes may live until the process ends.
  void* handle = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const std::string why = dlerror();
    const bool lacks_ucx = absl::StrContains(why, "libucp") || absl::StrContains(why, "libucs");
    return absl::FailedPreconditionError(
        absl::StrCat("CPU ranks on several hosts need UCX: ", why,
                     lacks_ucx ? "; expected it on every host; install libucx0 (Debian)" : "; build sgdrun anew"));
  }
  using Entry = const TransportPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kTransportEntry));
  const auto* interface = static_cast<const char*>(dlsym(handle, kTransportInterface));
  if (entry == nullptr || interface == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(plugin.string(), " is no transport; build it anew"));
  if (interface != std::string_view(SGD_INTERFACE_HASH))
    return absl::FailedPreconditionError(
        absl::StrCat(plugin.string(), " is of another build than this program; build or install both anew"));
  return entry();
}

}  // namespace sgd::comm
