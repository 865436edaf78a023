// A rank that fails ends the job, so that the others do not wait for it.
#include "tests/differential/ranks.h"

#include <cstring>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/comm/hosts/two_level_communicator.h"
#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/device/check_messages.h"
#include "runtime/device/check_streams.h"
#include "runtime/device/stream_plan.h"
#include "runtime/exec/executor.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/runtime/comm/memory_transport.h"
#include "tests/targets/gpu/emulator/emulated_device.h"

namespace mlir::sgd::differential {
namespace {

class Job {
 public:
  Job(const ::sgd::artifact::ArtifactFile& file, const std::vector<RankBytes>& inputs, const RunOptions& options)
      : file_(file), inputs_(inputs), options_(options) {}

  absl::StatusOr<std::vector<RankBytes>> Run() {
    const uint32_t ranks = file_.ranks();
    if (!inputs_.empty() && inputs_.size() != ranks)
      return absl::InternalError(absl::StrCat("inputs for ", inputs_.size(), " of ", ranks, " ranks"));
    outputs_.resize(ranks);
    absl::Status created = options_.hosts.empty() ? CreateHost() : CreateHosts();
    if (!created.ok()) return created;
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] { options_.hosts.empty() ? RunRank(rank) : RunRankOnHosts(rank); });
    for (std::thread& thread : threads) thread.join();
    if (!error_.ok()) return error_;
    return std::move(outputs_);
  }

 private:
  absl::Duration timeout() const { return absl::Seconds(options_.timeoutSeconds); }

  absl::StatusOr<std::unique_ptr<::sgd::device::Device>> CreateDevice() const {
    using ::sgd::emulator::EmulatedDevice;
    if (options_.isEmulated) return EmulatedDevice::Create(::sgd::emulator::Order::kForward);
    return ::sgd::cpu::CpuDevice::Create({.threads = options_.threads, .null_kernels = options_.nullKernels});
  }

  absl::Status CreateHost() {
    auto segment = ::sgd::comm::SharedMemorySegment::Create(file_.ranks(), file_.root().window_bytes());
    if (!segment.ok()) return segment.status();
    job_ = *std::move(segment);
    return absl::OkStatus();
  }

  /// A segment per host, and one without windows in which all ranks meet.
  absl::Status CreateHosts() {
    std::vector<std::string> names;
    for (uint32_t host : options_.hosts) names.push_back(absl::StrCat(host));
    placement_ = ::sgd::comm::MakePlacement(names, names);
    for (const std::vector<uint32_t>& ranks : placement_.ranks_of) {
      auto segment = ::sgd::comm::SharedMemorySegment::Create(ranks.size(), file_.root().window_bytes());
      if (!segment.ok()) return segment.status();
      hosts_.push_back(*std::move(segment));
    }
    auto segment = ::sgd::comm::SharedMemorySegment::Create(file_.ranks(), 0);
    if (!segment.ok()) return segment.status();
    job_ = *std::move(segment);
    return absl::OkStatus();
  }

  void RunRank(uint32_t rank) {
    auto communicator = ::sgd::comm::SharedMemoryCommunicator::Connect(job_, rank, timeout());
    if (!communicator.ok()) return Fail(rank, communicator.status());
    absl::Status status = RunProgram(**communicator, rank);
    if (!status.ok()) return Fail(rank, status);
    (*communicator)->control().Finish();
  }

  void RunRankOnHosts(uint32_t rank) {
    absl::Status status = RunBetweenHosts(rank);
    if (!status.ok()) Fail(rank, status);
  }

  absl::Status RunBetweenHosts(uint32_t rank) {
    using namespace ::sgd::comm;
    auto control = SharedMemoryControl::Connect(job_, rank, timeout(), UINT32_MAX);
    if (!control.ok()) return control.status();
    const uint32_t host = placement_.host_of[rank];
    auto local = SharedMemoryCommunicator::Connect(hosts_[host], placement_.index_of[rank], timeout(), UINT32_MAX,
                                                   placement_.ranks_of[host]);
    if (!local.ok()) return local.status();
    auto transport = placement_.hosts() > 1 ? MakeMemoryTransport(network_) : nullptr;
    auto communicator =
        TwoLevelCommunicator::Connect(**control, *std::move(local), placement_, std::move(transport), timeout());
    if (!communicator.ok()) return communicator.status();
    if (absl::Status status = (*communicator)->StartThread(/*has_own_core=*/false); !status.ok()) return status;
    if (absl::Status status = RunProgram(**communicator, rank); !status.ok()) return status;
    // Links close when nobody needs them any more.
    return (*control)->Barrier(timeout());
  }

  absl::Status RunProgram(::sgd::comm::Communicator& communicator, uint32_t rank) {
    auto device = CreateDevice();
    if (!device.ok()) return device.status();
    auto context = ::sgd::exec::ExecutionContext::Create(file_, **device, communicator);
    if (!context.ok()) return context.status();
    auto executor = ::sgd::exec::Executor::Create(**context, "main", {.timeout = timeout()});
    if (!executor.ok()) return executor.status();
    if (absl::Status status = FillInputs(**executor, rank); !status.ok()) return status;
    if (absl::Status status = (*executor)->Run(0); !status.ok()) return status;
    TakeOutputs(**executor, rank);
    return absl::OkStatus();
  }

  absl::Status FillInputs(::sgd::exec::Executor& executor, uint32_t rank) {
    if (inputs_.empty()) return absl::OkStatus();
    const RankBytes& inputs = inputs_[rank];
    if (executor.inputs().size() != inputs.size())
      return absl::InternalError(absl::StrCat("the artifact has ", executor.inputs().size(), " inputs, the program ",
                                              inputs.size(), " arguments"));
    for (size_t i = 0; i < inputs.size(); ++i) {
      auto bytes = executor.inputs()[i].is_held ? executor.InputBytes(i) : std::span<std::byte>();
      if (bytes.size() != inputs[i].size())
        return absl::InternalError(absl::StrCat("input ", i, " has ", bytes.size(), " bytes on rank ", rank, " where ",
                                                inputs[i].size(), " are given"));
      if (!bytes.empty()) std::memcpy(bytes.data(), inputs[i].data(), bytes.size());
    }
    return absl::OkStatus();
  }

  void TakeOutputs(const ::sgd::exec::Executor& executor, uint32_t rank) {
    for (size_t i = 0; i < executor.outputs().size(); ++i) {
      auto bytes = executor.outputs()[i].is_held ? executor.OutputBytes(i) : std::span<const std::byte>();
      outputs_[rank].emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  }

  void Fail(uint32_t rank, const absl::Status& status) {
    {
      std::lock_guard lock(mutex_);
      error_.Update(status);
    }
    job_->Abort(rank, status);
    for (const auto& host : hosts_) host->Abort(rank, status);
  }

  const ::sgd::artifact::ArtifactFile& file_;
  const std::vector<RankBytes>& inputs_;
  const RunOptions& options_;
  std::shared_ptr<::sgd::comm::SharedMemorySegment> job_;
  // Of ranks on several hosts.
  ::sgd::comm::Placement placement_;
  std::vector<std::shared_ptr<::sgd::comm::SharedMemorySegment>> hosts_;
  std::shared_ptr<::sgd::comm::MemoryNetwork> network_ = ::sgd::comm::MakeMemoryNetwork();
  std::mutex mutex_;
  absl::Status error_;
  std::vector<RankBytes> outputs_;  // by rank, each written by its own thread
};

/// That the stages' messages come to their ends on streams, and that no two touch the same bytes at once.
absl::Status checkStreams(const ::sgd::artifact::ArtifactFile& file) {
  namespace device = ::sgd::device;
  const std::vector<const ::sgd::artifact::Program*> programs = ::sgd::artifact::WholeOf(file.root(), "main").stages;
  std::vector<device::StreamPlan> plans;
  for (const ::sgd::artifact::Program* program : programs) {
    absl::StatusOr<device::StreamPlan> plan = device::PlanStreams(file.root(), *program);
    if (!plan.ok()) return plan.status();
    for (const device::StreamProblem& problem : device::CheckStreams(*program, *plan))
      return absl::InternalError(absl::StrCat("on streams, stage ", program->stage(), ": ", problem.text));
    plans.push_back(*std::move(plan));
  }
  std::vector<device::StageStreams> stages;
  for (size_t i = 0; i < plans.size(); ++i) stages.push_back({programs[i], &plans[i]});
  absl::Status status = device::CheckMessages(stages);
  return status.ok() ? status : absl::InternalError(status.message());
}

}  // namespace

absl::StatusOr<std::vector<RankBytes>> runOnRanks(std::string bytes, const std::vector<RankBytes>& inputs,
                                                  const RunOptions& options) {
  auto file = ::sgd::artifact::ArtifactFile::FromBytes(std::move(bytes), "test.sgda", {.name = options.plan});
  if (!file.ok()) return file.status();
  if (options.isEmulated && (*file)->StageOf(0) >= 0) {
    if (absl::Status status = checkStreams(**file); !status.ok()) return status;
  }
  return Job(**file, inputs, options).Run();
}

}  // namespace mlir::sgd::differential
