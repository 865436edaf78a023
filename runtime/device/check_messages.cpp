// Runs whatever can run until nothing can: as no choice takes another one away, the order does not matter.
#include "runtime/device/check_messages.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"

namespace sgd::device {
namespace {

using Kind = StreamAction::Kind;

// A rank: what its host has given to streams and what these have done.
class StageRank {
 public:
  explicit StageRank(const StageStreams& stage)
      : stage_(stage), queues_(stage.plan->streams()), reached_(stage.plan->events, false) {}

  const StreamPlan& plan() const { return *stage_.plan; }

  // Gives what can be given and runs what can run without the others. Whether anything was done.
  bool Advance() {
    bool has_advanced = Give();
    for (uint32_t stream = 0; stream < queues_.size(); ++stream) {
      while (!queues_[stream].empty() && Run(*queues_[stream].front())) {
        queues_[stream].pop_front();
        has_advanced = true;
      }
    }
    return has_advanced;
  }

  // The message at the front of a link; null where there is none.
  const StreamAction* Front(uint32_t link) const {
    const auto& queue = queues_[plan().first_link() + link];
    return queue.empty() || !IsMessage(*queue.front()) ? nullptr : queue.front();
  }
  void PopFront(uint32_t link) { queues_[plan().first_link() + link].pop_front(); }

  std::optional<uint32_t> FindLink(MessageLink link) const {
    for (uint32_t i = 0; i < plan().links.size(); ++i) {
      if (plan().links[i] == link) return i;
    }
    return std::nullopt;
  }

  uint32_t ChannelOf(const StreamAction& action) const {
    const artifact::Send* send = At(action).op_as_Send();
    return send != nullptr ? send->channel() : At(action).op_as_Receive()->channel();
  }
  uint64_t BytesOf(const StreamAction& action) const {
    const artifact::Send* send = At(action).op_as_Send();
    return send != nullptr ? send->source()->size() : plan().places[action.place].size();
  }

  std::string Describe(const StreamAction& action) const {
    const artifact::Program& program = *stage_.program;
    const uint32_t loc = At(action).loc();
    return absl::StrCat("stage ", program.stage(), "'s instruction ", action.instruction, " (",
                        artifact::OperationName(At(action)), ") at ",
                        loc < artifact::Size(program.locations()) ? absl::CEscape(program.locations()->Get(loc)->str())
                                                                  : "unknown location");
  }

  // The first remaining action of every stream; empty if all are done.
  std::string Left() const {
    std::string text;
    for (uint32_t stream = 0; stream < queues_.size(); ++stream) {
      if (queues_[stream].empty()) continue;
      const StreamAction& front = *queues_[stream].front();
      absl::StrAppend(
          &text, text.empty() ? "" : "; ",
          front.kind == Kind::kWait
              ? absl::StrCat("stage ", stage_.program->stage(), "'s stream ", stream, " waits for event ", front.event)
              : absl::StrCat(Describe(front), IsMessage(front) ? " waits for its peer" : " waits"));
    }
    return text;
  }

 private:
  const artifact::Instruction& At(const StreamAction& action) const {
    return *stage_.program->instructions()->Get(action.instruction);
  }
  bool IsMessage(const StreamAction& action) const {
    return plan().IsLink(action.stream) && (action.kind == Kind::kRun || action.kind == Kind::kPost);
  }

  bool Give() {
    const StreamBlock& block = plan().blocks[0];
    const size_t begin = next_;
    while (next_ < block.size()) {
      if (block[next_].kind == Kind::kHost && !queues_[StreamPlan::kCompute].empty()) break;
      queues_[block[next_].stream].push_back(&block[next_]);
      ++next_;
    }
    return next_ != begin;
  }

  bool Run(const StreamAction& action) {
    if (action.kind == Kind::kWait) return reached_[action.event];
    if (action.kind == Kind::kRecord) reached_[action.event] = true;
    return !IsMessage(action);
  }

  StageStreams stage_;
  std::vector<std::deque<const StreamAction*>> queues_;  // by stream: given and not done
  std::vector<bool> reached_;                            // by event: of blocks[0], where each is recorded once
  size_t next_ = 0;                                      // of blocks[0]
};

// Moves the messages of one direction that both sides have come to. Whether there were any.
absl::StatusOr<bool> Move(StageRank& from, uint32_t send_link, StageRank& to, uint32_t receive_link) {
  bool has_moved = false;
  while (true) {
    const StreamAction *send = from.Front(send_link), *post = to.Front(receive_link);
    if (send == nullptr || post == nullptr) return has_moved;
    if (from.ChannelOf(*send) != to.ChannelOf(*post) || from.BytesOf(*send) != to.BytesOf(*post))
      return absl::InvalidArgumentError(absl::StrCat(
          from.Describe(*send), " sends ", from.BytesOf(*send), " bytes by channel ", from.ChannelOf(*send), " where ",
          to.Describe(*post), " is posted for ", to.BytesOf(*post), " bytes of channel ", to.ChannelOf(*post)));
    from.PopFront(send_link);
    to.PopFront(receive_link);
    has_moved = true;
  }
}

absl::StatusOr<bool> MoveAll(std::vector<StageRank>& ranks) {
  bool has_moved = false;
  for (uint32_t stage = 0; stage < ranks.size(); ++stage) {
    for (uint32_t link = 0; link < ranks[stage].plan().links.size(); ++link) {
      const auto [peer, sends] = ranks[stage].plan().links[link];
      if (!sends || peer >= ranks.size()) continue;
      const std::optional<uint32_t> other = ranks[peer].FindLink({stage, false});
      if (!other) continue;
      absl::StatusOr<bool> moved = Move(ranks[stage], link, ranks[peer], *other);
      if (!moved.ok()) return moved.status();
      has_moved = has_moved || *moved;
    }
  }
  return has_moved;
}

}  // namespace

absl::Status CheckMessages(absl::Span<const StageStreams> stages) {
  std::vector<StageRank> ranks(stages.begin(), stages.end());
  for (bool goes_on = true; goes_on;) {
    absl::StatusOr<bool> moved = MoveAll(ranks);
    if (!moved.ok()) return moved.status();
    goes_on = *moved;
    for (StageRank& rank : ranks) goes_on = rank.Advance() || goes_on;
  }
  std::string left;
  for (const StageRank& rank : ranks) {
    if (const std::string text = rank.Left(); !text.empty()) absl::StrAppend(&left, left.empty() ? "" : "; ", text);
  }
  return left.empty() ? absl::OkStatus()
                      : absl::InvalidArgumentError(absl::StrCat("on streams the stages' programs never end: ", left));
}

}  // namespace sgd::device
