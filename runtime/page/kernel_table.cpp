// Counts launches over all programs, then describes kernel by kernel.
#include "runtime/page/kernel_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/control_flow.h"

namespace sgd::page {
namespace {

using OrderedJson = nlohmann::ordered_json;
using artifact::Size;

struct Uses {
  uint64_t launches = 0, combined = 0, blocks = 0;
};

class UseCounter {
 public:
  explicit UseCounter(const artifact::Artifact& root) : uses_(Size(root.kernels())) {
    for (uint32_t i = 0; i < Size(root.programs()); ++i) {
      const artifact::Program& program = *root.programs()->Get(i);
      const std::vector<uint64_t> executions = artifact::ExecutionsOf(program);
      for (uint32_t at = 0; at < Size(program.instructions()); ++at) {
        AddInstruction(*program.instructions()->Get(at), executions[at]);
      }
    }
  }

  std::vector<Uses> Take() { return std::move(uses_); }

 private:
  void AddInstruction(const artifact::Instruction& instruction, uint64_t executions) {
    if (const artifact::Launch* launch = instruction.op_as_Launch()) Add(*launch, executions);
    if (const artifact::LaunchGroup* group = instruction.op_as_LaunchGroup()) AddGroup(*group, executions);
    const artifact::Tiled* tiled = instruction.op_as_Tiled();
    if (tiled == nullptr) return;
    for (uint32_t i = 0; i < Size(tiled->loops()); ++i) executions *= tiled->loops()->Get(i);
    for (uint32_t i = 0; i < Size(tiled->steps()); ++i) {
      if (const artifact::Launch* launch = tiled->steps()->Get(i)->op_as_Launch()) Add(*launch, executions);
    }
  }

  void Add(const artifact::Launch& launch, uint64_t executions) {
    Uses& uses = uses_[launch.kernel()];
    if (uses.launches == 0) uses.blocks = launch.range();
    uses.launches += executions;
  }

  void AddGroup(const artifact::LaunchGroup& group, uint64_t executions) {
    for (const artifact::Launch* launch : *group.launches()) Add(*launch, executions);
    for (uint32_t i = 0; i < Size(group.combined()); ++i) {
      const artifact::CombinedLaunches& combined = *group.combined()->Get(i);
      Uses& uses = uses_[combined.kernel()];
      const bool is_first = uses.launches == 0;
      uses.launches += executions;
      for (const uint32_t number : *combined.launches()) {
        const artifact::Launch& launch = *group.launches()->Get(number);
        uses_[launch.kernel()].combined += executions;
        if (is_first) uses.blocks += launch.range();
      }
    }
  }

  std::vector<Uses> uses_;  // by kernel
};

std::string Text(const flatbuffers::String* text) { return text == nullptr ? "" : text->str(); }

OrderedJson KernelJson(const artifact::Kernel& kernel, const Uses& uses) {
  return {{"name", kernel.symbol()->str()},
          {"ops", Text(kernel.ops())},
          {"loc", Text(kernel.loc())},
          {"schedule", Text(kernel.schedule())},
          {"launches", uses.launches},
          {"combined", uses.combined},
          {"blocks", uses.blocks},
          {"threads", kernel.threads()},
          {"shared_bytes", uint64_t{kernel.shared_bytes()} + kernel.module_shared_bytes()},
          {"access_bytes", kernel.access_bytes()},
          {"flops", kernel.flops()},
          {"bytes", kernel.bytes()},
          {"seconds", kernel.seconds()}};
}

}  // namespace

OrderedJson KernelsJson(const artifact::Artifact& root) {
  const std::vector<Uses> uses = UseCounter(root).Take();
  std::vector<std::pair<double, uint32_t>> order;  // seconds of a step, negative; kernel
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const auto alone = static_cast<double>(uses[i].launches - uses[i].combined);
    order.emplace_back(-alone * root.kernels()->Get(i)->seconds(), i);
  }
  std::sort(order.begin(), order.end());
  OrderedJson kernels = OrderedJson::array();
  for (const auto& [seconds, kernel] : order) kernels.push_back(KernelJson(*root.kernels()->Get(kernel), uses[kernel]));
  return kernels;
}

}  // namespace sgd::page
