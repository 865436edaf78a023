// Looks an architecture up.
#include "tools/sgd-inspect/module_text.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/kernel_modules.h"

namespace sgd::inspect {

absl::StatusOr<std::string> ModuleText(const artifact::ArtifactFile& file, const std::string& architecture) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < artifact::Size(file.root().architectures()); ++i) {
    names.push_back(file.root().architectures()->Get(i)->str());
  }
  if (names.empty()) {
    return absl::NotFoundError(absl::StrCat(file.path(), ": is for the target ", file.root().target()->str(),
                                            "; expected one for GPUs; compile with --target=cuda:sm_90"));
  }
  if (file.kernels().empty()) return std::string();
  absl::StatusOr<std::vector<artifact::KernelModule>> modules =
      artifact::ReadKernelModules(file.root(), file.kernels());
  if (!modules.ok()) return modules.status();
  for (const artifact::KernelModule& module : *modules) {
    if (module.architecture == architecture) return std::string(module.text);
  }
  return absl::NotFoundError(absl::StrCat(file.path(), ": has no kernels for ", architecture, "; it has those for ",
                                          absl::StrJoin(names, ", ")));
}

}  // namespace sgd::inspect
