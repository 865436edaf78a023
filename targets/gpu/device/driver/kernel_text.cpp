// Line by line.
#include "targets/gpu/device/driver/kernel_text.h"

#include <algorithm>
#include <optional>
#include <set>

#include "runtime/artifact/reader.h"

namespace sgd::cuda {
namespace {

constexpr std::string_view kEntry = ".visible .entry ";

// The symbol of the entry that begins with this line; nullopt for other lines.
std::optional<std::string_view> EntryOf(std::string_view line) {
  if (!line.starts_with(kEntry)) return std::nullopt;
  line.remove_prefix(kEntry.size());
  return line.substr(0, line.find_first_of("( \t\r\n"));
}

}  // namespace

std::vector<bool> KernelsOf(const artifact::Artifact& root, int32_t stage) {
  std::vector<bool> used(artifact::Size(root.kernels()), stage < 0);
  for (const artifact::Program* program : *root.programs()) {
    if (program->stage() != stage) continue;
    for (uint32_t i = 0; i < artifact::Size(program->instructions()); ++i) {
      const artifact::Instruction& instruction = *program->instructions()->Get(i);
      if (const artifact::Launch* launch = instruction.op_as_Launch()) used[launch->kernel()] = true;
      const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup();
      if (group == nullptr) continue;
      for (const artifact::Launch* launch : *group->launches()) used[launch->kernel()] = true;
      for (uint32_t k = 0; k < artifact::Size(group->combined()); ++k) used[group->combined()->Get(k)->kernel()] = true;
    }
  }
  return used;
}

std::string WithoutEntries(std::string_view text, const std::vector<std::string_view>& symbols) {
  const std::set<std::string_view> left_out(symbols.begin(), symbols.end());
  std::string kept;
  kept.reserve(text.size());
  bool is_left_out = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (const std::optional<std::string_view> symbol = EntryOf(line)) is_left_out = left_out.contains(*symbol);
    if (!is_left_out) kept += line;
    if (line.starts_with('}')) is_left_out = false;
  }
  return kept;
}

}  // namespace sgd::cuda
