// Which stream of a device runs each instruction, and which events order the streams. Made from a verified program
// alone, so it is equal on all ranks; check_streams.h proves one right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/device/message_posts.h"

namespace sgd::device {

// One action of the thread that fills the streams. Streams run their work in order; a stream that waits for an
// event continues when the stream that recorded it has reached its last record.
struct StreamAction {
  // kRun: enqueues the instruction on the stream. The blocks of a loop of known trips are enqueued that often.
  // kHost: a loop or case that the host walks, because its predicate is on the device or because a loop has very many
  // trips. All streams but those of links are joined to kCompute before and after it.
  // kPost: enqueues the coming of the message that the instruction, a Receive, will copy out of its place. With links
  // the kRun of a Receive is that copy, and the kRun of a Send sends.
  enum class Kind { kRun, kRecord, kWait, kHost, kPost };
  Kind kind = Kind::kRun;
  uint32_t stream = 0;       // the stream that runs, records or waits
  uint32_t instruction = 0;  // kRun, kHost, kPost
  uint32_t event = 0;        // kRecord, kWait
  uint32_t place = 0;        // kPost, and kRun of a Receive: of StreamPlan::places
  // For a loop or case: its blocks (artifact::BlocksOf) are StreamPlan::blocks from this index on.
  uint32_t first_block = 0;
};

using StreamBlock = std::vector<StreamAction>;

struct StreamPlan {
  static constexpr uint32_t kCompute = 0;

  // Number of streams: kCompute, from 1 on one for each of `communicators`, those of host copies if there are any, then
  // one for each of `links`.
  uint32_t streams() const { return first_link() + static_cast<uint32_t>(links.size()); }
  uint32_t first_link() const { return to_host() + (copies_to_host ? 2 : 0); }
  bool IsLink(uint32_t stream) const { return stream >= first_link(); }
  // Where there are host copies: the streams of those out of the device, and of those into it.
  uint32_t to_host() const { return static_cast<uint32_t>(communicators.size()) + 1; }
  uint32_t from_host() const { return to_host() + 1; }

  // Axes of the groups that a stream's collectives run over, in order of first use: a communicator each.
  std::vector<std::vector<comm::AxisRef>> communicators;
  bool copies_to_host = false;  // whether the program has copies between device and host, in either direction
  // Between this stage of a pipeline and others.
  std::vector<MessageLink> links;
  std::vector<artifact::Slice> places;  // of the mailboxes of this stage
  uint32_t events = 0;
  // blocks[0] is the program. Between the block's begin, its end and each kHost, streams fork from kCompute and join
  // it; those of links from the program's begin to its end.
  std::vector<StreamBlock> blocks;
};

// The actions [begin, end) of a block up to the first kHost from `begin` on, or its end: they can be recorded as a
// whole.
size_t SegmentEnd(const StreamBlock& block, size_t begin);

// For a device with streams: collectives run on the stream of their communicator, one after the other in the program's
// order whatever their communicators, since ranks that ran two of them in different orders could wait for each other
// endlessly; copies between device and host run on a stream for each direction; everything else runs on kCompute.
// Streams wait for each other where bytes demand it and nowhere else, but for the ends of blocks. The program sends and
// receives no messages.
StreamPlan PlanStreams(const artifact::Program& program);

// The same of any program of a verified artifact. Loops that send or receive are unrolled, so that a message waits for
// the bytes that it needs and for no end of a trip: sends and posts (message_posts.h) are each on the stream of their
// link, beside everything else. ResourceExhausted for programs that would be too long.
absl::StatusOr<StreamPlan> PlanStreams(const artifact::Artifact& root, const artifact::Program& program);

// How ranks of a host execute the program: one thread computes, another one runs the collectives that were started, in
// order; they meet only where a collective starts and where it is done. One communicator stands for all.
StreamPlan PlanHostThreads(const artifact::Program& program);

}  // namespace sgd::device
