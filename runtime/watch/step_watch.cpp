// A few clock readings and stores for each step; files of /proc a few times a second.
#include "runtime/watch/step_watch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/trace/json_log.h"
#include "runtime/trace/scalar.h"

namespace sgd::watch {
namespace {

constexpr int64_t kMemoryPause = 500'000'000;  // nanoseconds
constexpr int64_t kLookPause = 10'000'000;
constexpr int64_t kLookCostFactor = 500;
// Over a network: a message in so many nanoseconds, and at least as many steps as a rank's state holds between two.
constexpr int64_t kPublishPause = 20'000'000;
constexpr uint64_t kPublishEvery = RankState::kSamples / 2;
constexpr uint64_t kMostPublishEvery = 1 << 20;

float Seconds(absl::Duration duration) { return static_cast<float>(absl::ToDoubleSeconds(duration)); }

// Resident set of this process; 0 where /proc does not say.
uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long long total = 0, resident = 0;
  const bool is_read = std::fscanf(file, "%llu %llu", &total, &resident) == 2;
  std::fclose(file);
  return is_read ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

constexpr char kSeparator = '\n';

std::string Encode(const RankPlace& place) {
  return absl::StrCat(place.group, std::string(1, kSeparator), place.host, std::string(1, kSeparator), place.cores);
}

absl::StatusOr<RankPlace> Decode(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits(kSeparator, 2));
  RankPlace place;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &place.group))
    return absl::InternalError("a rank sent no place; start all ranks with the same sgdrun");
  place.host = parts[1];
  place.cores = parts[2];
  return place;
}

}  // namespace

std::optional<RankState> RankState::Of(std::string_view bytes) {
  RankState state;
  if (bytes.size() != sizeof(state)) return std::nullopt;
  std::memcpy(&state, bytes.data(), sizeof(state));
  return state;
}

absl::StatusOr<std::unique_ptr<StepWatch>> StepWatch::Create(comm::Control& control, const WatchOptions& options) {
  static_assert(sizeof(RankState) <= comm::Control::kMostPublished);
  auto watch = std::unique_ptr<StepWatch>(new StepWatch(control, options));
  absl::StatusOr<std::vector<std::string>> all = control.AllGatherBytes(Encode(options.place), options.deadline);
  if (!all.ok()) return all.status();
  std::vector<uint32_t> groups;
  for (const std::string& text : *all) {
    absl::StatusOr<RankPlace> place = Decode(text);
    if (!place.ok()) return place.status();
    if (place->group >= all->size()) return absl::InternalError("a rank sent a group that the job does not have");
    groups.push_back(place->group);
    watch->places_.push_back(*std::move(place));
  }
  if (control.rank() == 0 && options.measures_waits && control.size() > 1) watch->finder_.emplace(groups);
  if (control.spans_hosts()) watch->publish_every_ = kPublishEvery;
  return watch;
}

void StepWatch::StepEnded(uint64_t step, absl::Duration total, absl::Duration communication) {
  StepSample& sample = state_.samples[state_.steps % RankState::kSamples];
  sample = {.step = static_cast<uint32_t>(step),
            .compute = Seconds(std::max(absl::ZeroDuration(), total - communication)),
            .wait = Seconds(communication),
            .input = Seconds(std::exchange(input_, absl::ZeroDuration())),
            .checkpoint = Seconds(std::exchange(checkpoint_, absl::ZeroDuration()))};
  if (options_.delay != nullptr) {
    sample.delay = Seconds(options_.delay->Take());
    sample.on_core = std::min(Seconds(options_.delay->TakeOnCore()), sample.own());
  }
  ++state_.steps;
  Publish();
}

// Ranks that choose the same number of steps publish the same ones.
void StepWatch::Publish() {
  if (state_.steps % publish_every_ != 0) return;
  const int64_t now = SteadyNanoseconds();
  if (now >= next_memory_) {
    state_.resident_bytes = ResidentBytes();
    if (options_.other_cores) state_.other_cores = options_.other_cores();
    next_memory_ = now + kMemoryPause;
  }
  if (control_.spans_hosts()) {
    const bool is_often = last_publish_ != 0 && now - last_publish_ < kPublishPause;
    const bool is_seldom = now - last_publish_ > 4 * kPublishPause;
    if (is_often && publish_every_ < kMostPublishEvery) publish_every_ *= 2;
    if (is_seldom && publish_every_ > kPublishEvery) publish_every_ /= 2;
    last_publish_ = now;
  }
  control_.Publish(comm::Control::Board::kSteps, state_.bytes());
}

void StepWatch::Saved(absl::Duration stall, absl::Duration waited) {
  checkpoint_ += std::max(absl::ZeroDuration(), stall - waited);
  ++state_.checkpoints;
  state_.stalled_seconds += absl::ToDoubleSeconds(stall);
}

std::vector<Straggler> StepWatch::FindStragglers() {
  if (!finder_) return {};
  const int64_t begin = SteadyNanoseconds();
  if (begin < next_look_) return {};
  for (uint32_t rank = 0; rank < places_.size(); ++rank) {
    const std::optional<RankState> state = StateOf(rank);
    for (size_t i = 0; state && i < state->known(); ++i) finder_->Add(rank, state->Sample(i));
  }
  const int64_t end = SteadyNanoseconds();
  // The least so far: a look may have been interrupted.
  look_cost_ = std::min(look_cost_, end - begin);
  next_look_ = end + std::max(kLookPause, look_cost_ * kLookCostFactor);
  return finder_->Take();
}

namespace {

std::string ReplacedJson(const Straggler& straggler) {
  if (!straggler.has_lasted) return "";
  if (straggler.is_replaced) return ", \"replaced\": true";
  return absl::StrCat(", \"replaced\": false, \"reason\": ", trace::JsonString(straggler.reason));
}

std::string Advice(const Straggler& straggler) {
  if (straggler.has_lasted && straggler.is_replaced) return "its process is started again elsewhere";
  if (straggler.has_lasted) return absl::StrCat("it is not replaced: ", straggler.reason);
  switch (straggler.cause) {
    case StragglerCause::kCompute:
      return straggler.lacks_cores ? "other processes run on its cores; end or move them"
                                   : "it computes more slowly than its peers; look at clock rate, cooling and load";
    case StragglerCause::kInput:
      return "its inputs are filled more slowly than its peers'; look at the disk that holds the data";
    case StragglerCause::kCheckpoint:
      return "it saves more slowly than its peers; look at the disk of --save, or save less often";
  }
  return "";
}

}  // namespace

std::string StragglerJson(const Straggler& straggler, const RankPlace& place) {
  return absl::StrCat("{\"event\": \"straggler\", \"rank\": ", straggler.rank,
                      ", \"host\": ", trace::JsonString(place.host), ", \"cores\": ", trace::JsonString(place.cores),
                      ", \"step\": ", straggler.step, ", \"ms\": ", trace::NumberJson(straggler.seconds * 1e3),
                      ", \"percent\": ", trace::NumberJson(straggler.share * 100), ", \"cause\": \"",
                      CauseName(straggler.cause), "\"", straggler.lacks_cores ? ", \"lacks_cores\": true" : "",
                      ReplacedJson(straggler), "}");
}

std::string StragglerText(const Straggler& straggler, const RankPlace& place) {
  return absl::StrCat(
      "rank ", straggler.rank, " (host ", place.host, ", ", place.cores, ") ",
      straggler.has_lasted ? "still holds up the others in step " : "holds up the others since about step ",
      straggler.step, ": ", absl::StrFormat("%.3g ms, %.0f %%", straggler.seconds * 1e3, straggler.share * 100),
      " of each step; ", Advice(straggler));
}

}  // namespace sgd::watch
