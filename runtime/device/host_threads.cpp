// How a host's two threads run a program: one computes, the other one runs collectives.
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/device/stream_plan.h"

namespace sgd::device {
namespace {

using artifact::Block;
using artifact::Instruction;
using artifact::InstructionAt;
using Kind = StreamAction::Kind;

// The plan of the host's two threads, block by block.
class HostPlanner {
 public:
  explicit HostPlanner(const artifact::Program& program)
      : program_(program), done_event_(artifact::Size(program.instructions())) {
    plan_.communicators.emplace_back();
  }

  StreamPlan Plan() && {
    plan_.blocks.emplace_back();
    PlanBlock({0, done_event_.size()}, 0);
    return std::move(plan_);
  }

 private:
  static constexpr uint32_t kCollectives = 1;

  void Meet(StreamBlock& block, uint32_t from, uint32_t to, uint32_t event) {
    block.push_back({.kind = Kind::kRecord, .stream = from, .event = event});
    block.push_back({.kind = Kind::kWait, .stream = to, .event = event});
  }

  void AddCollective(StreamBlock& block, const artifact::Collective& collective, uint32_t index) {
    Meet(block, StreamPlan::kCompute, kCollectives, plan_.events++);
    block.push_back({.kind = Kind::kRun, .stream = kCollectives, .instruction = index});
    done_event_[index] = plan_.events++;
    block.push_back({.kind = Kind::kRecord, .stream = kCollectives, .event = done_event_[index]});
    if (!collective.starts())
      block.push_back({.kind = Kind::kWait, .stream = StreamPlan::kCompute, .event = done_event_[index]});
  }

  void PlanBlock(const Block& range, uint32_t number) {
    StreamBlock block;
    for (uint64_t i = range.begin; i < range.end; i = artifact::Next(program_, i)) {
      const Instruction& instruction = InstructionAt(program_, i);
      const uint32_t index = static_cast<uint32_t>(i);
      if (const artifact::Collective* collective = instruction.op_as_Collective()) {
        AddCollective(block, *collective, index);
      } else if (const artifact::Done* done = instruction.op_as_Done()) {
        block.push_back({.kind = Kind::kWait, .stream = StreamPlan::kCompute, .event = done_event_[done->start()]});
      } else {
        const std::vector<Block> inner = artifact::BlocksOf(program_, i);
        const uint32_t first = static_cast<uint32_t>(plan_.blocks.size());
        plan_.blocks.resize(plan_.blocks.size() + inner.size());
        for (uint32_t k = 0; k < inner.size(); ++k) PlanBlock(inner[k], first + k);
        block.push_back({.kind = inner.empty() ? Kind::kRun : Kind::kHost,
                         .instruction = index,
                         .first_block = inner.empty() ? 0 : first});
      }
    }
    plan_.blocks[number] = std::move(block);
  }

  const artifact::Program& program_;
  StreamPlan plan_;
  std::vector<uint32_t> done_event_;  // by instruction, of collectives
};

}  // namespace

StreamPlan PlanHostThreads(const artifact::Program& program) { return HostPlanner(program).Plan(); }

}  // namespace sgd::device
