// Framing of module texts, and what is checked before a driver sees them.
#include "runtime/artifact/kernel_modules.h"

#include <algorithm>
#include <cstring>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/invalid.h"

namespace sgd::artifact {
namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxSharedBytes = 1u << 20;

bool IsIdentifier(std::string_view name) {
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

absl::Status CheckKernel(const Kernel& kernel) {
  const std::string name = absl::StrCat("kernel '", absl::CEscape(kernel.symbol()->str()), "'");
  if (!IsIdentifier(kernel.symbol()->string_view())) return Invalid(absl::StrCat(name, " is not an identifier"));
  if (kernel.threads() == 0 || kernel.threads() > kMaxThreads) {
    return Invalid(absl::StrCat(name, " has blocks of ", kernel.threads(), " threads"));
  }
  if (kernel.shared_bytes() > kMaxSharedBytes) {
    return Invalid(absl::StrCat(name, " wants ", kernel.shared_bytes(), " bytes of shared memory"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string PackKernelModules(const std::vector<std::string>& texts) {
  std::string section;
  for (const std::string& text : texts) {
    const uint64_t size = text.size();
    for (int byte = 0; byte < 8; ++byte) section.push_back(static_cast<char>(size >> (8 * byte)));
    section.append(text);
    section.push_back('\0');
  }
  return section;
}

absl::StatusOr<std::vector<KernelModule>> ReadKernelModules(const Artifact& root, Bytes section) {
  std::vector<KernelModule> modules;
  const uint32_t count = root.architectures() == nullptr ? 0 : root.architectures()->size();
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t size = 0;
    if (section.size() < sizeof(size)) return Invalid("section 'kernels' ends before its last module");
    for (int byte = 0; byte < 8; ++byte) size |= static_cast<uint64_t>(section[byte]) << (8 * byte);
    section = section.subspan(sizeof(size));
    if (size >= section.size()) return Invalid("a module of section 'kernels' is longer than the section");
    if (section[size] != 0 || std::memchr(section.data(), 0, size) != nullptr) {
      return Invalid("a module of section 'kernels' does not end with its only zero byte");
    }
    modules.push_back(
        {root.architectures()->Get(i)->string_view(), {reinterpret_cast<const char*>(section.data()), size}});
    section = section.subspan(size + 1);
  }
  if (!section.empty()) return Invalid("section 'kernels' holds more than its modules");
  return modules;
}

absl::Status CheckKernelModules(const Artifact& root, Bytes section) {
  absl::StatusOr<std::vector<KernelModule>> modules = ReadKernelModules(root, section);
  if (!modules.ok()) return modules.status();
  if (modules->empty()) return Invalid("has kernels but names no architecture");
  absl::flat_hash_set<std::string_view> names;
  for (const KernelModule& module : *modules) {
    if (!IsIdentifier(module.architecture) || !names.insert(module.architecture).second) {
      return Invalid(absl::StrCat("architecture '", absl::CEscape(std::string(module.architecture)),
                                  "' is not a name or given twice"));
    }
  }
  if (root.kernels() == nullptr) return absl::OkStatus();
  for (const Kernel* kernel : *root.kernels()) {
    if (absl::Status status = CheckKernel(*kernel); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sgd::artifact
