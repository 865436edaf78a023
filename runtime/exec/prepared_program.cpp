// Thunks first, since algorithms are chosen with them; then collectives, where ranks meet.
#include "runtime/exec/prepared_program.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/instruction_text.h"
#include "runtime/device/algorithm_choices.h"
#include "runtime/device/message_posts.h"

namespace sgd::exec {
namespace {

using artifact::Instruction;
using artifact::Operation;
using Kind = PreparedInstruction::Kind;

// How the executor meets it: whatever is neither control flow nor a collective is the device's.
Kind KindOf(const Instruction& instruction) {
  switch (instruction.op_type()) {
    case Operation::Loop:
      return Kind::kLoop;
    case Operation::Case:
      return Kind::kCase;
    case Operation::Done:
      return Kind::kDone;
    case Operation::Collective:
      return instruction.op_as_Collective()->starts() ? Kind::kStart : Kind::kCollective;
    case Operation::Send:
      return Kind::kSend;
    case Operation::Receive:
      return Kind::kReceive;
    default:
      return Kind::kThunk;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedProgram>> PreparedProgram::Prepare(ExecutionContext& context,
                                                                          const artifact::Program& program,
                                                                          device::MemoryMap memory,
                                                                          absl::Duration timeout,
                                                                          const HostCallHandler* host_calls) {
  auto prepared = absl::WrapUnique(new PreparedProgram(context, program, std::move(memory), host_calls));
  if (absl::Status status = prepared->PrepareAll(timeout); !status.ok()) return status;
  return prepared;
}

const Instruction& PreparedProgram::source(uint64_t index) const {
  return *source_.instructions()->Get(static_cast<uint32_t>(index));
}

absl::Status PreparedProgram::PrepareAll(absl::Duration timeout) {
  instructions_.resize(artifact::Size(source_.instructions()));
  if (const uint64_t stages = artifact::Size(context_.file().root().stages()); stages != 0) {
    absl::Status status = context_.communicator().UseStages(
        {static_cast<uint32_t>(stages), device::LinksOf(context_.file().root())}, timeout);
    if (!status.ok()) return status;
  }
  if (absl::Status status = PrepareThunks(timeout); !status.ok()) return status;
  for (uint32_t i = 0; i < size(); ++i) {
    if (absl::Status status = PrepareInstruction(i); !status.ok()) return Locate(status, i);
  }
  return absl::OkStatus();
}

// Before any collective is prepared, where ranks may meet: those that take algorithms wait for the one that chooses
// them.
absl::Status PreparedProgram::PrepareThunks(absl::Duration timeout) {
  device::AlgorithmChoices* choices = context_.device().algorithm_choices();
  if (choices != nullptr && !choices->decides()) {
    if (absl::Status status = TakeAlgorithms(*choices, timeout); !status.ok()) return status;
  }
  for (uint32_t i = 0; i < size(); ++i) {
    instructions_[i].kind = KindOf(source(i));
    if (instructions_[i].kind != Kind::kThunk) continue;
    device::PreparedThunk thunk = PrepareThunk(i);
    if (!thunk.ok()) return Locate(thunk.status(), i);
    instructions_[i].thunk = *std::move(thunk);
  }
  if (choices == nullptr || !choices->decides()) return absl::OkStatus();
  context_.SaveAlgorithms();
  return TakeAlgorithms(*choices, timeout);
}

// The host itself calls its functions, if it meets a device without streams between instructions.
device::PreparedThunk PreparedProgram::PrepareThunk(uint32_t index) const {
  const Instruction& instruction = source(index);
  const artifact::HostCall* call = instruction.op_as_HostCall();
  if (call != nullptr && context_.device().streams() == nullptr)
    return PrepareHostCall(*call, memory_, context_.rank(), host_calls_);
  return context_.device().Prepare(instruction, {context_.kernels(), memory_, context_.mesh(), context_.rank()});
}

// All ranks get what rank 0 has chosen, or the first rank of their stage: stages compute different things.
absl::Status PreparedProgram::TakeAlgorithms(device::AlgorithmChoices& choices, absl::Duration timeout) const {
  if (context_.control().size() == 1) return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> all =
      context_.control().AllGatherBytes(choices.decides() ? choices.Save() : std::string(), timeout);
  if (!all.ok()) return all.status();
  if (choices.decides()) return absl::OkStatus();
  const uint32_t of_stage = static_cast<uint32_t>(context_.file().ranks_of_stage());
  return choices.Restore((*all)[context_.rank() / of_stage * of_stage]);
}

absl::Status PreparedProgram::PrepareInstruction(uint32_t index) {
  PreparedInstruction& prepared = instructions_[index];
  prepared.next = artifact::Next(source_, index);
  switch (prepared.kind) {
    case Kind::kCollective:
    case Kind::kStart:
      return PrepareCollective(*source(index).op_as_Collective(), index);
    case Kind::kDone:
      prepared.collective = instructions_[source(index).op_as_Done()->start()].collective;
      break;
    case Kind::kSend:
      return PrepareMessage(index, source(index).op_as_Send()->channel(), *source(index).op_as_Send()->source());
    case Kind::kReceive:
      return PrepareMessage(index, source(index).op_as_Receive()->channel(), *source(index).op_as_Receive()->target());
    case Kind::kLoop:
    case Kind::kCase:
      prepared.blocks = artifact::BlocksOf(source_, index);
      break;
    case Kind::kThunk:
      break;
  }
  return absl::OkStatus();
}

absl::Status PreparedProgram::PrepareCollective(const artifact::Collective& collective, uint32_t index) {
  const std::string location = absl::StrCat(name_, ": instruction ", index, ": ", LocationOf(source(index)));
  absl::StatusOr<comm::CollectiveHandle> handle =
      context_.communicator().Prepare(context_.mesh(), artifact::SpecOf(collective, location));
  if (!handle.ok()) return handle.status();
  instructions_[index].collective = *handle;
  return absl::OkStatus();
}

// The peer is the rank of the other stage with the same coordinates otherwise: stages are the most significant ones.
absl::Status PreparedProgram::PrepareMessage(uint32_t index, uint32_t number, const artifact::Slice& slice) {
  const artifact::Artifact& root = context_.file().root();
  const artifact::Channel& channel = *root.channels()->Get(number);
  const bool sends = instructions_[index].kind == Kind::kSend;
  const uint32_t of_stage = static_cast<uint32_t>(context_.file().ranks_of_stage());
  const uint32_t stage = sends ? channel.to_stage() : channel.from_stage();
  const uint32_t peer = stage * of_stage + context_.rank() % of_stage;
  absl::StatusOr<comm::ChannelHandle> handle = context_.communicator().PrepareChannel(
      {.sends = sends,
       .peer = peer,
       .mailbox_offset = channel.mailbox()->offset(),
       .message_bytes = channel.slot_bytes(),
       .depth = channel.depth(),
       .description = absl::StrCat(sends ? "send to rank " : "receive from rank ", peer, " by channel ", number,
                                   " from stage ", channel.from_stage(), " to stage ", channel.to_stage()),
       .location = LocationOf(source(index))});
  if (!handle.ok()) return handle.status();
  instructions_[index].channel = *handle;
  instructions_[index].message = memory_.Address(slice);
  return absl::OkStatus();
}

std::string PreparedProgram::LocationOf(const Instruction& instruction) const {
  return artifact::LocationOf(source_, instruction);
}

std::string PreparedProgram::Describe(uint64_t index) const { return artifact::InstructionText(source_, index); }

absl::Status PreparedProgram::Locate(const absl::Status& status, uint64_t index) const {
  return absl::Status(status.code(), absl::StrCat("rank ", context_.rank(), ": program '", name_, "' ", Describe(index),
                                                  ": ", status.message()));
}

}  // namespace sgd::exec
