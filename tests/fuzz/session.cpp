// Workers generate programs themselves, from the case's number; this process generates them again where it needs them.
#include "tests/fuzz/session.h"

#include <poll.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace mlir::sgd::fuzz;

namespace {

/// After so many cases a worker is replaced: whatever leaks does not add up.
constexpr size_t kCasesPerWorker = 500;

double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The part of a failure that mostly depends on its cause alone: the message without numbers.
std::string toSignature(size_t family, const Outcome& outcome) {
  std::string signature = getFamilies()[family].name;
  for (char c : outcome.message.substr(0, 120))
    if (isalpha(static_cast<unsigned char>(c)) || c == ' ') signature += c;
  return signature;
}

}  // namespace

Choices Session::choicesOf(size_t index) const {
  std::seed_seq sequence{options.seed, static_cast<uint64_t>(familyOf(index)), static_cast<uint64_t>(index)};
  uint64_t seed;
  std::array<uint32_t, 2> words;
  sequence.generate(words.begin(), words.end());
  seed = (static_cast<uint64_t>(words[0]) << 32) | words[1];
  return Choices(seed);
}

bool Session::isOver() const { return secondsSince(begin) > options.seconds || reported.size() >= options.maxFailures; }

void Session::start(Lane& lane) {
  lane.since = std::chrono::steady_clock::now();
  lane.worker = std::make_unique<Worker>([&](const Worker::Report& report) {
    size_t index = lane.next;
    for (size_t count = 0; count < kCasesPerWorker && index < getEnd(); ++count, index += options.jobs) {
      Choices choices = choicesOf(index);
      report(checkHere(generate(familyOf(index), choices).text).pack());
    }
  });
}

void Session::run() {
  for (unsigned job = 0; job < options.jobs; ++job) lanes.push_back({nullptr, options.first + job, {}});
  while (!isOver()) {
    bool isBusy = false;
    for (Lane& lane : lanes) {
      if (!lane.worker && lane.next < getEnd()) start(lane);
      isBusy |= lane.worker != nullptr;
    }
    if (!isBusy) break;
    poll();
    for (Lane& lane : lanes)
      if (lane.worker) read(lane);
  }
  lanes.clear();
}

void Session::poll() {
  std::vector<pollfd> ready;
  for (Lane& lane : lanes)
    if (lane.worker) ready.push_back({lane.worker->fd(), POLLIN, 0});
  ::poll(ready.data(), ready.size(), 1000);
}

void Session::read(Lane& lane) {
  for (const std::string& line : lane.worker->readLines()) finishCase(lane, Outcome::unpack(line));
  if (lane.worker->hasEnded()) {
    std::string error = lane.worker->wait();
    if (!error.empty()) finishCase(lane, {Outcome::Kind::Crashed, error});
    lane.worker.reset();
  } else if (secondsSince(lane.since) > kHangSeconds) {
    lane.worker.reset();
    finishCase(lane,
               {Outcome::Kind::Crashed, "hang: more than " + std::to_string(static_cast<int>(kHangSeconds)) + " s"});
  }
}

void Session::finishCase(Lane& lane, const Outcome& outcome) {
  size_t index = lane.next;
  lane.next += options.jobs;
  Choices choices = choicesOf(index);
  Generated generated = generate(familyOf(index), choices);
  statistics.add(familyOf(index), generated.features, outcome);
  bool isWanted = outcome.kind == Outcome::Kind::Refused && !options.saveRefused.empty() &&
                  outcome.message.find(options.saveRefused) != std::string::npos;
  if (outcome.isFailure()) handleFailure(index, outcome);
  if (isWanted) save(index, {choices.getTaken(), generated.text, outcome});
  lane.since = std::chrono::steady_clock::now();
}

void Session::handleFailure(size_t index, const Outcome& outcome) {
  if (!reported.insert(toSignature(familyOf(index), outcome)).second) return;
  Choices choices = choicesOf(index);
  std::string text = generate(familyOf(index), choices).text;
  Failure failure{choices.getTaken(), text, outcome};
  // Alone in a fresh process it may not fail: that is worth knowing, too.
  Outcome again = checkIsolated(text);
  if (again.isFailure()) {
    failure.outcome = again;
    failure = shrink(familyOf(index), std::move(failure), options.shrinkSeconds);
  } else {
    failure.outcome.message += " (does not fail alone in a fresh process)";
  }
  reported.insert(toSignature(familyOf(index), failure.outcome));
  save(index, failure);
}

void Session::save(size_t index, const Failure& failure) {
  std::string name = getFamilies()[familyOf(index)].name;
  std::string header = "// " + failure.outcome.message + "\n// Found by --family " + name + " --seed " +
                       std::to_string(options.seed) + ", case " + std::to_string(index) + "\n";
  std::filesystem::create_directories(options.folder);
  std::string path =
      options.folder + "/" + name + "-" + std::to_string(options.seed) + "-" + std::to_string(index) + ".mlir";
  std::ofstream(path) << header << failure.text;
  std::cout << (failure.outcome.isFailure() ? "FAILED " : "refused ") << name << ", seed " << options.seed << ", case "
            << index << ": " << failure.outcome.message << "\n"
            << failure.text << "reproduce: sgd-fuzz --check " << path << "\n\n"
            << std::flush;
}
