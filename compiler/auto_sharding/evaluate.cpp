#include "compiler/auto_sharding/evaluate.h"

#include <atomic>
#include <thread>

#include "compiler/simulation/estimate.h"
#include "runtime/thread/spawn_thread.h"

using namespace mlir::sgd;

Evaluator::Evaluator(llvm::ArrayRef<ProgramSource> sources, CompileOptions options, Topology topology, unsigned threads)
    : options(std::move(options)), topology(std::move(topology)), near(this->topology) {
  near.device.memoryBandwidth = std::max(near.device.memoryBandwidth, near.device.cacheBandwidth);
  this->options.emit.reset();
  this->options.writeArtifact = this->options.isForSimulation = this->options.omitsDescription = true;
  for (unsigned thread = 0; thread < std::max(1u, threads); ++thread) sessions.emplace_back(sources);
}

std::vector<Evaluation> Evaluator::evaluate(llvm::ArrayRef<std::string> recipes) {
  std::vector<Evaluation> evaluations(recipes.size());
  std::atomic<size_t> next = 0;
  auto work = [&](CompileSession& session) {
    for (size_t i = next++; i < recipes.size(); i = next++) evaluations[i] = evaluate(session, recipes[i]);
  };
  std::vector<std::thread> threads;
  // Where a limit is reached, fewer threads do the same work.
  for (CompileSession& session : llvm::drop_begin(sessions)) {
    if (threads.size() + 1 >= recipes.size()) break;
    auto thread = ::sgd::SpawnThread("compiling candidates", [&] { work(session); });
    if (!thread.ok()) break;
    threads.push_back(*std::move(thread));
  }
  work(sessions.front());
  for (std::thread& thread : threads) thread.join();
  return evaluations;
}

static llvm::Expected<StepEstimate> simulate(const ::sgd::artifact::ArtifactFile& file, const Topology& topology,
                                             const std::string& program) {
  llvm::Expected<Machine> machine = Machine::create(file.root(), file.path(), topology, {});
  if (!machine) return machine.takeError();
  EstimateOptions asked;
  asked.program = program;
  return estimateStep(*machine, asked);
}

/// The first error of what the compiler prints, without the file of the recipe, which there is none of.
static std::string getError(llvm::StringRef messages) {
  for (; !messages.empty(); messages = messages.split('\n').second) {
    llvm::StringRef line = messages.split('\n').first;
    if (!line.contains("error: ")) continue;
    line.consume_front("--auto: error: ");
    return line.str();
  }
  return "the compiler failed without saying why";
}

Evaluation Evaluator::evaluate(CompileSession& session, const std::string& recipe) const {
  Evaluation evaluation;
  CompileOptions trial = options;
  trial.recipeFile = "--auto";
  trial.recipe = recipe;
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  FailureOr<Compilation> compilation = session.compile(trial, stream);
  auto refuse = [&](llvm::StringRef why) {
    evaluation.refusal = why.str();
    return evaluation;
  };
  if (failed(compilation)) return refuse(getError(messages));
  auto file = ::sgd::artifact::ArtifactFile::FromBytesWithoutCode(compilation->artifact, "the candidate");
  if (!file.ok()) return refuse(llvm::StringRef(file.status().message().data(), file.status().message().size()));
  llvm::Expected<StepEstimate> estimate = simulate(**file, topology, compilation->report.program);
  if (!estimate) return refuse(llvm::toString(estimate.takeError()));
  llvm::Expected<StepEstimate> least = simulate(**file, near, compilation->report.program);
  if (!least) return refuse(llvm::toString(least.takeError()));
  evaluation.seconds = estimate->stepSeconds;
  evaluation.leastSeconds = least->stepSeconds;
  evaluation.computeSeconds = estimate->computeSeconds;
  evaluation.exposedSeconds = estimate->exposedSeconds;
  evaluation.bubble = estimate->bubble;
  evaluation.peakBytes = compilation->report.memory.peak;
  evaluation.sentBytes = compilation->report.sentBytes;
  return evaluation;
}
