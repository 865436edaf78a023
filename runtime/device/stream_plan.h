// Which queue of a device runs each instruction, and which events order the queues. Made from a verified program alone,
// so it is equal on all ranks; check_streams.h proves one right.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/comm/mesh.h"

namespace sgd::device {

// One step of the thread that fills the queues. Queues run what they were given in order; a queue that waits for an
// event continues when the queue that recorded it has come to where it did so last.
struct StreamAction {
  enum class Kind { kRun, kRecord, kWait };
  Kind kind = Kind::kRun;
  uint32_t stream = 0;       // the queue that runs, records or waits
  uint32_t instruction = 0;  // kRun
  uint32_t event = 0;        // kRecord, kWait
  // kRun of a loop or case: its blocks (artifact::BlocksOf) are StreamPlan::blocks from here on. They run where it
  // stands, after the host has seen what decides once `stream` has come here; trips that are known need no look.
  uint32_t first_block = 0;
};

using StreamBlock = std::vector<StreamAction>;

struct StreamPlan {
  static constexpr uint32_t kCompute = 0;

  // Number of queues: kCompute and, from 1 on, one for each of `communicators`.
  uint32_t streams() const { return static_cast<uint32_t>(communicators.size()) + 1; }

  // Axes of the groups that a queue's collectives run over, in order of first use: a communicator each.
  std::vector<std::vector<comm::AxisRef>> communicators;
  uint32_t events = 0;
  // blocks[0] is the program. Every block begins and ends with all queues that it uses joined to kCompute.
  std::vector<StreamBlock> blocks;
};

// For a device with queues: collectives run on the queue of their communicator, one after the other in the program's
// order whatever their communicators, since ranks that ran two of them in different orders could wait for each other
// for ever; everything else runs on kCompute. Queues wait for each other where bytes demand it and nowhere else, but
// for the ends of blocks.
StreamPlan PlanStreams(const artifact::Program& program);

// How ranks of a host execute the program: one thread computes, another one runs the collectives that were started, in
// order; they meet only where a collective starts and where it is done. One communicator stands for all.
StreamPlan PlanHostThreads(const artifact::Program& program);

}  // namespace sgd::device
