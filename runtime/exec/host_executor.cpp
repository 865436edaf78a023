// Errors are annotated where an instruction has failed, and nowhere else.
#include "runtime/exec/host_executor.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/exec/progress_watch.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::exec {

using Kind = PreparedInstruction::Kind;

absl::Status HostExecutor::Begin(uint64_t step, Carry* carry) {
  if (carry != nullptr) return absl::FailedPreconditionError("a step of this device ends without its carry");
  step_ = step;
  runs_.clear();
  runs_begin_ = SteadyNow();
  loops_.BeginStep(step);
  RecordStep(step);
  timing_.communication = absl::ZeroDuration();
  if (options_.progress != nullptr) options_.progress->BeginStep(*program_);
  absl::Status status = CopyIn();
  if (status.ok()) status = RunBlock({0, program_->size()});
  if (status.ok()) status = CopyOut();
  if (options_.progress != nullptr) options_.progress->EndStep();
  if (status.ok()) status = context_.device().Synchronize();
  timing_.total = SteadyNow() - runs_begin_;
  if (status.ok()) RecordStepEnd(step);
  return status;
}

absl::Status HostExecutor::End() {
  if (options_.profile) KeepTimes();
  return absl::OkStatus();
}

absl::Status HostExecutor::RunObserved(uint64_t step, InstructionObserver& observer) {
  observer_ = &observer;
  absl::Status status = Begin(step, /*carry=*/nullptr);
  observer_ = nullptr;
  return status;
}

absl::Status HostExecutor::StageInputs(const std::vector<size_t>&, const std::vector<size_t>&) {
  return absl::OkStatus();
}

std::span<std::byte> HostExecutor::InputBytes(size_t index) const {
  return {inputs_[index].bytes, inputs_[index].is_held ? inputs_[index].shard.local_bytes() : 0};
}

std::span<const std::byte> HostExecutor::OutputBytes(size_t index) const {
  return {outputs_[index].bytes, outputs_[index].is_held ? outputs_[index].shard.local_bytes() : 0};
}

absl::Status HostExecutor::RunBlock(const artifact::Block& block) {
  for (uint64_t i = block.begin; i < block.end; i = (*program_)[i].next) {
    PreparedInstruction& instruction = (*program_)[i];
    if (options_.progress != nullptr) options_.progress->At(i);
    if (options_.flight != nullptr) options_.flight->Write(watch::FlightKind::kInstruction, i);
    if (instruction.kind == Kind::kLoop || instruction.kind == Kind::kCase) {
      // Adds the location of the loop or case to errors inside of it.
      absl::Status status = instruction.kind == Kind::kLoop ? RunLoop(i) : RunCase(i);
      if (!status.ok()) return status;
      continue;
    }
    absl::Status status = observer_ != nullptr ? ExecuteObserved(i)
                          : options_.profile   ? ExecuteTimed(i)
                                               : Execute(instruction);
    if (!status.ok()) {
      return program_->Locate(absl::Status(status.code(), absl::StrCat("step ", step_, ": ", status.message())), i);
    }
    if (options_.progress != nullptr) options_.progress->Finished();
  }
  return absl::OkStatus();
}

absl::Status HostExecutor::RunLoop(uint64_t index) {
  loops_.BeginLoop(index);
  absl::Status status = RunTrips(index);
  loops_.EndLoop();
  return status;
}

// The predicate is the same on all ranks: the compiler gives it to loops only where no rank has another.
absl::Status HostExecutor::RunTrips(uint64_t index) {
  const std::vector<artifact::Block>& blocks = (*program_)[index].blocks;
  const artifact::Loop& loop = *program_->source(index).op_as_Loop();
  const std::byte* predicate = loop.predicate() == nullptr ? nullptr : program_->memory().Address(*loop.predicate());
  for (uint64_t trip = 0; predicate != nullptr || trip < loop.trips(); ++trip) {
    if (absl::Status status = loops_.BeginTrip(trip, predicate == nullptr); !status.ok()) {
      return absl::Status(status.code(), absl::StrCat("rank ", context_.rank(), ": program '", program_->name(),
                                                      "' step ", step_, ": ", status.message()));
    }
    if (predicate != nullptr) {
      if (absl::Status status = RunBlock(blocks[0]); !status.ok()) return status;
      if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
      if (*predicate == std::byte{0}) break;
    }
    if (absl::Status status = RunBlock(blocks[1]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status HostExecutor::RunCase(uint64_t index) {
  const std::vector<artifact::Block>& blocks = (*program_)[index].blocks;
  if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
  int32_t branch = 0;
  std::memcpy(&branch, program_->memory().Address(*program_->source(index).op_as_Case()->index()), sizeof(branch));
  const bool has_branch = branch >= 0 && static_cast<size_t>(branch) < blocks.size();
  return RunBlock(has_branch ? blocks[static_cast<size_t>(branch)] : blocks.back());
}

absl::Status HostExecutor::Execute(PreparedInstruction& instruction) {
  return instruction.kind == Kind::kThunk ? instruction.thunk->Execute() : ExecuteCollective(instruction);
}

absl::Status HostExecutor::ExecuteObserved(uint64_t index) {
  observer_->Before(index);
  absl::Status status = Execute((*program_)[index]);
  if (status.ok()) status = context_.device().Synchronize();
  if (status.ok()) observer_->After(index);
  return status;
}

absl::Status HostExecutor::ExecuteTimed(uint64_t index) {
  const absl::Time begin = SteadyNow();
  absl::Status status = Execute((*program_)[index]);
  if (status.ok()) status = context_.device().Synchronize();
  runs_.push_back({static_cast<uint32_t>(index), 0, begin - runs_begin_, SteadyNow() - begin});
  return status;
}

absl::Status HostExecutor::ExecuteCollective(const PreparedInstruction& instruction) {
  // Peers read the window, so what was enqueued must have been written.
  if (absl::Status status = context_.device().Synchronize(); !status.ok()) return status;
  const absl::Time begin = SteadyNow();
  if (options_.progress != nullptr) options_.progress->SetWaiting(true);
  if (options_.delay != nullptr) options_.delay->BeginWait();
  absl::Status status = Communicate(instruction);
  if (options_.delay != nullptr) options_.delay->EndWait();
  if (options_.progress != nullptr) options_.progress->SetWaiting(false);
  if (status.ok() && options_.flight != nullptr) options_.flight->Write(watch::FlightKind::kWaited, 0);
  timing_.communication += SteadyNow() - begin;
  return status;
}

absl::Status HostExecutor::Communicate(const PreparedInstruction& instruction) {
  comm::Communicator& communicator = context_.communicator();
  const absl::Duration timeout = options_.wait_limit == nullptr ? options_.timeout : options_.wait_limit->value();
  switch (instruction.kind) {
    case Kind::kStart:
      return communicator.Start(instruction.collective, timeout);
    case Kind::kDone:
      return communicator.Wait(instruction.collective, timeout);
    case Kind::kSend:
      return communicator.Send(instruction.channel, instruction.message, timeout);
    case Kind::kReceive:
      return communicator.Receive(instruction.channel, instruction.message, timeout);
    default:
      return communicator.Execute(instruction.collective, timeout);
  }
}

}  // namespace sgd::exec
