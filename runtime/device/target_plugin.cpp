// dlopen beside the program.
#include "runtime/device/target_plugin.h"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/device/interface_hash.h"
#include "runtime/plugin/plugin_path.h"

namespace sgd::device {

absl::StatusOr<const TargetPlugin*> OpenTargetPlugin(const std::string& target) {
  namespace fs = std::filesystem;
  for (unsigned char letter : target) {
    if (!absl::ascii_isalnum(letter))
      return absl::InvalidArgumentError(
          absl::StrCat("'", absl::CEscape(target), "' is no target; expected cpu or cuda; compile the program again"));
  }
  std::error_code error;
  const fs::path plugin = plugin::PathOf(absl::StrCat("sgd_target_", target, ".so"));
  if (!fs::exists(plugin, error)) {
    return absl::FailedPreconditionError(absl::StrCat("target '", target, "' is not in this build: there is no ",
                                                      plugin.string(),
                                                      "; expected the plugin beside this program; build it"));
  }
  // Never closed: what it makes may live until the process ends.
  void* handle = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    return absl::FailedPreconditionError(absl::StrCat("cannot open target '", target, "': ", dlerror()));
  using Entry = const TargetPlugin* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kModuleEntry));
  const auto* interface = static_cast<const char*>(dlsym(handle, kModuleInterface));
  if (entry == nullptr || interface == nullptr)
    return absl::FailedPreconditionError(absl::StrCat(plugin.string(), " is no plugin of a target"));
  if (interface != std::string_view(SGD_INTERFACE_HASH)) {
    return absl::FailedPreconditionError(
        absl::StrCat(plugin.string(), " is of another build than this program; build or install both anew"));
  }
  return entry();
}

}  // namespace sgd::device
