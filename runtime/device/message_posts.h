// When a stage's rank posts its receives on a device with streams: in the order in which the other stage sends, each as
// soon as its place in the mailbox is free, whatever the program does meanwhile. So a message comes to its place
// without waiting for the receiving program, as it does in the execution that proves channels
// (runtime/comm/collectives/channel_proof.h): what no order of that execution makes a program wait for, no stream waits
// for.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::device {

// The messages of one direction between two stages, which are sent and come in one order.
struct MessageLink {
  uint32_t peer = 0;   // the other stage
  bool sends = false;  // else this stage receives
  friend bool operator==(const MessageLink&, const MessageLink&) = default;
};

// For each instruction whether it, or what it runs, sends or receives.
std::vector<bool> FindMessages(const artifact::Program& program);

// The directed pairs of stages between which an artifact's channels are, from and to, in order.
std::vector<std::pair<uint32_t, uint32_t>> LinksOf(const artifact::Artifact& root);

class MessagePosts {
 public:
  // Plans the messages of a program of a verified artifact. ResourceExhausted if a step has more messages than can be
  // planned one by one.
  static absl::StatusOr<MessagePosts> Create(const artifact::Artifact& root, const artifact::Program& program);

  // Returns the links of this stage, by peer, sending before receiving.
  const std::vector<MessageLink>& links() const { return links_; }
  // The link of a channel that this stage uses.
  uint32_t LinkOf(uint32_t channel) const;
  // All places of the channels that this stage receives from.
  const std::vector<artifact::Slice>& places() const { return places_; }

  struct Post {
    uint32_t link;
    uint32_t instruction;  // the Receive that takes the message
    uint32_t place;        // of places()
  };
  // The next receive that can be posted; nullopt while those that are taken next must be taken before.
  std::optional<Post> Next();

  // The program comes to a Receive of the channel: the place of its message, which Next has given. InvalidArgument
  // where it has not, which the proof of channels excludes.
  absl::StatusOr<uint32_t> Take(uint32_t channel);

 private:
  struct Incoming {
    uint32_t link = 0;
    std::vector<uint32_t> channels;  // of the messages, in the order in which they are sent
    size_t posted = 0;
  };
  struct Channel {
    uint32_t first_place = 0, depth = 1;
    std::vector<uint32_t> receives;  // instructions, as executed
    uint64_t posted = 0, taken = 0;
  };

  const artifact::Artifact* root_ = nullptr;
  uint32_t stage_ = 0;
  std::vector<MessageLink> links_;
  std::vector<artifact::Slice> places_;
  std::vector<Incoming> incoming_;
  std::vector<Channel> channels_;  // by number; of the artifact's, those that this stage receives from are filled
};

}  // namespace sgd::device
