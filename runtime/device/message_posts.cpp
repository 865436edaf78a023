// The senders' programs are walked once for their order.
#include "runtime/device/message_posts.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/channel.h"

namespace sgd::device {
namespace {

using artifact::InstructionAt;
using artifact::Program;

constexpr uint64_t kMostMessages = uint64_t{1} << 18;

// Visits the sends and receives of an execution, in order, until `visit` says that it is enough.
class MessageWalk {
 public:
  MessageWalk(const Program& program, std::function<bool(uint32_t)> visit)
      : program_(program), holds_(FindMessages(program)), visit_(std::move(visit)) {}

  bool Run() { return Run({0, holds_.size()}); }

 private:
  bool Run(const artifact::Block& block) {
    for (uint64_t i = block.begin; i < block.end; i = artifact::Next(program_, i)) {
      if (!holds_[i]) continue;
      const artifact::Loop* loop = InstructionAt(program_, i).op_as_Loop();
      if (loop == nullptr && !visit_(static_cast<uint32_t>(i))) return false;
      for (uint64_t trip = 0; loop != nullptr && trip < loop->trips(); ++trip) {
        if (!Run(artifact::BlocksOf(program_, i)[1])) return false;
      }
    }
    return true;
  }

  const Program& program_;
  const std::vector<bool> holds_;
  const std::function<bool(uint32_t)> visit_;
};

absl::Status TooMany(const Program& program) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "program '", program.name()->str(), "': stage ", program.stage(), " sends and receives more than ", kMostMessages,
      " messages in a step; expected no more on a device with streams; cut the batch into "
      "fewer parts"));
}

}  // namespace

std::vector<bool> FindMessages(const Program& program) {
  const uint64_t size = artifact::Size(program.instructions());
  std::vector<uint64_t> before(size + 1, 0);
  for (uint64_t i = 0; i < size; ++i) {
    const artifact::Operation kind = InstructionAt(program, i).op_type();
    before[i + 1] = before[i] + (kind == artifact::Operation::Send || kind == artifact::Operation::Receive ? 1 : 0);
  }
  std::vector<bool> holds(size);
  for (uint64_t i = 0; i < size; ++i) holds[i] = before[artifact::Next(program, i)] > before[i];
  return holds;
}

std::vector<std::pair<uint32_t, uint32_t>> LinksOf(const artifact::Artifact& root) {
  std::set<std::pair<uint32_t, uint32_t>> links;
  for (uint32_t i = 0; i < artifact::Size(root.channels()); ++i)
    links.emplace(root.channels()->Get(i)->from_stage(), root.channels()->Get(i)->to_stage());
  return {links.begin(), links.end()};
}

absl::StatusOr<MessagePosts> MessagePosts::Create(const artifact::Artifact& root, const Program& program) {
  MessagePosts posts;
  posts.root_ = &root;
  posts.stage_ = static_cast<uint32_t>(program.stage());
  posts.channels_.resize(artifact::Size(root.channels()));
  std::set<std::pair<uint32_t, bool>> links;
  uint64_t count = 0;
  const bool is_done = MessageWalk(program, [&](uint32_t index) {
                         if (const artifact::Send* send = InstructionAt(program, index).op_as_Send()) {
                           links.emplace(root.channels()->Get(send->channel())->to_stage(), true);
                         } else {
                           const uint32_t channel = InstructionAt(program, index).op_as_Receive()->channel();
                           links.emplace(root.channels()->Get(channel)->from_stage(), false);
                           posts.channels_[channel].receives.push_back(index);
                         }
                         return ++count <= kMostMessages;
                       }).Run();
  if (!is_done) return TooMany(program);
  for (const auto& [peer, sends] : links) posts.links_.push_back({peer, sends});
  std::ranges::sort(posts.links_, {}, [](const MessageLink& link) { return std::pair(link.peer, !link.sends); });
  for (uint32_t i = 0; i < posts.channels_.size(); ++i) {
    Channel& channel = posts.channels_[i];
    if (channel.receives.empty()) continue;
    const artifact::Channel& of = *root.channels()->Get(i);
    channel.first_place = static_cast<uint32_t>(posts.places_.size());
    channel.depth = of.depth();
    for (uint32_t place = 0; place < of.depth(); ++place) {
      posts.places_.emplace_back(of.mailbox()->space(),
                                 of.mailbox()->offset() + comm::PlaceOffset(of.slot_bytes(), place), of.slot_bytes());
    }
  }
  const std::vector<const Program*> stages = artifact::WholeOf(root, program.name()->string_view()).stages;
  for (uint32_t link = 0; link < posts.links_.size(); ++link) {
    if (posts.links_[link].sends) continue;
    Incoming incoming{link, {}, 0};
    const Program& sender = *stages[posts.links_[link].peer];
    MessageWalk(sender, [&](uint32_t index) {
      const artifact::Send* send = InstructionAt(sender, index).op_as_Send();
      if (send != nullptr && root.channels()->Get(send->channel())->to_stage() == posts.stage_)
        incoming.channels.push_back(send->channel());
      return incoming.channels.size() <= kMostMessages;
    }).Run();
    posts.incoming_.push_back(std::move(incoming));
  }
  return posts;
}

uint32_t MessagePosts::LinkOf(uint32_t channel) const {
  const artifact::Channel& of = *root_->channels()->Get(channel);
  const bool sends = of.from_stage() == stage_;
  const MessageLink link{sends ? of.to_stage() : of.from_stage(), sends};
  return static_cast<uint32_t>(std::ranges::find(links_, link) - links_.begin());
}

std::optional<MessagePosts::Post> MessagePosts::Next() {
  for (Incoming& incoming : incoming_) {
    if (incoming.posted == incoming.channels.size()) continue;
    Channel& channel = channels_[incoming.channels[incoming.posted]];
    if (channel.posted == channel.receives.size() || channel.posted - channel.taken == channel.depth) continue;
    ++incoming.posted;
    const uint64_t number = channel.posted++;
    return Post{incoming.link, channel.receives[number],
                channel.first_place + static_cast<uint32_t>(number % channel.depth)};
  }
  return std::nullopt;
}

absl::StatusOr<uint32_t> MessagePosts::Take(uint32_t number) {
  Channel& channel = channels_[number];
  if (channel.taken == channel.posted)
    return absl::InvalidArgumentError(absl::StrCat("a message of channel ", number,
                                                   " is received before it can come: others that are sent before it "
                                                   "have no place"));
  return channel.first_place + static_cast<uint32_t>(channel.taken++ % channel.depth);
}

}  // namespace sgd::device
