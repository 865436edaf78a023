// Runs an executable: collects the storage of arguments, runs the program, and makes buffers of its outputs.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugins/pjrt/buffer.h"
#include "plugins/pjrt/event.h"
#include "plugins/pjrt/executable.h"

namespace sgd::pjrt {
namespace {

absl::Status CheckArguments(const PJRT_LoadedExecutable& loaded, const PJRT_LoadedExecutable_Execute_Args& args) {
  if (loaded.program == nullptr) return absl::FailedPreconditionError("the executable has been deleted");
  if (args.num_devices != loaded.addressable.size())
    return absl::InvalidArgumentError(absl::StrCat("the program runs on ", loaded.addressable.size(),
                                                   " devices of this process, and is given ", args.num_devices));
  if (args.num_args != loaded.executable->parameters())
    return absl::InvalidArgumentError(
        absl::StrCat("the program has ", loaded.executable->parameters(), " arguments, and is given ", args.num_args));
  for (size_t device = 0; device < args.num_devices; ++device) {
    for (size_t arg = 0; arg < args.num_args; ++arg) {
      if (absl::Status status = CheckAlive(*args.argument_lists[device][arg]); !status.ok())
        return absl::Status(status.code(), absl::StrCat("argument ", arg, ": ", status.message()));
    }
  }
  return absl::OkStatus();
}

// A buffer that is given away cannot be another argument too.
absl::Status CheckDonation(const std::vector<bool>& is_donated, const PJRT_LoadedExecutable_Execute_Args& args) {
  if (args.num_devices == 0 || std::ranges::find(is_donated, true) == is_donated.end()) return absl::OkStatus();
  std::map<const PJRT_Buffer*, size_t> seen;
  for (size_t arg = 0; arg < args.num_args; ++arg) {
    const auto [first, is_new] = seen.try_emplace(args.argument_lists[0][arg], arg);
    if (!is_new && (is_donated[arg] || is_donated[first->second]))
      return absl::InvalidArgumentError(absl::StrCat("arguments ", first->second, " and ", arg,
                                                     " are the same buffer, and it is donated; attempt to donate the "
                                                     "same buffer twice in Execute(), or to use it too; copy it"));
  }
  return absl::OkStatus();
}

// By argument; of tokens nothing.
std::vector<bool> DonatedArguments(const PJRT_LoadedExecutable& loaded, const PJRT_ExecuteOptions* options) {
  std::vector<bool> is_donated = loaded.executable->compiled.is_donated;
  if (options == nullptr) return is_donated;
  for (size_t i = 0; i < options->num_non_donatable_input_indices; ++i) {
    const int64_t index = options->non_donatable_input_indices[i];
    if (index >= 0 && index < static_cast<int64_t>(is_donated.size())) is_donated[index] = false;
  }
  return is_donated;
}

// Takes donated storage from its buffers, whose devices beyond the program's ranks hold the same values.
std::shared_ptr<ProgramRun> TakeInputs(const PJRT_LoadedExecutable& loaded,
                                       const PJRT_LoadedExecutable_Execute_Args& args) {
  const std::vector<std::optional<size_t>>& inputs = loaded.executable->inputs;
  const std::vector<bool> is_donated = DonatedArguments(loaded, args.options);
  const auto shared = std::make_shared<ProgramRun>();
  ProgramRun& run = *shared;
  run.inputs.resize(loaded.program->own_ranks().size());
  for (size_t arg = 0; arg < args.num_args; ++arg) {
    if (!inputs[arg]) continue;
    run.is_donated.push_back(is_donated[arg]);
    for (size_t index = 0; index < run.inputs.size(); ++index)
      run.inputs[index].push_back(args.argument_lists[index][arg]->storage);
  }
  for (size_t device = 0; device < args.num_devices; ++device) {
    for (size_t arg = 0; arg < args.num_args; ++arg) {
      if (inputs[arg] && is_donated[arg]) args.argument_lists[device][arg]->storage = nullptr;
    }
  }
  return shared;
}

absl::Status CreateResults(const PJRT_LoadedExecutable& loaded, const PJRT_LoadedExecutable_Execute_Args& args,
                           const ProgramRun& run) {
  const Executable& executable = *loaded.executable;
  const Results& results = executable.results;
  auto token = Storage::Allocate(0);
  if (!token.ok()) return token.status();
  for (size_t device = 0; device < args.num_devices; ++device) {
    PJRT_Device* where = args.execute_device != nullptr ? args.execute_device : loaded.addressable[device];
    const auto& outputs = run.outputs[device < run.outputs.size() ? device : 0];
    for (size_t result = 0; result < executable.outputs.size(); ++result) {
      const std::optional<size_t> output = executable.outputs[result];
      args.output_lists[device][result] =
          CreateBuffer(where->memory_pointers[results.memories.kinds[result]], results.types[result],
                       results.local_dims[result], output ? outputs[*output] : *token)
              .release();
    }
    if (args.device_complete_events != nullptr) args.device_complete_events[device] = ReadyEvent();
  }
  return absl::OkStatus();
}

// Under the lock.
absl::Status ExecuteLocked(PJRT_LoadedExecutable& loaded, PJRT_LoadedExecutable_Execute_Args& args) {
  if (absl::Status status = CheckArguments(loaded, args); !status.ok()) return status;
  if (absl::Status status = CheckDonation(DonatedArguments(loaded, args.options), args); !status.ok()) return status;
  const std::shared_ptr<ProgramRun> run = TakeInputs(loaded, args);
  const std::shared_ptr<Program> program = loaded.program;
  if (absl::Status status = program->Execute(run); !status.ok()) return status;
  return CreateResults(loaded, args, *run);
}

// Waits for the other processes without the lock: buffers may be read and deleted meanwhile.
absl::Status ExecuteSpread(Program& program, PJRT_LoadedExecutable& loaded, PJRT_LoadedExecutable_Execute_Args& args) {
  ProcessRanks& processes = *program.spread();
  if (IsInHostCall())
    return absl::FailedPreconditionError(
        "a function that a program calls cannot run a program over several processes, whose turn may be that of the "
        "caller; compute with NumPy in the function, or return the values from the program");
  const std::lock_guard turn(processes.turn);
  if (absl::Status status = program.Agree(); !status.ok()) return status;
  const std::lock_guard lock(loaded.client->ranks->mutex);
  absl::Status status = ExecuteLocked(loaded, args);
  if (!status.ok()) processes.Leave(status);
  return status;
}

}  // namespace

absl::Status Execute(PJRT_LoadedExecutable_Execute_Args& args) {
  PJRT_LoadedExecutable& loaded = *args.executable;
  const std::shared_ptr<RankPools> ranks = loaded.client->ranks;
  std::unique_lock lock(ranks->mutex);
  const std::shared_ptr<Program> program = loaded.program;
  if (program == nullptr || program->spread() == nullptr) return ExecuteLocked(loaded, args);
  if (absl::Status status = CheckArguments(loaded, args); !status.ok()) return status;
  lock.unlock();
  return ExecuteSpread(*program, loaded, args);
}

}  // namespace sgd::pjrt
