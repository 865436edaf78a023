// Flips bits of the state of one rank, one in each run: the guard must name the rank, the tensor and the step of each.
//
//   sgd-flip-bits ARTIFACT DATA FLIPS SEED EVERY between|within|unchecked|summand|sum
//
// Between: while the state is at rest behind a check. Within: as the step behind a check begins. Unchecked: as a later
// step begins. Sum: of a gradient over ranks, as one rank has got it in a later step. Summand: of the rank itself.
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/train/job.h"
#include "tests/runtime/train/flipped_training.h"

namespace sgd::train {
namespace {

class Silent : public TrainObserver {
 public:
  absl::Status StepEnded(const trace::StepRecord& step, const EvalMeans*) override {
    losses.push_back(step.loss ? trace::AsDouble(*step.loss) : 0);
    return absl::OkStatus();
  }
  void Stopped(const StopRecord&) override {}
  void Note(const std::string&) override {}
  absl::Status Event(const std::string& json) override {
    event = json;
    return absl::OkStatus();
  }
  std::vector<double> losses;
  std::string event;
};

struct Arguments {
  std::string artifact, data;
  uint64_t flips = 0, seed = 0, every = 0;
  bool is_within = false;
  bool is_unchecked = false;  // as a step begins that no check precedes, so that replicas alone show it
  std::optional<GradientPart> gradient;
};

absl::StatusOr<Job> Prepare(const Arguments& arguments) {
  RunOptions options;
  options.artifact = arguments.artifact;
  options.data = {arguments.data};
  options.mode = Mode::kTrain;
  options.steps = 3 * arguments.every;
  options.deadline = absl::Seconds(60);
  options.guard.every = arguments.every;
  auto file = artifact::ArtifactFile::Open(options.artifact);
  if (!file.ok()) return file.status();
  return PrepareJob(options, *std::move(file));
}

// A bit of an element of a tensor that is carried, before one of the steps behind a check.
Flip DrawFlip(const Job& job, const Arguments& arguments, std::mt19937_64& random) {
  Flip flip{.rank = static_cast<uint32_t>(random() % job.file->ranks()), .is_within = arguments.is_within};
  flip.step = arguments.every * (1 + random() % 2) + (arguments.is_unchecked ? 1 : 0);
  flip.gradient = arguments.gradient;
  if (flip.gradient) {
    flip.input = random(), flip.bit = random();
    return flip;
  }
  flip.input = job.carry[random() % job.carry.size()].second;
  const data::Shard shard(job.program.inputs[flip.input].type, data::MeshOf(job.file->root()), flip.rank);
  flip.bit = random() % (8 * shard.local_bytes());
  return flip;
}

// The guard finds that the memory has changed before a step wrote it, or, of state that steps update in place, a
// replica that differs at the next check.
std::string FaultOf(const Job& job, const Arguments& arguments, const Flip& flip, const absl::Status& status,
                    const std::string& event) {
  const std::string name = flip.gradient ? "a gradient" : ShortName(job.program.inputs[flip.input].name);
  const std::string rank = absl::StrCat("{\"event\": \"guard\", \"rank\": ", flip.rank, ", \"tensor\": \"");
  const auto what = [](uint64_t step, const char* cause) {
    return absl::StrCat("\"step\": ", step, ", \"cause\": \"", cause, "\"");
  };
  const bool is_changed = absl::StartsWith(event, absl::StrCat(rank, name, "\", ", what(flip.step - 1, "memory")));
  // What is computed from the tensor differs too.
  const bool is_replica =
      absl::StartsWith(event, rank) && absl::StrContains(event, absl::StrCat("\"", name, "\"")) &&
      absl::StrContains(event, what(flip.step - flip.step % arguments.every + arguments.every - 1, "replicas"));
  const bool is_found = is_changed || (flip.is_within && is_replica);
  if (status.code() == absl::StatusCode::kDataLoss && is_found) return "";
  return absl::StrCat("rank ", flip.rank, ", ", name, ", bit ", flip.bit, ", before step ", flip.step, ": ",
                      std::string(status.message()), "\n  ", event);
}

// Found: with rank, tensor and step. Device: the guard says that a device is at fault, but not which. Data: it blames
// the data, as all ranks have made the same of the bit, and a check has passed. Gone: no bit of the state behind the
// step is another one. Silent: some are, and nothing is said.
enum class Verdict : uint8_t { kFound, kDevice, kData, kGone, kSilent, kWrong };
constexpr const char* kVerdicts[] = {"found", "device", "data", "gone", "silent", "wrong"};

std::set<std::string> TensorsIn(const nlohmann::json& event) {
  std::set<std::string> tensors;
  if (event.contains("tensor")) tensors.insert(event["tensor"]);
  if (event.contains("other_tensors")) tensors.insert(event["other_tensors"].begin(), event["other_tensors"].end());
  return tensors;
}

// Tensors that have other bytes on some rank behind the step than without a flip.
std::set<std::string> Changed(const Job& job, uint64_t step, const StateSums& sums, const StateSums& untouched) {
  std::set<std::string> tensors;
  for (size_t rank = 0; rank < sums.size(); ++rank) {
    for (size_t i = 0; i < job.carry.size(); ++i) {
      if (sums[rank][step][i] != untouched[rank][step][i])
        tensors.insert(ShortName(job.program.inputs[job.carry[i].second].name));
    }
  }
  return tensors;
}

Verdict JudgeGradient(const Flip& flip, const std::set<std::string>& changed, const absl::Status& status,
                      const std::string& text) {
  if (status.ok()) return changed.empty() ? Verdict::kGone : Verdict::kSilent;
  if (flip.gradient == GradientPart::kSummand && absl::IsOutOfRange(status)) return Verdict::kData;
  const nlohmann::json event = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (status.code() != absl::StatusCode::kDataLoss || event.is_discarded()) return Verdict::kWrong;
  if (event["cause"] == "device") return Verdict::kDevice;
  const bool is_right = event["rank"] == flip.rank && TensorsIn(event) == changed && event["step"] == flip.step;
  return is_right ? Verdict::kFound : Verdict::kWrong;
}

struct Training {
  Silent observer;
  StateSums sums;
  std::vector<absl::Status> outcomes;
};

Training Train(const Job& job, const std::optional<Flip>& flip) {
  Training training;
  training.outcomes = TrainWithFlip(job, flip, training.observer, &training.sums);
  return training;
}

Verdict Judge(const Job& job, const Arguments& arguments, const Flip& flip, const Training& run,
              const Training& untouched) {
  const absl::Status& status = run.outcomes[flip.rank];
  if (flip.gradient)
    return JudgeGradient(flip, Changed(job, flip.step, run.sums, untouched.sums), status, run.observer.event);
  // A low bit of what is added to a larger number may be gone behind the step, on all ranks alike.
  if (flip.is_within && status.ok() && run.observer.losses == untouched.observer.losses) return Verdict::kGone;
  if (FaultOf(job, arguments, flip, status, run.observer.event).empty()) return Verdict::kFound;
  return status.ok() ? Verdict::kSilent : Verdict::kWrong;
}

int Run(const Arguments& arguments) {
  const absl::StatusOr<Job> job = Prepare(arguments);
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", std::string(job.status().message()).c_str());
    return 1;
  }
  const Training untouched = Train(*job, std::nullopt);
  for (const absl::Status& status : untouched.outcomes) {
    if (status.ok() && untouched.observer.event.empty()) continue;
    std::fprintf(stderr, "without a flip: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  std::mt19937_64 random(arguments.seed);
  uint64_t counts[std::size(kVerdicts)] = {};
  for (uint64_t i = 0; i < arguments.flips; ++i) {
    const Flip flip = DrawFlip(*job, arguments, random);
    const Training run = Train(*job, flip);
    const Verdict verdict = Judge(*job, arguments, flip, run, untouched);
    ++counts[static_cast<size_t>(verdict)];
    if (verdict != Verdict::kWrong && (verdict != Verdict::kSilent || flip.gradient)) continue;
    std::fprintf(stderr, "flip %llu: %s\n", static_cast<unsigned long long>(i),
                 FaultOf(*job, arguments, flip, run.outcomes[flip.rank], run.observer.event).c_str());
  }
  std::string json = absl::StrCat("{\"flips\": ", arguments.flips, ", \"seed\": ", arguments.seed);
  for (size_t i = 0; i < std::size(kVerdicts); ++i) absl::StrAppend(&json, ", \"", kVerdicts[i], "\": ", counts[i]);
  std::printf("%s}\n", json.c_str());
  const bool is_missed = !arguments.gradient && counts[static_cast<size_t>(Verdict::kSilent)] != 0;
  return counts[static_cast<size_t>(Verdict::kWrong)] == 0 && !is_missed ? 0 : 1;
}

}  // namespace
}  // namespace sgd::train

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: sgd-flip-bits ARTIFACT DATA FLIPS SEED EVERY between|within|unchecked|summand|sum\n");
    return 2;
  }
  using sgd::train::GradientPart;
  const std::string place = argv[6];
  std::optional<GradientPart> gradient;
  if (place == "summand") gradient = GradientPart::kSummand;
  if (place == "sum") gradient = GradientPart::kSum;
  return sgd::train::Run({.artifact = argv[1],
                          .data = argv[2],
                          .flips = std::strtoull(argv[3], nullptr, 10),
                          .seed = std::strtoull(argv[4], nullptr, 10),
                          .every = std::strtoull(argv[5], nullptr, 10),
                          .is_within = place == "within" || place == "unchecked",
                          .is_unchecked = place == "unchecked" || gradient.has_value(),
                          .gradient = gradient});
}
