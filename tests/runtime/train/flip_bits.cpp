// Flips bits of the state of one rank, one in each run: the guard must name the rank, the tensor and the step of each.
//
//   sgd-flip-bits ARTIFACT DATA FLIPS SEED EVERY between|within|unchecked
//
// Between: while the state is at rest behind a check. Within: as the step behind a check begins. Unchecked: as a later
// step begins.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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
  flip.input = job.carry[random() % job.carry.size()].second;
  const data::Shard shard(job.program.inputs[flip.input].type, data::MeshOf(job.file->root()), flip.rank);
  flip.bit = random() % (8 * shard.local_bytes());
  return flip;
}

// The guard finds that the memory has changed before a step wrote it, or, of state that steps update in place, a
// replica that differs at the next check.
std::string FaultOf(const Job& job, const Arguments& arguments, const Flip& flip, const absl::Status& status,
                    const std::string& event) {
  const std::string name = ShortName(job.program.inputs[flip.input].name);
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

int Run(const Arguments& arguments) {
  const absl::StatusOr<Job> job = Prepare(arguments);
  if (!job.ok()) {
    std::fprintf(stderr, "%s\n", std::string(job.status().message()).c_str());
    return 1;
  }
  Silent untouched;
  for (const absl::Status& status : TrainWithFlip(*job, std::nullopt, untouched)) {
    if (!status.ok() || !untouched.event.empty()) {
      std::fprintf(stderr, "without a flip: %s\n", std::string(status.message()).c_str());
      return 1;
    }
  }
  std::mt19937_64 random(arguments.seed);
  uint64_t missed = 0, rounded = 0;
  for (uint64_t i = 0; i < arguments.flips; ++i) {
    const Flip flip = DrawFlip(*job, arguments, random);
    Silent observer;
    const std::vector<absl::Status> outcomes = TrainWithFlip(*job, flip, observer);
    // A low bit of what is added to a larger number may be gone behind the step, on all ranks alike.
    if (flip.is_within && outcomes[flip.rank].ok() && observer.losses == untouched.losses) {
      ++rounded;
      continue;
    }
    const std::string fault = FaultOf(*job, arguments, flip, outcomes[flip.rank], observer.event);
    if (fault.empty()) continue;
    ++missed;
    std::fprintf(stderr, "flip %llu: %s\n", static_cast<unsigned long long>(i), fault.c_str());
  }
  const auto number = [](uint64_t count) { return static_cast<unsigned long long>(count); };
  std::printf("%llu of %llu flips found, %llu rounded away, seed %llu\n", number(arguments.flips - missed - rounded),
              number(arguments.flips), number(rounded), number(arguments.seed));
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sgd::train

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: sgd-flip-bits ARTIFACT DATA FLIPS SEED EVERY between|within|unchecked\n");
    return 2;
  }
  return sgd::train::Run({.artifact = argv[1],
                          .data = argv[2],
                          .flips = std::strtoull(argv[3], nullptr, 10),
                          .seed = std::strtoull(argv[4], nullptr, 10),
                          .every = std::strtoull(argv[5], nullptr, 10),
                          .is_within = std::string(argv[6]) != "between",
                          .is_unchecked = std::string(argv[6]) == "unchecked"});
}
