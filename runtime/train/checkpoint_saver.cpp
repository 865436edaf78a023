// All ranks save; rank 0 removes.
#include "runtime/train/checkpoint_saver.h"

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/save.h"
#include "runtime/clock/cpu_time.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::train {
namespace {

void NoteRemoval(const absl::Status& status, TrainObserver* observer) {
  if (!status.ok() && observer != nullptr) observer->Note(absl::StrCat("--keep: ", status.message()));
}

std::string SetAside(const std::string& directory, uint64_t steps_done) {
  const absl::StatusOr<std::string> path = checkpoint::SetAside(directory, steps_done);
  const std::string cause = absl::StrCat("the checkpoint after ", steps_done, " steps may hold the fault");
  if (path.ok()) return path->empty() ? "" : absl::StrCat(cause, ", and is now ", *path);
  return absl::StrCat(cause, "; remove it: ", path.status().message());
}

}  // namespace

std::string CheckpointSaver::Doubt(uint64_t steps_done) {
  return ranks_.rank() == 0 ? SetAside(options_.directory, steps_done) : "";
}

absl::Status CheckpointSaver::Save(uint64_t steps_done) {
  const absl::Time begin = SteadyNow();
  const absl::Duration cpu_before = ThreadCpuTime();
  checkpoint::TrainingPoint point = options_.point;
  point.step = steps_done;
  uint64_t bytes = 0;
  const std::vector<checkpoint::LocalTensor> state = state_();
  for (const checkpoint::LocalTensor& tensor : state) bytes += tensor.shard.global_bytes();
  absl::Status status = checkpoint::Save(options_.directory, point, state, ranks_, options_.deadline, options_.level);
  stall_ = SteadyNow() - begin;
  if (!status.ok() || ranks_.rank() != 0) return status;
  NoteRemoval(checkpoint::RemoveOthers(options_.directory, options_.keep), observer_);
  stall_ = SteadyNow() - begin;
  return observer_ == nullptr
             ? absl::OkStatus()
             : observer_->Saved({steps_done, stall_, stall_, ThreadCpuTime() - cpu_before, bytes, std::nullopt});
}

absl::StatusOr<std::unique_ptr<BackgroundSaver>> BackgroundSaver::Create(SavingOptions options,
                                                                         checkpoint::SharedSnapshot& copy,
                                                                         LocalState state, comm::Control& control,
                                                                         TrainObserver* observer) {
  auto saver = std::unique_ptr<BackgroundSaver>(
      new BackgroundSaver(std::move(options), copy, std::move(state), control, observer));
  const SavingOptions& own = saver->options_;
  const SaveGroup group = own.group;
  if (control.rank() != group.first_rank) return saver;
  using Board = comm::Control::Board;
  absl::StatusOr<std::unique_ptr<checkpoint::BackgroundSaves>> saves = checkpoint::BackgroundSaves::Start(
      copy,
      {.directory = own.directory,
       .keep = own.keep,
       .level = own.level,
       .shared = {.index = group.index,
                  .count = group.count,
                  .total_bytes = own.total_bytes,
                  .tell = [&control](const std::string& text) { return control.Publish(Board::kSaves, text); },
                  // Groups are equal, and the first one begins with rank 0.
                  .told = [&control, group](
                              uint32_t index) { return control.PublishedBy(Board::kSaves, index * group.ranks); }}});
  if (!saves.ok()) return saves.status();
  saver->saves_ = *std::move(saves);
  return saver;
}

absl::Status BackgroundSaver::Save(uint64_t steps_done) {
  const absl::Time begin = SteadyNow();
  absl::Status status = copy_.WaitUntilReleased(steps_done, {[this] { return control_.Poll(); }, options_.deadline});
  if (!status.ok()) return status;
  TellEnded();
  if (options_.group.count == 1) {
    copy_.Fill(steps_done, state_());
  } else {
    copy_.FillPieces(steps_done, control_.rank(), state_());
  }
  if (saves_ != nullptr) {
    checkpoint::TrainingPoint point = options_.point;
    point.step = steps_done;
    saves_->Save(std::move(point));
  }
  stall_ = SteadyNow() - begin;
  return absl::OkStatus();
}

absl::Status BackgroundSaver::Tell(const checkpoint::SaveOutcome& outcome) {
  NoteRemoval(outcome.removal, observer_);
  if (!outcome.status.ok() || observer_ == nullptr) return outcome.status;
  const bool is_compressed = options_.level != checkpoint::kNotCompressed;
  return observer_->Saved({outcome.steps_done, stall_, outcome.duration, outcome.cpu, outcome.bytes,
                           is_compressed ? std::optional(outcome.bytes_on_disk) : std::nullopt});
}

void BackgroundSaver::TellEnded() {
  if (saves_ == nullptr) return;
  for (const checkpoint::SaveOutcome& outcome : saves_->TakeEnded()) {
    last_ = Tell(outcome);
    if (last_.ok() || observer_ == nullptr) continue;
    observer_->Note(absl::StrCat("the checkpoint after ", outcome.steps_done,
                                 " steps is not saved, and steps go on: ", last_.message()));
  }
}

absl::Status BackgroundSaver::Finish() {
  if (saves_ == nullptr) return absl::OkStatus();
  if (absl::Status ended = saves_->Finish([this] { return control_.Poll(); }); !ended.ok()) return ended;
  for (const checkpoint::SaveOutcome& outcome : saves_->TakeEnded()) last_ = Tell(outcome);
  return last_;
}

std::string BackgroundSaver::Doubt(uint64_t steps_done) {
  if (saves_ == nullptr) return "";
  // That a save fails is told where it ends.
  saves_->Finish([this] { return control_.Poll(); }).IgnoreError();
  return control_.rank() == 0 ? SetAside(options_.directory, steps_done) : "";
}

}  // namespace sgd::train
