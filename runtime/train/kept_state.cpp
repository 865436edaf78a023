// The tensors of a checkpoint, in memory.
#include "runtime/train/kept_state.h"

#include <algorithm>
#include <utility>

#include "runtime/artifact/container.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/train/host_shares.h"

namespace sgd::train {

// As CarriedState::Tensors gives them.
std::vector<data::TensorSpec> StateSpecs(const Job& job) {
  std::vector<data::TensorSpec> specs;
  for (size_t i = 0; i < job.program.inputs.size(); ++i) {
    const data::InputType& input = job.program.inputs[i];
    if (!job.IsFed(i)) specs.push_back({input.name, input.type.element, input.type.global_dims});
  }
  return specs;
}

uint64_t StateBytes(const Job& job) {
  uint64_t bytes = 0;
  for (const data::TensorSpec& spec : StateSpecs(job)) {
    uint64_t of_tensor = 0;
    data::TensorBytes(spec.element, spec.dims, of_tensor);
    bytes += of_tensor;
  }
  return bytes;
}

checkpoint::TrainingPoint PointOf(const Job& job) {
  checkpoint::TrainingPoint point{.step = 0,
                                  .seed = job.seed,
                                  .program = job.program.name,
                                  .artifact_hash = artifact::HexHash(job.file->hash()),
                                  .mesh = {},
                                  .feed = job.feed_text,
                                  .carry = job.carry_hash};
  const auto* mesh = job.file->root().mesh();
  for (uint64_t i = 0; i < artifact::Size(mesh); ++i) {
    point.mesh.emplace_back(mesh->Get(i)->name()->str(), mesh->Get(i)->size());
  }
  return point;
}

namespace {

// The contents that SnapshotSaver puts there.
checkpoint::CopyLayout LayoutOfCopies(const Job& job) {
  checkpoint::CopyLayout layout;
  layout.first_rank = job.host.first;
  for (uint32_t rank = job.host.first; rank < job.host.first + job.host.count; ++rank) {
    layout.own.push_back(DividedOnHost(StateOf(job, rank), SharesOnHost(job, job.host, rank)));
    if (SendsPeerCopies(job)) layout.others.push_back(TensorsFromHostBefore(job, rank));
  }
  return layout;
}

}  // namespace

absl::Status MakeCopies(const RankRange& host, std::shared_ptr<checkpoint::SharedSnapshots> kept, Job& job) {
  const std::vector<data::TensorSpec> specs = StateSpecs(job);
  job.host = host;
  if (job.options.restarts != 0 || !job.options.resize.empty()) {
    checkpoint::CopyLayout layout = LayoutOfCopies(job);
    if (kept == nullptr || kept->layout() != layout || kept->specs() != specs) {
      absl::StatusOr<std::unique_ptr<checkpoint::SharedSnapshots>> made =
          checkpoint::SharedSnapshots::Create(specs, std::move(layout), PointOf(job));
      if (!made.ok()) return made.status();
      kept = *std::move(made);
    }
    job.snapshots = std::move(kept);
    if (std::string text = PeerCopiesText(job); !text.empty()) job.notes.push_back(std::move(text));
  }
  return absl::OkStatus();
}

uint64_t SnapshotEvery(const Job& job) {
  if (job.options.restarts == 0) return 0;
  if (job.options.peer_copies != 0) return job.options.peer_copies;
  if (job.options.peer_copies_by_cost) return 1;
  // Some milliseconds of copying for a step.
  constexpr uint64_t kBytesPerStep = uint64_t{64} << 20;
  return std::max<uint64_t>(1, StateBytes(job) / kBytesPerStep);
}

absl::Status SnapshotSaver::Save(uint64_t steps_done) {
  const absl::Time begin = SteadyNow();
  // No rank may overwrite a copy before all have what they were sent of the next one.
  if (is_sending_) {
    absl::Status status = FinishSending();
    if (status.ok()) status = options_.control.Barrier(options_.deadline);
    if (!status.ok()) return status;
  }
  const std::vector<checkpoint::LocalTensor> state = state_();
  absl::StatusOr<checkpoint::SharedSnapshot*> copy = snapshots_.Take(
      steps_done, options_.rank, state, {[this] { return options_.control.Poll(); }, options_.deadline});
  if (!copy.ok()) return copy.status();
  if (peers_ != nullptr) {
    if (absl::Status status = peers_->Send(steps_done, state, options_.rank, **copy); !status.ok()) return status;
    is_sending_ = true;
  }
  const absl::Duration stall = SteadyNow() - begin;
  if (absl::Status status = Judge(steps_done, stall); !status.ok()) return status;
  finish_at_ = steps_done + intervals_.every() - 1;
  return StepEnded(steps_done);
}

// With a step between, which every rank begins before any ends it, all have finished before the first fills a copy.
absl::Status SnapshotSaver::StepEnded(uint64_t steps_done) {
  return is_sending_ && steps_done >= finish_at_ ? FinishSending() : absl::OkStatus();
}

absl::Status SnapshotSaver::FinishSending() {
  is_sending_ = false;
  return peers_->Finish();
}

absl::Status SnapshotSaver::Judge(uint64_t steps_done, absl::Duration stall) {
  const absl::Duration sending = peers_ == nullptr ? absl::ZeroDuration() : peers_->duration();
  absl::StatusOr<bool> is_other =
      intervals_.Copied(steps_done, {.stall = stall, .sending = sending}, options_.control, options_.deadline);
  if (!is_other.ok()) return is_other.status();
  if (!*is_other || options_.note == nullptr) return absl::OkStatus();
  options_.note(intervals_.Text(peers_ == nullptr ? 0 : peers_->sent_bytes()));
  return absl::OkStatus();
}

}  // namespace sgd::train
