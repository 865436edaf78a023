// Nodes first, since algorithms are chosen with them; then collectives, where ranks meet.
#include "runtime/exec/prepared_program.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/verify_operation.h"
#include "runtime/device/algorithm_choices.h"

namespace sgd::exec {
namespace {

using artifact::Instruction;
using artifact::Operation;
using Kind = PreparedInstruction::Kind;

std::vector<device::CombinedLaunches> CombinedOf(const artifact::LaunchGroup& group) {
  std::vector<device::CombinedLaunches> combined;
  for (uint32_t i = 0; i < artifact::Size(group.combined()); ++i) {
    const artifact::CombinedLaunches& launches = *group.combined()->Get(i);
    combined.push_back({launches.kernel(), {launches.launches()->begin(), launches.launches()->end()}});
  }
  return combined;
}

std::vector<int64_t> CoordinatesOf(const artifact::Launch& launch, const comm::Mesh& mesh, uint32_t rank) {
  std::vector<int64_t> coordinates;
  if (launch.coordinates() == nullptr) return coordinates;
  for (const artifact::Coordinate* coordinate : *launch.coordinates()) {
    coordinates.push_back(static_cast<int64_t>(comm::LinearIndex(mesh, artifact::AxesOf(coordinate->axes()), rank)));
  }
  return coordinates;
}

bool IsNode(Operation operation) {
  return operation != Operation::Loop && operation != Operation::Case && operation != Operation::Collective &&
         operation != Operation::Done;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedProgram>> PreparedProgram::Prepare(ExecutionContext& context,
                                                                          const artifact::Program& program,
                                                                          absl::Duration timeout) {
  auto prepared = absl::WrapUnique(new PreparedProgram(context, program));
  if (absl::Status status = prepared->PrepareAll(timeout); !status.ok()) return status;
  return prepared;
}

const Instruction& PreparedProgram::source(uint64_t index) const {
  return *source_.instructions()->Get(static_cast<uint32_t>(index));
}

absl::Status PreparedProgram::PrepareAll(absl::Duration timeout) {
  instructions_.resize(artifact::Size(source_.instructions()));
  if (absl::Status status = PrepareNodes(timeout); !status.ok()) return status;
  for (uint32_t i = 0; i < size(); ++i) {
    if (absl::Status status = PrepareInstruction(i); !status.ok()) return Locate(status, i);
  }
  return absl::OkStatus();
}

// Before any collective is prepared, where ranks may meet: those that take algorithms wait for the one that chooses
// them.
absl::Status PreparedProgram::PrepareNodes(absl::Duration timeout) {
  device::AlgorithmChoices* choices = context_.device().algorithm_choices();
  if (choices != nullptr && !choices->decides()) {
    if (absl::Status status = TakeAlgorithms(*choices, timeout); !status.ok()) return status;
  }
  for (uint32_t i = 0; i < size(); ++i) {
    if (!IsNode(source(i).op_type())) continue;
    absl::StatusOr<std::unique_ptr<device::Node>> node = PrepareNode(source(i));
    if (!node.ok()) return Locate(node.status(), i);
    instructions_[i].node = *std::move(node);
  }
  if (choices == nullptr || !choices->decides()) return absl::OkStatus();
  context_.SaveAlgorithms();
  return TakeAlgorithms(*choices, timeout);
}

// All ranks get what rank 0 has chosen.
absl::Status PreparedProgram::TakeAlgorithms(device::AlgorithmChoices& choices, absl::Duration timeout) const {
  if (context_.control().size() == 1) return absl::OkStatus();
  absl::StatusOr<std::vector<std::string>> all =
      context_.control().AllGatherBytes(choices.decides() ? choices.Save() : std::string(), timeout);
  if (!all.ok()) return all.status();
  return choices.decides() ? absl::OkStatus() : choices.Restore(all->front());
}

absl::Status PreparedProgram::PrepareInstruction(uint32_t index) {
  PreparedInstruction& prepared = instructions_[index];
  prepared.next = artifact::Next(source_, index);
  if (const artifact::Collective* collective = source(index).op_as_Collective())
    return PrepareCollective(*collective, index);
  switch (source(index).op_type()) {
    case Operation::Loop:
    case Operation::Case:
      prepared.kind = source(index).op_type() == Operation::Loop ? Kind::kLoop : Kind::kCase;
      prepared.blocks = artifact::BlocksOf(source_, index);
      break;
    case Operation::Done:
      prepared.kind = Kind::kDone;
      prepared.collective = instructions_[source(index).op_as_Done()->start()].collective;
      break;
    default:
      prepared.kind = Kind::kNode;
  }
  return absl::OkStatus();
}

absl::Status PreparedProgram::PrepareCollective(const artifact::Collective& collective, uint32_t index) {
  const std::string location = absl::StrCat(name_, ": instruction ", index, ": ", LocationOf(source(index)));
  absl::StatusOr<comm::CollectiveHandle> handle =
      context_.communicator().Prepare(context_.mesh(), artifact::SpecOf(collective, location));
  if (!handle.ok()) return handle.status();
  instructions_[index].kind = collective.starts() ? Kind::kStart : Kind::kCollective;
  instructions_[index].collective = *handle;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<device::Node>> PreparedProgram::PrepareNode(const Instruction& instruction) const {
  device::Device& device = context_.device();
  const device::MemoryMap& memory = context_.memory();
  switch (instruction.op_type()) {
    case Operation::Launch: {
      const artifact::Launch& launch = *instruction.op_as_Launch();
      const std::vector<int64_t> coordinates = CoordinatesOf(launch, context_.mesh(), context_.rank());
      return device.PrepareLaunch(launch, context_.kernels(), memory, coordinates);
    }
    case Operation::LaunchGroup: {
      std::vector<device::GroupedLaunch> launches;
      for (const artifact::Launch* launch : *instruction.op_as_LaunchGroup()->launches()) {
        launches.push_back({launch, CoordinatesOf(*launch, context_.mesh(), context_.rank())});
      }
      return device.PrepareLaunchGroup(launches, CombinedOf(*instruction.op_as_LaunchGroup()), context_.kernels(),
                                       memory);
    }
    case Operation::Matmul:
      return device.PrepareMatmul(*instruction.op_as_Matmul(), memory);
    case Operation::Convolution:
      return device.PrepareConvolution(*instruction.op_as_Convolution(), memory);
    case Operation::Attention:
      return device.PrepareAttention(*instruction.op_as_Attention(), memory);
    case Operation::LinearAlgebra:
      return device.PrepareLinearAlgebra(*instruction.op_as_LinearAlgebra(), memory);
    case Operation::Tiled:
      return device.PrepareTiled(*instruction.op_as_Tiled(), context_.kernels(), memory);
    case Operation::Copy: {
      const artifact::Copy& copy = *instruction.op_as_Copy();
      return device.PrepareCopy(memory.Address(*copy.source()), memory.Address(*copy.target()), copy.target()->size());
    }
    case Operation::Fill: {
      const artifact::Fill& fill = *instruction.op_as_Fill();
      return device.PrepareFill(memory.Address(*fill.target()), fill.target()->size(),
                                {fill.pattern()->data(), fill.pattern()->size()});
    }
    default:
      return absl::InternalError("an operation that the verifier does not know");
  }
}

std::string PreparedProgram::LocationOf(const Instruction& instruction) const {
  if (instruction.loc() >= artifact::Size(source_.locations())) return "unknown location";
  return absl::CEscape(source_.locations()->Get(instruction.loc())->str());
}

std::string PreparedProgram::Describe(uint64_t index) const {
  return absl::StrCat("instruction ", index, " (", artifact::OperationName(source(index)), ") at ",
                      LocationOf(source(index)));
}

absl::Status PreparedProgram::Locate(const absl::Status& status, uint64_t index) const {
  return absl::Status(status.code(), absl::StrCat("rank ", context_.rank(), ": program '", name_, "' ", Describe(index),
                                                  ": ", status.message()));
}

}  // namespace sgd::exec
