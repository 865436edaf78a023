// Outputs up to kCopiedBytes are copied out of the plan's memory at once, so that they do not keep the memory of a
// program; larger ones stay until somebody needs the memory.
#include "plugins/pjrt/program.h"

#include <cstring>
#include <iterator>
#include <set>
#include <thread>
#include <utility>

#include "runtime/artifact/container.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/exec/holding.h"
#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace sgd::pjrt {
namespace {

constexpr size_t kCopiedBytes = 1 << 14;

// Without the lock, which other threads may need that the function waits for: those that have the interpreter's.
absl::Status CallUnlocked(RankPools& pools, const exec::HostCall& call) {
  pools.mutex.unlock();
  absl::Status status = CallHandler(call);
  pools.mutex.lock();
  return status;
}

}  // namespace

Program::Program(std::shared_ptr<RankPools> pools, std::shared_ptr<const artifact::ArtifactFile> file, std::string name)
    : pools_(std::move(pools)),
      file_(std::move(file)),
      name_(std::move(name)),
      functions_(exec::HostFunctionsOf(file_->root())) {}

absl::StatusOr<std::shared_ptr<Program>> Program::Open(std::shared_ptr<RankPools> pools, std::string_view artifact,
                                                       std::string name, const DeviceList& devices) {
  auto file = artifact::ArtifactFile::FromBytes(artifact, "the compiled program");
  if (!file.ok()) return file.status();
  std::shared_ptr<Program> program(new Program(std::move(pools), *std::move(file), std::move(name)));
  if (absl::StatusOr<const artifact::Program*> main = program->file_->FindProgram("main"); !main.ok())
    return main.status();
  if (program->ranks() != devices.ids.size() && program->ranks() != 1)
    return absl::UnimplementedError(absl::StrCat("the program's mesh has ", program->ranks(),
                                                 " devices, and it runs on ", devices.ids.size(),
                                                 "; expected a mesh of all devices of the program"));
  program->devices_.assign(devices.ids.begin(), devices.ids.end());
  program->devices_.resize(program->ranks());
  program->FindShards();
  const bool has_devices = program->ranks() == devices.ids.size();
  for (uint32_t rank = 0; rank < program->ranks(); ++rank) {
    if (!has_devices || devices.processes[rank] == program->pools_->process()) program->own_ranks_.push_back(rank);
  }
  if (has_devices) {
    absl::StatusOr<ProcessRanks*> spread = program->pools_->OfProcesses(devices);
    if (!spread.ok()) return spread.status();
    program->spread_ = *spread;
  }
  if (program->spread_ != nullptr) return program;
  absl::Status status = program->UseThreads([&] { return program->Start(); });
  if (!status.ok()) return status;
  return program;
}

Program::~Program() {
  const std::lock_guard lock(pools_->mutex);
  Stop();
}

void Program::FindShards() {
  const comm::Mesh mesh = data::MeshOf(file_->root());
  const artifact::WholeProgram whole = artifact::WholeOf(file_->root(), "main");
  const auto of_ranks = [&](const auto& tensor) {
    std::vector<data::Shard> shards;
    for (uint32_t rank = 0; rank < ranks(); ++rank) shards.push_back(exec::HoldingOf(*file_, mesh, tensor, rank).shard);
    return shards;
  };
  for (const auto& input : whole.inputs) inputs_.push_back(of_ranks(input));
  for (const auto& output : whole.outputs) outputs_.push_back(of_ranks(output));
}

bool Program::is_open() const {
  return job_ != nullptr && job_->status().ok() && (spread_ == nullptr || era_ == spread_->era());
}

absl::Status Program::Agree() {
  return spread_->Agree({.name = name_,
                         .digest = artifact::HexHash(file_->hash()),
                         .job = is_open() ? job_number_ : spread_->next_job()});
}

absl::StatusOr<std::unique_ptr<embed::RankJob>> Program::OpenJob() {
  const uint64_t window_bytes = file_->root().window_bytes();
  if (spread_ != nullptr) {
    era_ = spread_->era();
    job_number_ = spread_->next_job();
    return spread_->Open(window_bytes);
  }
  absl::StatusOr<embed::RankPool*> pool = pools_->Of(devices_);
  if (!pool.ok()) return pool.status();
  pool_ = *pool;
  return pool_->Open(window_bytes);
}

absl::Status Program::RunJob(const embed::RankBody& body) {
  return spread_ != nullptr ? spread_->Run(*job_, body) : job_->Run(body);
}

bool Program::is_on_caller() const { return ranks() == 1 && spread_ == nullptr && pools_->target().is_host_memory(); }

absl::StatusOr<const void*> Program::Threads() {
  if (is_on_caller()) return nullptr;
  if (spread_ != nullptr) return spread_;
  return pools_->Of(devices_);
}

exec::HostCallHandler Program::Handler() const {
  if (functions_.empty()) return nullptr;
  if (is_on_caller()) return [pools = pools_](const exec::HostCall& call) { return CallUnlocked(*pools, call); };
  return [calls = calls_](const exec::HostCall& call) { return calls->Call(call); };
}

absl::Status Program::UseThreads(absl::FunctionRef<absl::Status()> body) {
  absl::StatusOr<const void*> threads = Threads();
  if (!threads.ok()) return threads.status();
  if (absl::Status status = pools_->running.Begin(this, *threads, pools_->mutex); !status.ok()) return status;
  absl::Status status = body();
  pools_->running.End(this);
  return status;
}

absl::Status Program::Start() {
  auto job = OpenJob();
  if (!job.ok()) return job.status();
  job_ = *std::move(job);
  calls_ = std::make_shared<HostCallQueue>();
  for (size_t index = 0; index < own_ranks_.size(); ++index)
    ranks_.push_back(std::make_shared<ProgramRank>(index, devices_[own_ranks_[index]], pools_));
  return RunJob([ranks = ranks_, file = file_, timeout = pools_->deadline, handler = Handler()](
                    const embed::Rank& rank) { return ranks[rank.index]->Prepare(file, rank, timeout, handler); });
}

void Program::Stop() {
  for (const std::weak_ptr<Storage>& weak : resident_) {
    if (auto storage = weak.lock()) storage->Forget();
  }
  resident_.clear();
  if (pool_ != nullptr)
    pool_->Destroy({std::make_move_iterator(ranks_.begin()), std::make_move_iterator(ranks_.end())});
  ranks_.clear();
  job_ = nullptr;
}

std::span<std::byte> Program::OutputBytes(size_t index, size_t output) const {
  const std::span<const std::byte> bytes = ranks_[index]->executor().OutputBytes(output);
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

exec::CarryPairs Program::CarriedBy(const ProgramRun& run) const {
  exec::CarryPairs pairs;
  std::set<size_t> taken;
  for (size_t input = 0; input < run.is_donated.size(); ++input) {
    const Storage& first = *run.inputs[0][input];
    if (!run.is_donated[input] || !first.is_resident()) continue;
    const size_t output = first.output();
    bool is_carried = !taken.contains(output);
    for (size_t index = 0; index < own_ranks_.size(); ++index) {
      const std::shared_ptr<Storage>& storage = run.inputs[index][input];
      is_carried = is_carried && storage->IsOutput(*this, index, output) && storage.use_count() == 1 &&
                   outputs_[output][own_ranks_[index]].type() == inputs_[input][own_ranks_[index]].type();
    }
    if (!is_carried) continue;
    pairs.emplace_back(output, input);
    taken.insert(output);
  }
  return pairs;
}

absl::Status Program::DetachOthers(const ProgramRun& run) {
  std::set<const Storage*> kept;
  for (const auto& [output, input] : run.carried) {
    for (const auto& inputs : run.inputs) kept.insert(inputs[input].get());
  }
  std::vector<std::shared_ptr<Storage>> others;
  for (const std::weak_ptr<Storage>& weak : resident_) {
    std::shared_ptr<Storage> storage = weak.lock();
    if (storage != nullptr && !kept.contains(storage.get())) others.push_back(std::move(storage));
  }
  resident_.clear();
  if (!pools_->target().is_host_memory()) return DetachOnGpus(others);
  for (const std::shared_ptr<Storage>& storage : others) {
    if (absl::Status status = storage->Detach(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Other ranks may read them in the next run.
absl::Status Program::DetachOnGpus(const std::vector<std::shared_ptr<Storage>>& storages) {
  if (storages.empty()) return absl::OkStatus();
  std::vector<std::vector<std::shared_ptr<Storage>>> of_ranks(own_ranks_.size());
  for (const std::shared_ptr<Storage>& storage : storages) of_ranks[storage->index()].push_back(storage);
  return job_->Run([of_ranks](const embed::Rank& rank) {
    for (const std::shared_ptr<Storage>& storage : of_ranks[rank.index]) {
      if (absl::Status status = storage->DetachOn(*rank.device); !status.ok()) return status;
    }
    return rank.device->Synchronize();
  });
}

absl::Status Program::TakeOutputs(ProgramRun& run) {
  run.outputs.assign(own_ranks_.size(), {});
  for (size_t index = 0; index < own_ranks_.size(); ++index) {
    for (size_t output = 0; output < outputs_.size(); ++output) {
      absl::StatusOr<std::shared_ptr<Storage>> storage = TakeOutput(index, output);
      if (!storage.ok()) return storage.status();
      if ((*storage)->is_resident()) resident_.push_back(*storage);
      run.outputs[index].push_back(*std::move(storage));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Storage>> Program::TakeOutput(size_t index, size_t output) {
  if (pools_->target().is_host_memory()) {
    std::shared_ptr<Storage> storage = Storage::Resident(shared_from_this(), index, output);
    if (storage->size() > kCopiedBytes) return storage;
    const absl::Status status = storage->Detach();
    return status.ok() ? absl::StatusOr<std::shared_ptr<Storage>>(std::move(storage)) : status;
  }
  const exec::Tensor& tensor = ranks_[index]->executor().outputs()[output];
  const uint64_t bytes = tensor.is_held ? tensor.shard.local_bytes() : 0;
  if (!tensor.shard.type().global_dims.empty() && bytes > 0)
    return Storage::OnGpu(shared_from_this(), index, output, pools_, devices_[own_ranks_[index]],
                          {tensor.bytes, bytes});
  // Scalars are in the host's memory when a step has ended.
  absl::StatusOr<std::shared_ptr<Storage>> storage = Storage::Allocate(bytes);
  if (!storage.ok()) return storage;
  if (bytes > 0) std::memcpy((*storage)->bytes().data(), OutputBytes(index, output).data(), bytes);
  return storage;
}

// Functions run on this thread, ranks on theirs.
absl::Status Program::RunServing(const embed::RankBody& body) {
  if (is_on_caller()) return RunJob(body);
  calls_->Open();
  absl::Status status;
  std::thread runner([&] {
    status = RunJob(body);
    calls_->Close();
  });
  calls_->Serve([&](const exec::HostCall& call) { return CallUnlocked(*pools_, call); });
  runner.join();
  return status;
}

absl::Status Program::RunStep(const std::shared_ptr<ProgramRun>& run) {
  const auto step = [ranks = ranks_, step = step_](const embed::Rank& rank) { return ranks[rank.index]->Run(step); };
  const auto load = [ranks = ranks_, run](const embed::Rank& rank) { return ranks[rank.index]->Load(*run); };
  if (functions_.empty()) {
    return RunJob([load, step](const embed::Rank& rank) {
      absl::Status status = load(rank);
      return status.ok() ? step(rank) : status;
    });
  }
  // Inputs may be in the memory of programs that run as soon as the lock is free.
  absl::Status status = RunJob(load);
  return status.ok() ? RunServing(step) : status;
}

absl::Status Program::Execute(const std::shared_ptr<ProgramRun>& run) {
  return UseThreads([&] { return ExecuteOnRanks(run); });
}

absl::Status Program::ExecuteOnRanks(const std::shared_ptr<ProgramRun>& run) {
  if (!is_open()) {
    Stop();
    if (absl::Status status = Start(); !status.ok()) {
      Stop();
      return status;
    }
  }
  run->carried = CarriedBy(*run);
  if (absl::Status status = DetachOthers(*run); !status.ok()) return status;
  const absl::Status status = RunStep(run);
  ++step_;
  if (!status.ok()) {
    Stop();
    return status;
  }
  return TakeOutputs(*run);
}

}  // namespace sgd::pjrt
