// Flags of training: state, data, reports and guard.
#include "runtime/checkpoint/manifest.h"
#include "tools/sgdrun/flag_group.h"

namespace sgd::sgdrun {
namespace {

std::string CheckLimit(const std::string& text) {
  double limit = 0;
  if (absl::SimpleAtod(text, &limit) && limit > 0 && limit <= std::numeric_limits<double>::max()) return "";
  return absl::StrCat("'", text, "' is out of range; expected a positive number");
}

// "x=images": an input and the tensor that feeds it.
void AddFeed(Options& options, const std::string& pair) {
  const size_t equal = pair.find('=');
  if (equal == 0 || equal == std::string::npos || equal + 1 == pair.size()) {
    throw CLI::ValidationError("--feed", "'" + pair + "' is no pair; expected INPUT=TENSOR, as in x=images");
  }
  options.run.feed.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
}

// "last=3,every=1000,best=accuracy".
checkpoint::KeepPolicy ParseKeep(const std::vector<std::string>& parts) {
  checkpoint::KeepPolicy policy;
  for (const std::string& part : parts) {
    const size_t equal = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, equal), value = part.substr(std::min(equal + 1, part.size()));
    uint64_t count = 0;
    const bool is_count = absl::SimpleAtoi(value, &count) && count > 0;
    if (name == "last" && is_count) {
      policy.last = count;
    } else if (name == "every" && is_count) {
      policy.every = count;
    } else if (name == "best" && !value.empty()) {
      policy.best = value;
    } else {
      throw CLI::ValidationError("--keep", "'" + part +
                                               "' is not understood; expected last=K or every=K with a K of 1 or more, "
                                               "as in last=3, or best=NAME");
    }
  }
  return policy;
}

// A number of steps, or "auto".
void SetSaveEvery(Options& options, const std::string& text) {
  if (text == "auto") {
    options.saves_by_cost = true;
    return;
  }
  const std::string fault = CheckCount<uint64_t>(text);
  if (!fault.empty()) throw CLI::ValidationError("--save-every", fault + ", or auto");
  static_cast<void>(absl::SimpleAtoi(text, &options.run.save_every));
}

// A number of steps, or "auto".
void SetPeerCopies(Options& options, const std::string& text) {
  options.run.peer_copies_by_cost = text == "auto";
  if (options.run.peer_copies_by_cost) return;
  const std::string fault = CheckCount<uint64_t>(text);
  if (!fault.empty()) throw CLI::ValidationError("--peer-copies", fault + ", or auto");
  static_cast<void>(absl::SimpleAtoi(text, &options.run.peer_copies));
}

// Of --steps, where 0 prepares a run and does none.
std::string CheckSteps(const std::string& text) { return text == "0" ? "" : CheckCount<uint64_t>(text); }

std::string CheckZstdLevel(const std::string& text) {
  int level = 0;
  const bool is_level =
      absl::SimpleAtoi(text, &level) && level >= checkpoint::kLeastZstdLevel && level <= checkpoint::kMostZstdLevel;
  return is_level ? ""
                  : absl::StrCat("'", text, "' is no level of zstd; expected an integer from ",
                                 checkpoint::kLeastZstdLevel, " to ", checkpoint::kMostZstdLevel);
}

void AddStateFlags(CLI::App& app, Options& options) {
  const Group group(app, "Train: state");
  group
      .Add("--steps", "K", options.run.steps,
           "Train for K steps (after --resume: K further steps); 0: prepare and check everything, and write nothing")
      ->check(CheckSteps);
  group.Add(
      "--init", "FILE", options.run.init,
      "Initial state, and inputs that never change: a file, or the index of several files, *.index.json (default: "
      "the program 'init')");
  group.Add(
      "--resume", "DIR", options.run.resume,
      "Resume from a checkpoint, or from the newest one in a folder, saved on any number of ranks; starts anew if "
      "DIR is the folder of --save and has none yet");
  group.Add("--save", "DIR", options.run.save, "Save a checkpoint into DIR at the end; with --save-every also before");
  group.Call<std::string>(
      "--save-every", "S|auto", [&](const std::string& text) { SetSaveEvery(options, text); },
      "Steps between checkpoints; auto computes them from --mtbf and the measured time of a save");
  group.Call<double>(
      "--mtbf", "HOURS", [&](double hours) { options.run.mtbf = Positive("--mtbf", hours * 3600); },
      "For --save-every auto: mean time between failures of one rank");
  group.CallWithList(
      "--keep", "last=K,every=K,best=NAME",
      [&](const std::vector<std::string>& parts) { options.run.keep = ParseKeep(parts); },
      "Checkpoints to keep: the K newest, those after each multiple of K steps, and the one with the best result NAME "
      "of "
      "the evaluation (default: all)");
  group
      .AddWithDefault(
          "--save-zstd{1}", "[=LEVEL]", options.run.save_zstd,
          "Compress checkpoints by zstd, at a level from 1 (default) to 19; any part of a file can still be "
          "read alone")
      ->check(CheckZstdLevel);
  group
      .Add("--restarts", "R", options.run.restarts,
           "If a rank or a host is lost, start the ranks of all hosts again and continue, up to R times; results keep "
           "their bits")
      ->check(CheckCount<uint64_t>);
  group
      .AddWithDefault(
          "--replace-stragglers{1000}", "[=N]", options.run.replace_every,
          "With --restarts: restart a rank on other cores, or on a spare host, if its compute delays the other ranks "
          "for long, at most once in N steps (default 1000); counts as a restart (docs/watching.md)")
      ->check(CheckCount<uint64_t>);
  group.Call<std::string>(
      "--peer-copies", "K|auto", [&](const std::string& text) { SetPeerCopies(options, text); },
      "With --restarts: every K steps, copy the state in memory, and send the state that only one host holds to the "
      "next host (default: every step up to 64 MiB of state, every second up to 128 MiB, ...); auto: as often as takes "
      "1 % of the time, by measured times");
  group
      .Add("--min-ranks", "M", options.min_ranks,
           "After the last restart of --restarts, continue with fewer ranks, at least M, by another plan of the "
           "artifact")
      ->check(CheckCount<uint32_t>);
  group.Add("--resize", "FILE", options.run.resize,
            "On SIGHUP, continue with the number of ranks that FILE holds, by another plan of the artifact");
  group.Add("--save-weights", "FILE", options.run.save_weights,
            "At the end, write parameters and buffers only, under all of their names in the model");
  group.Add(
      "--carry", "OUT:IN,...", options.run.carry,
      "Outputs that become inputs of the next step, instead of the artifact's pairs; none:IN keeps an input, none "
      "keeps all inputs");
  group.Add("--carry-json", "FILE", options.run.carry_json,
            "--carry as a JSON list of [output, input]; a null output keeps the input, an empty list keeps all inputs");
}

void AddDataFlags(CLI::App& app, Options& options) {
  const Group group(app, "Train: data");
  group
      .Add(
          "--data", "FILE,...", options.run.data,
          "Rows to draw batches from, in an order that does not depend on the number of ranks: files, folders or globs "
          "of .safetensors, .npy and .npz, or a *.json file that describes a data set (docs/data.md)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  group.CallWithList(
      "--feed", "INPUT=TENSOR,...",
      [&](const std::vector<std::string>& pairs) {
        for (const std::string& pair : pairs) AddFeed(options, pair);
      },
      "The tensor of the data that feeds each input (default: the one of the same name)");
  group.Add("--batches", "FILE", options.run.batches,
            "Batches, one per step, as tensors stepK.argN or stepK.<name>; starts over after the last one");
  group.Call<uint64_t>(
      "--seed", "S", [&](uint64_t seed) { options.run.seed = seed; },
      "Seed of the order of rows, and of the key of the program 'init' (default 0)");
}

void AddReportFlags(CLI::App& app, Options& options) {
  const Group group(app, "Train: reports");
  group.Add("--loss", "OUT", options.run.loss, "The output that is the loss (default: the one that sgdc recorded)");
  group.Add("--log-json", "FILE", options.log_json,
            "Write one JSON line per step into a new file; with --resume, append to it");
  group
      .Add("--print-every", "K", options.print_every,
           "Print a line every K steps if standard output is not a terminal (default 1)")
      ->check(CheckCount<uint64_t>);
  group.AddSwitch(
      "--live", options.live,
      "Show times, rates, loss, waits and memory in a block that stays in place; if standard output is not a "
      "terminal, in the lines of --print-every");
  group.Add("--metrics", "FILE", options.metrics,
            "Write the state of the run into FILE for Prometheus and sgd-top, every other second (docs/watching.md)");
  group
      .Add("--metrics-port", "PORT", options.metrics_port,
           "Serve the same over HTTP, on this host's loopback interface")
      ->check(CLI::Range(1, 65535));
  group.Add("--eval-every", "E", options.run.eval_every, "Run the program 'eval' every E steps")
      ->check(CheckCount<uint64_t>);
  group
      .Add("--eval-data", "FILE,...", options.run.eval_data,
           "Rows for 'eval', in the formats of --data; scalar outputs cover all rows, or are means over batches "
           "(docs/training.md)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  group.AddSwitch("--eval-only", options.run.only_evaluates,
                  "Instead of --steps: evaluate the state of --resume or the weights of --init on --eval-data");
}

void AddGuardFlags(CLI::App& app, Options& options) {
  train::GuardOptions& guard = options.run.guard;
  const Group group(app, "Train: guard");
  group
      .AddWithDefault("--guard{100}", "[=K]", guard.every,
                      "Every K steps (default 100), check that replicas of the state are equal, that no bytes changed "
                      "between steps and that values are finite; name the rank, tensor and source line at fault "
                      "(docs/guards.md)")
      ->check(CheckCount<uint64_t>);
  group
      .Add("--guard-loss", "FACTOR", guard.loss_factor,
           "With --guard: the loss may be at most FACTOR times its running median")
      ->check(CheckLimit);
  group
      .Add("--guard-grad-norm", "LIMIT", guard.gradient_norm,
           "With --guard: the program's output grad_norm may be at most LIMIT")
      ->check(CheckLimit);
  group
      .Call<std::string>(
          "--on-guard", "stop|skip", [&](const std::string& action) { guard.skips_steps = action == "skip"; },
          "If the data of a step is at fault: stop (default), or skip: go back to the last check and leave the step "
          "out")
      ->check(CLI::IsMember({"stop", "skip"}));
  group
      .Add("--verify", "K", options.run.verify.steps,
           "Compare the first K steps with one rank, by the artifact's plan for one rank; name the tensor, instruction "
           "and source line that differ by more than rounding (docs/verify.md)")
      ->check(CheckCount<uint64_t>);
  group
      .Call<std::string>(
          "--on-verify", "stop|note",
          [&](const std::string& action) { options.run.verify.only_notes = action == "note"; },
          "If a step differs from one rank: stop (default), or print a note and continue")
      ->check(CLI::IsMember({"stop", "note"}));
}

}  // namespace

void AddTrainingFlags(CLI::App& app, Options& options) {
  AddStateFlags(app, options);
  AddDataFlags(app, options);
  AddReportFlags(app, options);
  AddGuardFlags(app, options);
}

}  // namespace sgd::sgdrun
