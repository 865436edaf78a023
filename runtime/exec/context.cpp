// Puts a rank's memory together and checks that artifact, device and communicator fit each other.
#include "runtime/exec/context.h"

#include <filesystem>
#include <system_error>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/device/algorithm_choices.h"
#include "runtime/device/host_transfer.h"

namespace sgd::exec {
namespace {

absl::Status CheckFit(const artifact::ArtifactFile& file, device::Device& device, comm::Communicator& communicator) {
  const artifact::Artifact& root = file.root();
  if (root.target()->string_view() != device.target()) {
    return absl::FailedPreconditionError(
        absl::StrCat(file.path(), ": compiled for target '", root.target()->str(), "', this is '", device.target(),
                     "'; expected one target; compile with --target=", device.target()));
  }
  const uint32_t ranks = communicator.control().size();
  if (ranks != file.ranks()) {
    return absl::FailedPreconditionError(absl::StrCat(file.path(), ": compiled for ", file.ranks(),
                                                      " ranks, started with ", ranks,
                                                      "; expected one number; start with -n ", file.ranks()));
  }
  if ((device.streams() != nullptr) != (communicator.stream_collectives() != nullptr))
    return absl::FailedPreconditionError("windows must be memory of the device that computes");
  const uint64_t window_bytes = file.SpacesOf(communicator.control().rank()).window_bytes;
  if (communicator.window_bytes() < window_bytes) {
    return absl::FailedPreconditionError(absl::StrCat(file.path(), ": needs a window of ", window_bytes,
                                                      " bytes, the communicator has ", communicator.window_bytes()));
  }
  return absl::OkStatus();
}

absl::Status CheckArena(const artifact::ArtifactFile& file, const char* name, std::span<const std::byte> arena,
                        uint64_t bytes) {
  constexpr uint64_t kAlignment = 4096;
  if (arena.size() >= bytes && reinterpret_cast<uintptr_t>(arena.data()) % kAlignment == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": the caller's ", name, " arena of ", arena.size(),
                                                 " bytes is too small or not aligned; expected ", bytes,
                                                 " bytes at a multiple of ", kAlignment));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ExecutionContext>> ExecutionContext::Create(const artifact::ArtifactFile& file,
                                                                           device::Device& device,
                                                                           comm::Communicator& communicator,
                                                                           const CallerArenas& arenas) {
  if (absl::Status status = CheckFit(file, device, communicator); !status.ok()) return status;
  auto context = absl::WrapUnique(new ExecutionContext(file, device, communicator));
  context->mesh_ = artifact::MeshOf(file.root());
  absl::StatusOr<std::unique_ptr<device::KernelLibrary>> kernels = device.LoadKernelsOf(file, context->stage());
  if (!kernels.ok()) return kernels.status();
  context->kernels_ = *std::move(kernels);
  context->memory_.window_base = communicator.window();
  if (absl::Status status = context->PlacePrivate(arenas.private_arena); !status.ok()) return status;
  if (absl::Status status = context->PlaceConstants(); !status.ok()) return status;
  if (absl::Status status = context->PlaceHost(arenas.host_arena); !status.ok()) return status;
  context->LoadAlgorithms();
  return context;
}

void ExecutionContext::LoadAlgorithms() {
  device::AlgorithmChoices* choices = device_.algorithm_choices();
  if (choices == nullptr) return;
  choices->set_decides(rank() % file_.ranks_of_stage() == 0);
  // Of an artifact in memory there is no file beside which to look.
  if (std::error_code error; !choices->decides() || !std::filesystem::exists(file_.path(), error)) return;
  algorithms_ = std::make_unique<AlgorithmCache>(file_, stage(), device_.fingerprint(), *choices);
  if (choices->times_candidates()) return;  // entries of the file may not have been timed
  absl::Status status = algorithms_->Load();
  if (!status.ok() && !absl::IsNotFound(status))
    algorithm_note_ = absl::StrCat(status.message(), "; algorithms are chosen anew");
}

// Where the file cannot be written, the next start chooses again.
void ExecutionContext::SaveAlgorithms() {
  if (algorithms_ != nullptr) algorithms_->Save().IgnoreError();
}

absl::Status ExecutionContext::PlacePrivate(std::span<std::byte> arena) {
  private_bytes_ = file_.SpacesOf(rank()).private_bytes;
  if (!arena.empty()) {
    memory_.private_base = arena.data();
    return CheckArena(file_, "private", arena, private_bytes_);
  }
  absl::StatusOr<std::unique_ptr<device::Arena>> allocated = device_.Allocate(private_bytes_);
  if (!allocated.ok()) return allocated.status();
  private_arena_ = *std::move(allocated);
  memory_.private_base = private_arena_->data();
  return absl::OkStatus();
}

absl::Status ExecutionContext::PlaceConstants() {
  const artifact::Bytes constants = file_.constants();
  memory_.constant_base = reinterpret_cast<const std::byte*>(constants.data());
  device::HostTransfer* transfer = device_.host_transfer();
  if (transfer == nullptr || constants.empty()) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<device::Arena>> arena = device_.Allocate(constants.size());
  if (!arena.ok()) return arena.status();
  constants_ = *std::move(arena);
  absl::Status status = transfer->Upload({memory_.constant_base, constants.size()}, constants_->data());
  memory_.constant_base = constants_->data();
  return status.ok() ? device_.Synchronize() : status;
}

absl::Status ExecutionContext::PlaceHost(std::span<std::byte> given) {
  const artifact::Artifact& root = file_.root();
  const uint64_t bytes =
      stage() < 0 ? root.host_bytes() : root.stages()->Get(static_cast<uint32_t>(stage()))->host_bytes();
  host_bytes_ = bytes;
  if (bytes == 0) return absl::OkStatus();
  device::HostTransfer* transfer = device_.host_transfer();
  if (transfer == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(file_.path(), ": keeps ", bytes, " bytes in memory of the host beside the device, and '",
                     device_.target(), "' has no other; expected none; compile it without \"offload\""));
  }
  if (!given.empty()) {
    memory_.host_base = given.data();
    return CheckArena(file_, "host", given, bytes);
  }
  absl::StatusOr<std::unique_ptr<device::Arena>> arena = transfer->AllocateHost(bytes);
  if (!arena.ok()) return arena.status();
  host_arena_ = *std::move(arena);
  memory_.host_base = host_arena_->data();
  return absl::OkStatus();
}

int32_t ExecutionContext::stage() const { return file_.StageOf(rank()); }

uint64_t ExecutionContext::arena_bytes() const {
  const uint64_t window = stage() < 0 ? communicator_.window_bytes() : file_.SpacesOf(rank()).window_bytes;
  return private_bytes_ + window + file_.constants().size();
}

}  // namespace sgd::exec
