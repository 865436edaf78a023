#include "runtime/artifact/verify_channels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/invalid.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/channel.h"
#include "runtime/comm/collectives/channel_proof.h"

namespace sgd::artifact {
namespace {

// Every name once per stage.
absl::Status VerifyPrograms(const Artifact& root, uint64_t stages) {
  std::map<std::string, std::set<int32_t>> by_name;
  for (const Program* program : *root.programs()) {
    const std::string where = absl::StrCat("program '", absl::CEscape(program->name()->str()), "'");
    if (program->stage() < 0 || static_cast<uint64_t>(program->stage()) >= stages)
      return Invalid(absl::StrCat(where, ": is of stage ", program->stage(), " of ", stages));
    if (program->name()->size() == 0 || !by_name[program->name()->str()].insert(program->stage()).second)
      return Invalid(absl::StrCat(where, ": the name is empty or used twice for stage ", program->stage()));
  }
  for (const auto& [name, own] : by_name) {
    if (own.size() != stages)
      return Invalid(absl::StrCat("program '", absl::CEscape(std::string(name)), "': is there for ", own.size(), " of ",
                                  stages, " stages"));
  }
  return absl::OkStatus();
}

absl::Status VerifyChannel(const Artifact& root, const Channel& channel) {
  const uint64_t stages = Size(root.stages());
  if (channel.from_stage() >= stages || channel.to_stage() >= stages || channel.from_stage() == channel.to_stage())
    return Invalid(
        absl::StrCat("is from stage ", channel.from_stage(), " to stage ", channel.to_stage(), " of ", stages));
  if (channel.depth() == 0 || channel.depth() > comm::kMaxChannelDepth)
    return Invalid(
        absl::StrCat("has ", channel.depth(), " places where 1 to ", comm::kMaxChannelDepth, " are allowed"));
  const std::optional<uint64_t> bytes = comm::MailboxBytes(channel.slot_bytes(), channel.depth());
  if (!bytes) return Invalid("has messages of more than 2^36 bytes");
  const Slice& mailbox = *channel.mailbox();
  const uint64_t window = root.stages()->Get(channel.to_stage())->window_bytes();
  if (mailbox.space() != Space::Window || mailbox.size() != *bytes || mailbox.offset() % comm::kMailboxAlignment != 0 ||
      mailbox.offset() > window || mailbox.size() > window - mailbox.offset())
    return Invalid(absl::StrCat("has a mailbox of ", mailbox.size(), " bytes at ", mailbox.offset(),
                                " where an aligned one of ", *bytes, " bytes is expected in a window of ", window));
  return absl::OkStatus();
}

// Of one stage.
absl::Status VerifyDisjoint(const Artifact& root) {
  std::vector<std::pair<std::pair<uint32_t, uint64_t>, uint32_t>> places;  // stage and offset, channel
  for (uint32_t i = 0; i < Size(root.channels()); ++i) {
    const Channel& channel = *root.channels()->Get(i);
    places.push_back({{channel.to_stage(), channel.mailbox()->offset()}, i});
  }
  std::sort(places.begin(), places.end());
  for (size_t i = 1; i < places.size(); ++i) {
    const Channel& before = *root.channels()->Get(places[i - 1].second);
    const Channel& channel = *root.channels()->Get(places[i].second);
    if (before.to_stage() == channel.to_stage() &&
        before.mailbox()->offset() + before.mailbox()->size() > channel.mailbox()->offset())
      return Invalid(
          absl::StrCat("the mailboxes of channels ", places[i - 1].second, " and ", places[i].second, " overlap"));
  }
  return absl::OkStatus();
}

// Checks that sends and receives share: the channel, the stage and the size.
absl::Status VerifyMessage(const VerifyContext& context, uint32_t index, const Slice* slice, bool sends) {
  if (index >= Size(context.channels)) return Invalid(absl::StrCat("channel ", index, " of ", Size(context.channels)));
  const Channel& channel = *context.channels->Get(index);
  const uint32_t stage = sends ? channel.from_stage() : channel.to_stage();
  if (context.stage < 0 || static_cast<uint32_t>(context.stage) != stage)
    return Invalid(absl::StrCat("stage ", context.stage, sends ? " sends to" : " receives from", " channel ", index,
                                " from stage ", channel.from_stage(), " to stage ", channel.to_stage()));
  const char* what = sends ? "source" : "target";
  absl::Status status = sends ? VerifySlice(context, slice, what) : VerifyWritable(context, slice, what);
  if (!status.ok()) return status;
  if (slice->size() != channel.slot_bytes())
    return Invalid(absl::StrCat("the ", what, " has ", slice->size(), " bytes, messages of channel ", index, " have ",
                                channel.slot_bytes()));
  return absl::OkStatus();
}

// The events of one stage's program, as channel_proof.h has them.
class EventCollector {
 public:
  explicit EventCollector(const Program& program) : program_(program) {}

  absl::Status Add(Block block) {
    for (uint64_t i = block.begin; i < block.end; i = Next(program_, i)) {
      if (absl::Status status = AddInstruction(i); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  std::vector<comm::ChannelEvent> events;

 private:
  using Kind = comm::ChannelEvent::Kind;

  absl::Status AddInstruction(uint64_t index) {
    const Instruction& instruction = *program_.instructions()->Get(static_cast<uint32_t>(index));
    if (const Send* send = instruction.op_as_Send()) {
      events.push_back({Kind::kSend, send->channel(), send->source()->size(), 0, 0, index});
    } else if (const Receive* receive = instruction.op_as_Receive()) {
      events.push_back({Kind::kReceive, receive->channel(), receive->target()->size(), 0, 0, index});
    } else {
      const Loop* loop = instruction.op_as_Loop();
      for (const Block& inner : BlocksOf(program_, index)) {
        const size_t at = events.size();
        events.push_back({Kind::kLoop, 0, 0, loop == nullptr ? 1 : loop->trips(), 0, index});
        if (absl::Status status = Add(inner); !status.ok()) return status;
        events[at].body = events.size() - at - 1;
        if (events[at].body == 0) {
          events.pop_back();
        } else if (loop == nullptr || loop->predicate() != nullptr) {
          return InstructionError(program_, index, "sends or receives messages as data decides");
        }
      }
    }
    return absl::OkStatus();
  }

  const Program& program_;
};

std::string DescribeInstruction(const Program& program, uint64_t index) {
  const Instruction& instruction = InstructionAt(program, index);
  const std::string location = instruction.loc() < Size(program.locations())
                                   ? absl::CEscape(program.locations()->Get(instruction.loc())->str())
                                   : "unknown location";
  return absl::StrCat("instruction ", index, " (", OperationName(instruction), ") at ", location);
}

absl::Status ProveProgram(const std::vector<const Program*>& programs,
                          const std::vector<comm::ChannelShape>& channels) {
  std::vector<comm::StageEvents> stages;
  for (const Program* program : programs) {
    EventCollector collector(*program);
    absl::Status status = collector.Add({0, Size(program->instructions())});
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("stage ", program->stage(), ": ", status.message()));
    stages.push_back(
        {std::move(collector.events), [program](uint64_t id) { return DescribeInstruction(*program, id); }});
  }
  return comm::ProveChannels(channels, stages);
}

}  // namespace

absl::Status ProveMessages(const Artifact& root) {
  std::vector<comm::ChannelShape> channels;
  for (uint32_t i = 0; i < Size(root.channels()); ++i) {
    const Channel& channel = *root.channels()->Get(i);
    channels.push_back({channel.from_stage(), channel.to_stage(), channel.depth()});
  }
  if (Size(root.stages()) == 0) return absl::OkStatus();
  for (const auto& [name, stages] : StagesByName(root)) {
    if (absl::Status status = ProveProgram(stages, channels); !status.ok())
      return absl::Status(status.code(),
                          absl::StrCat("program '", absl::CEscape(std::string(name)), "': ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status VerifyStages(const Artifact& root, const comm::Mesh& mesh) {
  const uint64_t stages = Size(root.stages());
  if (stages == 0) {
    if (Size(root.channels()) != 0) return Invalid("there are channels, and no stages");
    for (const Program* program : *root.programs()) {
      if (program->stage() != -1)
        return Invalid(absl::StrCat("program '", absl::CEscape(program->name()->str()), "': is of stage ",
                                    program->stage(), ", and there are none"));
    }
    return absl::OkStatus();
  }
  if (mesh.axis_sizes.empty() || mesh.axis_sizes.front() != stages)
    return Invalid(absl::StrCat("there are ", stages, " stages, which the first mesh axis has not"));
  for (uint32_t i = 0; i < stages; ++i) {
    const Stage& stage = *root.stages()->Get(i);
    if (stage.private_bytes() > root.private_bytes() || stage.window_bytes() > root.window_bytes() ||
        stage.host_bytes() > root.host_bytes())
      return Invalid(absl::StrCat("stage ", i, " has larger arenas than any"));
  }
  if (absl::Status status = VerifyPrograms(root, stages); !status.ok()) return status;
  for (uint32_t i = 0; i < Size(root.channels()); ++i) {
    if (absl::Status status = VerifyChannel(root, *root.channels()->Get(i)); !status.ok())
      return absl::Status(status.code(), absl::StrCat("channel ", i, ": ", status.message()));
  }
  return VerifyDisjoint(root);
}

VerifyContext ContextOf(const Artifact& root, const VerifyContext& all, int32_t stage) {
  VerifyContext context = all;
  context.stage = stage;
  if (stage < 0) return context;
  context.channels = root.channels();
  context.private_bytes = root.stages()->Get(static_cast<uint32_t>(stage))->private_bytes();
  context.window_bytes = root.stages()->Get(static_cast<uint32_t>(stage))->window_bytes();
  context.host_bytes = root.stages()->Get(static_cast<uint32_t>(stage))->host_bytes();
  for (uint32_t i = 0; i < Size(root.channels()); ++i) {
    const Channel& channel = *root.channels()->Get(i);
    if (static_cast<int64_t>(channel.to_stage()) == stage)
      context.window_bytes = std::min<uint64_t>(context.window_bytes, channel.mailbox()->offset());
  }
  return context;
}

absl::Status VerifySend(const VerifyContext& context, const Send& send) {
  return VerifyMessage(context, send.channel(), send.source(), /*sends=*/true);
}

absl::Status VerifyReceive(const VerifyContext& context, const Receive& receive) {
  return VerifyMessage(context, receive.channel(), receive.target(), /*sends=*/false);
}

absl::Status VerifyOwnStage(const VerifyContext& context, const std::vector<comm::AxisRef>& axes) {
  if (context.stage < 0) return absl::OkStatus();
  const bool crosses = std::any_of(axes.begin(), axes.end(), [](const comm::AxisRef& axis) { return axis.axis == 0; });
  return crosses ? Invalid("is over the stage axis") : absl::OkStatus();
}

}  // namespace sgd::artifact
