#include "runtime/comm/collectives/channel_proof.h"

#include <deque>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

using Kind = ChannelEvent::Kind;

absl::Status Invalid(const std::string& what) { return absl::InvalidArgumentError(what); }

struct Message {
  uint64_t bytes;
  uint64_t sender;  // id
};

// A channel while it is executed.
struct Queue {
  std::deque<Message> messages;  // sent and not received
  uint32_t free_places = 0;
};

// For each event whether executing it, of a loop all its trips, sends or receives anything: other loops are left out,
// so that no more trips are gone through than there are messages.
absl::StatusOr<std::vector<bool>> FindMessages(const std::vector<ChannelEvent>& events) {
  std::vector<bool> has_message(events.size());
  std::vector<std::pair<uint64_t, uint64_t>> open;  // loops and the ends of their bodies
  const auto close = [&] {
    const uint64_t loop = open.back().first;
    open.pop_back();
    has_message[loop] = has_message[loop] && events[loop].trips > 0;
    if (!open.empty() && has_message[loop]) has_message[open.back().first] = true;
  };
  for (uint64_t i = 0; i < events.size(); ++i) {
    while (!open.empty() && open.back().second == i) close();
    if (events[i].kind == Kind::kLoop) {
      const uint64_t limit = open.empty() ? events.size() : open.back().second;
      if (events[i].body > limit - i - 1) return Invalid("a loop runs events that are not there");
      open.emplace_back(i, i + 1 + events[i].body);
    } else {
      has_message[i] = true;
      if (!open.empty()) has_message[open.back().first] = true;
    }
  }
  while (!open.empty()) close();
  return has_message;
}

// Where the program of a stage is.
class Cursor {
 public:
  Cursor(const std::vector<ChannelEvent>& events, std::vector<bool> has_message)
      : events_(events), has_message_(std::move(has_message)) {
    open_.push_back({0, 0, events.size(), 1});
  }

  // The next event that is no loop; null at the end.
  const ChannelEvent* Next() {
    while (!open_.empty()) {
      Level& level = open_.back();
      if (level.at == level.end) {
        level.at = level.begin;
        if (--level.trips_left == 0) open_.pop_back();
        continue;
      }
      const ChannelEvent& event = events_[level.at];
      if (event.kind != Kind::kLoop) return &event;
      const uint64_t loop = level.at, begin = loop + 1, end = begin + event.body;
      level.at = end;
      if (has_message_[loop]) open_.push_back({begin, begin, end, event.trips});
    }
    return nullptr;
  }
  void Advance() { ++open_.back().at; }

 private:
  struct Level {
    uint64_t begin;
    uint64_t at;
    uint64_t end;
    uint64_t trips_left;
  };

  const std::vector<ChannelEvent>& events_;
  std::vector<bool> has_message_;
  std::vector<Level> open_;
};

class Prover {
 public:
  Prover(absl::Span<const ChannelShape> channels, absl::Span<const StageEvents> stages)
      : channels_(channels), stages_(stages), queues_(channels.size()), is_ready_(stages.size()) {
    for (size_t channel = 0; channel < channels.size(); ++channel)
      queues_[channel].free_places = channels[channel].depth;
  }

  absl::Status Run() {
    for (uint32_t stage = 0; stage < stages_.size(); ++stage) {
      absl::StatusOr<std::vector<bool>> has_message = FindMessages(stages_[stage].events);
      if (!has_message.ok()) return has_message.status();
      cursors_.emplace_back(stages_[stage].events, *std::move(has_message));
      Wake(stage);
    }
    while (!ready_.empty()) {
      const uint32_t stage = ready_.front();
      ready_.pop_front();
      is_ready_[stage] = false;
      absl::StatusOr<bool> goes_on = true;
      while (goes_on.ok() && *goes_on) goes_on = Step(stage);
      if (!goes_on.ok()) return goes_on.status();
    }
    if (absl::Status status = CheckEnds(); !status.ok()) return status;
    return CheckEmpty();
  }

 private:
  void Wake(uint32_t stage) {
    if (is_ready_[stage]) return;
    is_ready_[stage] = true;
    ready_.push_back(stage);
  }

  std::string NameOf(uint32_t channel) const {
    return absl::StrCat("channel ", channel, " from stage ", channels_[channel].from_stage, " to stage ",
                        channels_[channel].to_stage);
  }
  std::string Describe(uint32_t stage, uint64_t id) const {
    return absl::StrCat("stage ", stage, "'s ", stages_[stage].describe(id));
  }

  // Whether the stage could go on.
  absl::StatusOr<bool> Step(uint32_t stage) {
    const ChannelEvent* event = cursors_[stage].Next();
    if (event == nullptr) return false;
    const bool sends = event->kind == Kind::kSend;
    if (event->channel >= channels_.size())
      return Invalid(
          absl::StrCat(Describe(stage, event->id), ": names channel ", event->channel, " of ", channels_.size()));
    const ChannelShape& channel = channels_[event->channel];
    if (channel.from_stage >= stages_.size() || channel.to_stage >= stages_.size())
      return Invalid(absl::StrCat(Describe(stage, event->id), ": ", NameOf(event->channel), " is not between two of ",
                                  stages_.size(), " stages"));
    if ((sends ? channel.from_stage : channel.to_stage) != stage)
      return Invalid(
          absl::StrCat(Describe(stage, event->id), sends ? ": sends to " : ": receives from ", NameOf(event->channel)));
    Queue& queue = queues_[event->channel];
    if (sends ? queue.free_places == 0 : queue.messages.empty()) return false;
    if (++messages_ > kMaxMessagesOfStep)
      return absl::ResourceExhaustedError(absl::StrCat("a step has more than ", kMaxMessagesOfStep,
                                                       " sends and receives; expected no more; make loops shorter"));
    if (sends) {
      --queue.free_places;
      queue.messages.push_back({event->bytes, event->id});
    } else {
      const Message message = queue.messages.front();
      queue.messages.pop_front();
      if (message.bytes != event->bytes)
        return Invalid(absl::StrCat(Describe(stage, event->id), ": expects ", event->bytes, " bytes of ",
                                    NameOf(event->channel), " where ", Describe(channel.from_stage, message.sender),
                                    " sends ", message.bytes));
      ++queue.free_places;
    }
    cursors_[stage].Advance();
    Wake(sends ? channel.to_stage : channel.from_stage);
    return true;
  }

  // Nobody could go on.
  absl::Status CheckEnds() {
    std::string waiting;
    for (uint32_t stage = 0; stage < stages_.size(); ++stage) {
      const ChannelEvent* event = cursors_[stage].Next();
      if (event == nullptr) continue;
      absl::StrAppend(&waiting, waiting.empty() ? "" : "; ", Describe(stage, event->id), " waits for ",
                      event->kind == Kind::kSend ? "a free place in " : "a message of ", NameOf(event->channel));
    }
    if (waiting.empty()) return absl::OkStatus();
    return Invalid(absl::StrCat("the stages' programs never end: ", waiting));
  }

  absl::Status CheckEmpty() {
    for (uint32_t channel = 0; channel < queues_.size(); ++channel) {
      if (queues_[channel].messages.empty()) continue;
      return Invalid(absl::StrCat(Describe(channels_[channel].from_stage, queues_[channel].messages.front().sender),
                                  ": a message of ", NameOf(channel), " is never received"));
    }
    return absl::OkStatus();
  }

  absl::Span<const ChannelShape> channels_;
  absl::Span<const StageEvents> stages_;
  std::vector<Queue> queues_;  // by channel
  std::vector<Cursor> cursors_;
  std::deque<uint32_t> ready_;  // stages that may go on
  std::vector<bool> is_ready_;  // whether they are among these
  uint64_t messages_ = 0;
};

}  // namespace

absl::Status ProveChannels(absl::Span<const ChannelShape> channels, absl::Span<const StageEvents> stages) {
  return Prover(channels, stages).Run();
}

}  // namespace sgd::comm
