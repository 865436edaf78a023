// Puts the parts of a run together.
#include "runtime/train/run_modes.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/launch/interruption.h"
#include "runtime/train/checkpoint_saver.h"
#include "runtime/train/evaluator.h"
#include "runtime/train/host_shares.h"
#include "runtime/train/job_facts.h"
#include "runtime/train/kept_state.h"
#include "runtime/train/other_cores.h"
#include "runtime/train/step_guards.h"
#include "runtime/train/step_verifier.h"
#include "runtime/train/saved_copy.h"
#include "runtime/train/train_loop.h"
#include "runtime/train/training_guard.h"
#include "runtime/train/weights_saver.h"
#include "runtime/watch/places.h"
#include "runtime/watch/step_watch.h"
#include "runtime/watch/timed_agreements.h"

namespace sgd::train {
namespace {

absl::Status CheckBest(const RunOptions& options, const std::vector<std::string>& names) {
  if (options.keep.best.empty() || std::ranges::find(names, options.keep.best) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--keep best=", options.keep.best, ": the evaluation gives ",
                                                 names.empty() ? "nothing" : absl::StrJoin(names, ", "),
                                                 "; expected one of these"));
}

// This rank's part of what the ranks that share its copies put there together.
LocalState StateForCopies(const Session& session) {
  return [&session, shares = SharesOnHost(session.job(), session.job().host, session.rank().rank)] {
    return DividedOnHost(session.state().Tensors(), shares);
  };
}

// Null without --save. All are borrowed.
absl::StatusOr<std::unique_ptr<StateSaver>> MakeSaver(Session& session, comm::Agreements& ranks,
                                                      TrainObserver* observer) {
  const Job& job = session.job();
  const RunOptions& options = job.options;
  if (options.save.empty()) return nullptr;
  SavingOptions saving = {.directory = options.save,
                          .keep = options.keep,
                          .deadline = options.deadline,
                          .point = PointOf(job),
                          .group = job.save_group,
                          .total_bytes = StateBytes(job),
                          .level = checkpoint::ZstdLevel{options.save_zstd}};
  const auto state = [&session] { return session.state().Tensors(); };
  if (job.save_group.count > 1) {
    absl::Status status = CheckFolderIsShared(options.save, job.save_group, session.control(), options.deadline);
    if (!status.ok()) return status;
  }
  if (job.saved_copy == nullptr) return std::make_unique<CheckpointSaver>(std::move(saving), state, ranks, observer);
  return BackgroundSaver::Create(std::move(saving), *job.saved_copy, StateForCopies(session), session.control(),
                                 observer);
}

// As messages name this rank. Ranks of a stage run the same program; without stages all do.
watch::RankPlace PlaceOf(const Session& session) {
  const launch::RankContext& rank = session.rank();
  watch::RankPlace place{.host = watch::HostName(), .cores = "", .group = 0};
  if (session.context().stage() > 0) place.group = static_cast<uint32_t>(session.context().stage());
  if (session.has_streams()) {
    place.cores = absl::StrCat("GPU ", rank.local_rank);
  } else {
    place.cores = rank.cores.empty() ? watch::CoresOfThisThread() : watch::CoresText(rank.cores);
  }
  return place;
}

// Tells rank 0 which cores this rank could be moved to.
std::function<watch::OtherCores()> LookAtOtherCores(const Session& session) {
  const Job& job = session.job();
  if (job.replacements == nullptr || job.replacement.every == 0) return nullptr;
  const launch::RankContext& rank = session.rank();
  auto cores = std::make_shared<OtherCoresOfHost>(job.bound_cores, job.host.count, rank.local_rank, rank.threads);
  return [cores = std::move(cores)] { return cores->Look(SteadyNow()); };
}

// Reads what the first step would. All ranks call it.
absl::Status Check(Session& session, TrainObserver* observer) {
  if (absl::Status status = session.FillInputs(session.job().first_step); !status.ok()) return status;
  if (absl::Status status = session.control().Barrier(session.job().options.deadline); !status.ok()) return status;
  if (observer != nullptr) observer->Prepared();
  return absl::OkStatus();
}

absl::Status Evaluate(Session& session, Evaluator& evaluator, TrainObserver* observer) {
  absl::StatusOr<EvalMeans> means = evaluator.Evaluate();
  if (!means.ok()) return means.status();
  return observer == nullptr ? absl::OkStatus() : observer->Evaluated(session.job().first_step, *means);
}

}  // namespace

absl::Status WithSession(const Job& job, const launch::RankContext& rank, const SessionHooks& hooks,
                         trace::StartTimes& start, const std::function<absl::Status(Session&)>& body) {
  absl::StatusOr<std::unique_ptr<Session>> session =
      artifact::WithMemoryFor("the preparation of this rank", [&] { return Session::Create(job, rank, hooks, start); });
  if (!session.ok()) return session.status();
  const absl::Status status = artifact::WithMemoryFor("the steps of this rank", [&] { return body(**session); });
  if (launch::EndsWell(status)) return status;
  (*session)->communicator().EndJob(status);
  // Whoever frees memory of a device waits for what runs there, which may never end: the end of this process frees it.
  if ((*session)->IsBusy()) static_cast<void>(session->release());
  return status;
}

absl::Status RunOnce(Session& session) {
  if (absl::Status status = session.FillInputs(0); !status.ok()) return status;
  if (absl::Status status = session.Begin(0, /*carries=*/false); !status.ok()) return status;
  if (absl::Status status = session.End(); !status.ok()) return status;
  return session.job().options.outputs.empty() ? absl::OkStatus() : session.WriteOutputs();
}

absl::Status Train(Session& session, TrainObserver* observer) {
  const Job& job = session.job();
  const RunOptions& options = job.options;
  absl::StatusOr<std::unique_ptr<watch::StepWatch>> watch =
      watch::StepWatch::Create(session.control(), {.place = PlaceOf(session),
                                                   .measures_waits = !session.has_streams(),
                                                   .deadline = options.deadline,
                                                   .flight = session.flight(),
                                                   .delay = session.core_delay(),
                                                   .other_cores = LookAtOtherCores(session)});
  if (!watch.ok()) return watch.status();
  watch::TimedAgreements saving(session.control().beside());
  std::optional<Evaluator> evaluator;
  if (job.eval) evaluator.emplace(session);
  absl::Status best = CheckBest(options, evaluator ? evaluator->names() : std::vector<std::string>());
  if (!best.ok()) return best;
  absl::StatusOr<std::unique_ptr<StateSaver>> saver = MakeSaver(session, saving, observer);
  if (!saver.ok()) return saver.status();
  std::optional<WeightsSaver> weights;
  if (!options.save_weights.empty()) {
    weights.emplace(
        options.save_weights, options.deadline, [&] { return SelectWeights(job.program, session.state().Tensors()); },
        session.control().beside());
  }
  std::unique_ptr<PeerCopies> peers;
  if (HasPeerCopies(job)) {
    absl::StatusOr<std::unique_ptr<PeerCopies>> made =
        PeerCopies::Create(job, session.rank().rank, session.communicator());
    if (!made.ok()) return made.status();
    peers = *std::move(made);
  }
  std::optional<SnapshotSaver> snapshots;
  if (job.snapshots != nullptr) {
    SnapshotSaver::Options copying = {.rank = session.rank().rank - job.host.first,
                                      .every = std::max<uint64_t>(SnapshotEvery(job), 1),
                                      .by_cost = options.peer_copies_by_cost,
                                      .first_step = job.first_step,
                                      .control = session.control(),
                                      .deadline = options.deadline};
    if (observer != nullptr) copying.note = [observer](const std::string& text) { observer->Note(text); };
    snapshots.emplace(*job.snapshots, StateForCopies(session), peers.get(), std::move(copying));
  }
  std::optional<StragglerReplacer> replacer;
  if (job.replacements != nullptr) replacer.emplace(job.replacement, **watch, session.control(), *job.replacements);
  std::unique_ptr<StepVerifier> verifier;
  if (job.verification != nullptr) {
    absl::StatusOr<std::unique_ptr<StepVerifier>> made = StepVerifier::Create(session, observer);
    if (!made.ok()) return made.status();
    verifier = *std::move(made);
  }
  std::optional<TrainingGuard> guard;
  if (options.guard.is_on()) guard.emplace(session, observer, saver->get());
  std::vector<StepGuard*> watching;
  if (verifier != nullptr) watching.push_back(verifier.get());
  if (guard) watching.push_back(&*guard);
  StepGuards guards(watching);
  if (observer != nullptr) {
    if (absl::Status status = observer->Begun(FactsOf(job), **watch); !status.ok()) return status;
  }
  if (options.only_prepares || options.only_evaluates) {
    absl::Status status = options.only_prepares ? Check(session, observer) : Evaluate(session, *evaluator, observer);
    if (observer != nullptr) observer->Ended();
    return status;
  }
  absl::Status status = TrainLoop({.runner = session,
                                   .control = session.control(),
                                   .evaluator = evaluator ? &*evaluator : nullptr,
                                   .saver = saver->get(),
                                   .snapshots = snapshots ? &*snapshots : nullptr,
                                   .weights = weights ? &*weights : nullptr,
                                   .observer = observer,
                                   .guard = watching.empty() ? nullptr : &guards,
                                   .watch = watch->get(),
                                   .replacer = replacer ? &*replacer : nullptr,
                                   .saving = &saving},
                                  {.first_step = job.first_step,
                                   .steps = options.steps,
                                   .eval_every = options.eval_every,
                                   .save_every = options.save_every,
                                   .mtbf = options.mtbf,
                                   .snapshot_every = SnapshotEvery(job),
                                   .has_unsaved = job.has_unsaved,
                                   .writes_outputs = !options.outputs.empty(),
                                   .deadline = options.deadline})
                            .Run();
  if (observer != nullptr) observer->Ended();
  return status;
}

}  // namespace sgd::train
