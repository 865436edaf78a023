// Runs of sgdrun on ranks of this process: its flags, its loop, its files; lines of its log go to a function.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "python/module/errors.h"
#include "python/module/interruptible.h"
#include "python/module/lost_ranks.h"
#include "python/module/parts.h"
#include "runtime/artifact/bundle.h"
#include "runtime/launch/interruption.h"
#include "runtime/launch/resident_ranks.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/start_times.h"
#include "runtime/trace/step_line.h"
#include "runtime/train/claimed_outputs.h"
#include "runtime/train/job_outputs.h"
#include "runtime/train/rank_device.h"
#include "runtime/train/run_modes.h"
#include "targets/cpu/device/cpu_device.h"
#include "tools/sgdrun/options.h"
#include "tools/sgdrun/run_text.h"

namespace sgd::python {
namespace {

namespace nb = nanobind;
using sgdrun::Options;

// Lines for Python, from the threads of ranks.
class Lines {
 public:
  void Add(std::string text, bool is_note) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({std::move(text), is_note});
  }
  // With the interpreter's lock.
  void Deliver(const nb::callable& log, const nb::callable& note) {
    std::vector<Line> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(lines_);
    }
    for (const Line& line : taken) (line.is_note ? note : log)(line.text.c_str());
  }

 private:
  struct Line {
    std::string text;
    bool is_note;
  };
  std::mutex mutex_;
  std::vector<Line> lines_;
};

class LineObserver : public train::TrainObserver {
 public:
  explicit LineObserver(Lines& lines) : lines_(lines) {}
  // Before the first step: whose outputs the lines name.
  void SetJob(const train::Job& job) { columns_.emplace(job); }

  absl::Status StepEnded(const trace::StepRecord& step, const train::EvalMeans* eval) override {
    lines_.Add(trace::StepLine(step, eval, columns_->Json(step)), /*is_note=*/false);
    return absl::OkStatus();
  }
  absl::Status Saved(const train::SaveRecord& save) override {
    lines_.Add(trace::SavedJson(save.steps_done, save.stall, save.duration, save.cpu, save.bytes, save.bytes_on_disk),
               /*is_note=*/false);
    return absl::OkStatus();
  }
  absl::Status Event(const std::string& json) override {
    lines_.Add(json, /*is_note=*/false);
    return absl::OkStatus();
  }
  void Stopped(const train::StopRecord&) override {}
  void Note(const std::string& text) override { lines_.Add(text, /*is_note=*/true); }

 private:
  Lines& lines_;
  std::optional<sgdrun::OutputColumns> columns_;
};

// Flags of launchers, terminals and restarts belong to the command.
absl::Status CheckFlags(const Options& options) {
  const std::pair<const char*, bool> command_only[] = {
      {"-n", options.rank_flags.ranks || options.rank_flags.nodes || options.rank_flags.rank},
      {"--log-json", !options.log_json.empty()},
      {"--live", options.live},
      {"--metrics", !options.metrics.empty()},
      {"--metrics-port", options.metrics_port != 0},
      {"--flight-recorder", !options.flight_recorder.empty()},
      {"--profile", !options.profile.empty()},
      {"--trace", !options.trace.empty()},
      {"--restarts", options.run.restarts != 0},
      {"--resize", !options.run.resize.empty()},
      {"--replace-stragglers", options.run.replace_every != 0},
      {"--verify", options.run.verify.steps != 0},
      {"--eval-only", options.run.only_evaluates},
      {"--steps 0", options.run.only_prepares},
      {"--measure-topology", !options.measured_topology.empty()},
      {"--topology", options.shows_topology},
      {"--save-every auto", options.saves_by_cost}};
  for (const auto& [name, is_given] : command_only) {
    if (!is_given) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is for ranks that are processes; leave it out, or run the saved artifact with sgdrun"));
  }
  return absl::OkStatus();
}

// A run from start to end, on a thread without Python. Ranks that do not return share it.
class TrainingRun : public std::enable_shared_from_this<TrainingRun> {
 public:
  TrainingRun(std::string plan, Options options) : plan_(std::move(plan)), options_(std::move(options)) {}

  absl::Status Run(const artifact::Bundle& bundle) {
    auto file = bundle.Load({.name = plan_});
    if (!file.ok()) return file.status();
    window_bytes_ = train::HostWindowBytes(**file);
    absl::StatusOr<train::Job> prepared = train::PrepareJob(options_.run, *std::move(file));
    if (!prepared.ok()) return prepared.status();
    job_.emplace(*std::move(prepared));
    observer_.SetJob(*job_);
    absl::StatusOr<train::ClaimedOutputs> claimed = train::ClaimedOutputs::Claim(options_.run);
    if (!claimed.ok()) return claimed.status();
    if (absl::Status status = train::CheckOutputs(*job_); !status.ok()) return status;
    for (const std::string& note : job_->notes) lines_.Add(note, /*is_note=*/true);
    for (const std::string& note : claimed->notes()) lines_.Add(note, /*is_note=*/true);
    const absl::Status status = RunRanks();
    if (!launch::EndsWell(status)) claimed->CleanUp();
    return status;
  }

  // Any thread. The first time, ranks stop after their step and save their state; after that they end at once.
  void Interrupt(int times) {
    const std::lock_guard lock(mutex_);
    is_interrupted_ = true;
    if (resident_job_ == nullptr) return;
    if (times == 1) {
      resident_job_->RequestStop(SIGINT);
    } else {
      resident_job_->Abort(absl::CancelledError("interrupted"));
    }
  }
  Lines& lines() { return lines_; }

 private:
  absl::Status RunRanks() {
    auto started = launch::ResidentRanks::Start(
        static_cast<uint32_t>(job_->file->ranks()),
        {.threads = options_.threads, .comm_thread = options_.comm_thread, .deadline = options_.run.deadline});
    if (!started.ok()) return started.status();
    const std::shared_ptr<launch::ResidentRanks> ranks = *std::move(started);
    const absl::Status status = RunOn(*ranks);
    KeepWhileLost(ranks);
    return status;
  }

  absl::Status RunOn(launch::ResidentRanks& ranks) {
    auto opened = ranks.Open(window_bytes_);
    if (!opened.ok()) return opened.status();
    {
      const std::lock_guard lock(mutex_);
      if (is_interrupted_) return launch::Interrupted();
      resident_job_ = opened->get();
    }
    const absl::Status status =
        (*opened)->Run([self = shared_from_this()](launch::RankContext& rank) { return self->RunRank(rank); });
    const std::lock_guard lock(mutex_);
    resident_job_ = nullptr;
    return status;
  }

  absl::Status RunRank(const launch::RankContext& rank) {
    trace::StartTimes start(trace::MonotonicNanoseconds());
    const train::SessionHooks hooks{
        .open_cpu = [](const launch::RankContext& rank) -> absl::StatusOr<std::unique_ptr<device::Device>> {
          return cpu::CpuDevice::Create(
              {.threads = rank.threads, .cores = rank.cores, .shares_cores = rank.shares_cores});
        },
        .note = [this](const std::string& text) { lines_.Add(text, /*is_note=*/true); }};
    return train::WithSession(*job_, rank, hooks, start, [&](train::Session& session) {
      if (options_.run.mode != train::Mode::kTrain) return train::RunOnce(session);
      return train::Train(session, session.is_first_rank() ? &observer_ : nullptr);
    });
  }

  const std::string plan_;
  const Options options_;
  uint64_t window_bytes_ = 0;
  std::optional<train::Job> job_;
  Lines lines_;
  LineObserver observer_{lines_};
  std::mutex mutex_;
  launch::ResidentJob* resident_job_ = nullptr;  // while ranks run
  bool is_interrupted_ = false;
};

void Train(const artifact::Bundle& bundle, const std::string& plan, const std::vector<std::string>& flags,
           const nb::callable& log, const nb::callable& note) {
  std::vector<const char*> arguments = {"sgdrun", bundle.path().c_str()};
  for (const std::string& flag : flags) arguments.push_back(flag.c_str());
  std::variant<Options, tools::Leave> parsed =
      sgdrun::ParseOptions(static_cast<int>(arguments.size()), arguments.data());
  if (const auto* leave = std::get_if<tools::Leave>(&parsed))
    Throw(absl::InvalidArgumentError(absl::StripSuffix(leave->text, "\n")));
  auto& options = std::get<Options>(parsed);
  Check(CheckFlags(options));
  const auto run = std::make_shared<TrainingRun>(plan, std::move(options));
  absl::Status status;
  Check(RunInterruptibly([&] { status = run->Run(bundle); }, [&](int times) { run->Interrupt(times); },
                         [&] { run->lines().Deliver(log, note); }));
  Check(status);
}

}  // namespace

void BindTraining(nb::module_& module) {
  module.def(
      "train", &Train, nb::arg("bundle"), nb::arg("plan"), nb::arg("flags"), nb::arg("log"), nb::arg("note"),
      "Runs sgdrun's flags on ranks of this process; calls log with each line of --log-json, note with messages.");
}

}  // namespace sgd::python
