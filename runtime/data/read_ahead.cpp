// A ring of batches: the thread fills the next free one, Take empties the oldest.
#include "runtime/data/read_ahead.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/thread/spawn_thread.h"

namespace sgd::data {
namespace {

constexpr uint64_t kMostBytes = uint64_t{64} << 20;
constexpr uint64_t kFewestBatches = 2, kMostBatches = 32;
constexpr uint64_t kAnnounced = 4;       // batches behind the one that is read
constexpr uint64_t kAnnouncedFor = 256;  // batches behind one whose reads were slow
constexpr absl::Duration kFastRead = absl::Microseconds(20);
constexpr size_t kMostNotes = 20;

std::string Seconds(absl::Duration time) { return absl::StrFormat("%.1f s", absl::ToDoubleSeconds(time)); }

}  // namespace

struct ReadAhead::State {
  State(std::shared_ptr<const Feed> feed, std::vector<Input> inputs, const Options& options)
      : feed(std::move(feed)),
        inputs(std::move(inputs)),
        watch(options.slow,
              [this](const std::string& path, uint64_t bytes, absl::Duration time) {
                Note(absl::StrCat(path, ": reading ", bytes, " bytes of it took ", Seconds(time)));
              }),
        next_read(options.first_step),
        next_taken(options.first_step),
        end_step(options.end_step) {}

  // Called by the thread, without the mutex.
  absl::Status ReadBatch(uint64_t step, uint64_t end_step) {
    Announce(step, end_step);
    const absl::Time begin = SteadyNow();
    const uint64_t reads_before = watch.total().reads;
    std::vector<std::vector<std::byte>>& batch = batches[step % batches.size()];
    for (size_t i = 0; i < inputs.size(); ++i) {
      absl::Status status = feed->Fill(step, inputs[i].number, inputs[i].shard, batch[i], watch);
      if (!status.ok()) return status;
    }
    const uint64_t reads = watch.total().reads - reads_before;
    if (reads > 0 && SteadyNow() - begin > static_cast<double>(reads) * kFastRead)
      announced_until = step + kAnnouncedFor;
    return absl::OkStatus();
  }

  // Only where reads wait for a disk: of files in the system's memory, to announce takes longer than to read.
  void Announce(uint64_t step, uint64_t end_step) {
    if (step >= announced_until) return;
    announced = std::max(announced, step + 1);
    for (; announced < std::min(step + 1 + kAnnounced, end_step); ++announced) {
      for (const Input& input : inputs) feed->Announce(announced, input.number, input.shard);
    }
  }

  void Jump(uint64_t step) {
    const std::lock_guard lock(mutex);
    if (step == next_taken && step < end_step) return;
    ++jumps;
    next_read = next_taken = step;
    end_step = std::max(end_step, step + 1);
    status = absl::OkStatus();
    changed.notify_all();
  }

  // Batches that are kept.
  uint64_t ahead() const { return next_read - next_taken; }

  void Note(std::string text) {
    const std::lock_guard lock(mutex);
    if (noted++ < kMostNotes) notes.push_back(std::move(text));
  }

  const std::shared_ptr<const Feed> feed;
  const std::vector<Input> inputs;
  std::vector<std::vector<std::vector<std::byte>>> batches;  // by step modulo their number, by input

  // Of the thread alone.
  uint64_t announced_until = 0, announced = 0;  // steps
  ReadWatch watch;

  std::mutex mutex;  // of all below
  std::condition_variable changed;
  uint64_t next_read, next_taken, end_step;
  bool fills = true;    // until all batches are full, then not before half of them are empty
  uint64_t jumps = 0;   // how often another step was asked for than the next one
  absl::Status status;  // why the batch of `next_read` cannot be had
  bool ends = false, has_ended = false;
  std::vector<std::string> notes;
  size_t noted = 0;
};

absl::StatusOr<std::unique_ptr<ReadAhead>> ReadAhead::Start(std::shared_ptr<const Feed> feed, std::vector<Input> inputs,
                                                            const Options& options) {
  auto state = std::make_shared<State>(std::move(feed), std::move(inputs), options);
  uint64_t bytes = 0;
  for (const Input& input : state->inputs) bytes += input.shard.local_bytes();
  const uint64_t fit = bytes == 0 ? kMostBatches : kMostBytes / bytes;
  state->batches.resize(std::clamp(fit, kFewestBatches, kMostBatches));
  for (auto& batch : state->batches) {
    for (const Input& input : state->inputs) batch.emplace_back(input.shard.local_bytes());
  }
  auto ahead = std::unique_ptr<ReadAhead>(new ReadAhead(state, options));
  absl::StatusOr<std::thread> thread = SpawnThread("reading data ahead", [state] { Run(*state); });
  if (!thread.ok()) return thread.status();
  ahead->thread_ = *std::move(thread);
  return ahead;
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
  const bool has_ended = state_->changed.wait_for(lock, std::chrono::seconds(1), [&] { return state_->has_ended; });
  lock.unlock();
  if (has_ended)
    thread_.join();
  else
    thread_.detach();
}

uint64_t ReadAhead::buffer_bytes() const {
  uint64_t bytes = 0;
  for (const Input& input : state_->inputs) bytes += input.shard.local_bytes();
  return bytes * state_->batches.size();
}

void ReadAhead::Run(State& state) {
  std::unique_lock lock(state.mutex);
  while (true) {
    state.changed.wait(lock, [&] {
      if (state.ahead() <= state.batches.size() / 2) state.fills = true;
      if (state.ahead() >= state.batches.size()) state.fills = false;
      return state.ends || (state.status.ok() && state.next_read < state.end_step && state.fills);
    });
    if (state.ends) break;
    const uint64_t step = state.next_read, end_step = state.end_step, jumps = state.jumps;
    lock.unlock();
    absl::Status status = artifact::WithMemoryFor("a batch of data", [&] { return state.ReadBatch(step, end_step); });
    lock.lock();
    if (state.jumps != jumps) continue;
    state.status = status;
    if (status.ok()) ++state.next_read;
    state.changed.notify_all();
  }
  state.has_ended = true;
  state.changed.notify_all();
}

void ReadAhead::DeliverNotes() {
  std::vector<std::string> notes;
  {
    const std::lock_guard lock(state_->mutex);
    notes.swap(state_->notes);
  }
  for (const std::string& note : notes) {
    if (options_.note) options_.note(note);
  }
}

absl::Status ReadAhead::AwaitBatch(uint64_t step) {
  const absl::Time begin = SteadyNow();
  bool has_noted = false;
  std::unique_lock lock(state_->mutex);
  const auto is_there = [&] { return state_->next_read > step || !state_->status.ok(); };
  while (!is_there()) {
    const absl::Duration waited = SteadyNow() - begin;
    const auto reading = waited >= options_.slow ? state_->watch.current() : std::nullopt;
    const std::string file = reading ? absl::StrCat(reading->path, ": ") : "";
    if (waited >= options_.deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat(file, "the data of step ", step, " was not there after ", Seconds(waited),
                       "; see whether its disk or server answers, or set a longer --deadline"));
    }
    if (waited >= options_.slow && !has_noted) {
      has_noted = true;
      lock.unlock();
      if (options_.note)
        options_.note(absl::StrCat(file, "step ", step, " has waited ", Seconds(waited), " for its data so far"));
      lock.lock();
      continue;
    }
    const absl::Duration next =
        (has_noted || options_.slow > options_.deadline ? options_.deadline : options_.slow) - waited;
    state_->changed.wait_for(lock, absl::ToChronoNanoseconds(std::max(next, absl::Milliseconds(1))), is_there);
  }
  return state_->next_read > step ? absl::OkStatus() : state_->status;
}

absl::Status ReadAhead::Take(uint64_t step, std::span<const std::span<std::byte>> targets) {
  state_->Jump(step);
  absl::Status status = AwaitBatch(step);
  DeliverNotes();
  if (!status.ok()) return status;
  const std::vector<std::vector<std::byte>>& batch = state_->batches[step % state_->batches.size()];
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i].empty()) std::memcpy(targets[i].data(), batch[i].data(), batch[i].size());
  }
  const std::lock_guard lock(state_->mutex);
  ++state_->next_taken;
  // To wake the thread takes longer than to copy a small batch, and it may run on the core of this one.
  if (state_->ahead() <= state_->batches.size() / 2) state_->changed.notify_all();
  return absl::OkStatus();
}

}  // namespace sgd::data
