// Estimates as JSON, as text and as a table.
#include "compiler/simulation/estimate.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/text/amounts.h"

using namespace mlir::sgd;
using ::sgd::text::BytesText, ::sgd::text::CountText, ::sgd::text::SecondsText;
using Json = nlohmann::ordered_json;

static Json toJson(const StageTimes& stage) {
  return {{"compute_seconds", stage.compute},
          {"exposed_communication_seconds", stage.exposed},
          {"host_wait_seconds", stage.hostWaits},
          {"message_wait_seconds", stage.messageWaits},
          {"communication_seconds", stage.communication},
          {"end_seconds", stage.end}};
}

Json mlir::sgd::toJson(const StepEstimate& estimate) {
  Json json;
  json["ranks"] = estimate.ranks;
  for (const auto& [name, size] : estimate.mesh) json["mesh"][name] = size;
  json["step_seconds"] = estimate.stepSeconds;
  json["compute_seconds"] = estimate.computeSeconds;
  json["exposed_communication_seconds"] = estimate.exposedSeconds;
  json["host_wait_seconds"] = estimate.hostWaitSeconds;
  json["communication_seconds"] = estimate.communicationSeconds;
  json["bubble"] = estimate.bubble;
  json["mfu"] = estimate.utilization;
  json["tflops_per_rank"] = estimate.getTeraflopsPerRank();
  if (estimate.modelFlopsPerRank > 0) json["model_tflops_per_rank"] = estimate.getModelTeraflopsPerRank();
  json["flops_per_rank"] = estimate.flopsPerRank;
  json["peak_bytes"] = estimate.peakBytes;
  if (estimate.deviceBytes > 0) {
    json["device_bytes"] = estimate.deviceBytes;
    json["fits"] = estimate.fits();
  }
  json["model_state_bytes"] = estimate.modelState.getBytes();
  json["state_bytes"] = estimate.modelState.kept;
  json["gradient_bytes"] = estimate.modelState.gradients;
  for (const auto& [name, bytes] : estimate.sentBytes) json["sent_bytes"][name] = bytes;
  for (auto [name, count] : {std::pair("rows", estimate.rows), std::pair("tokens", estimate.tokens)}) {
    if (!count) continue;
    json[name] = *count;
    if (estimate.stepSeconds > 0)
      json[std::string(name) + "_per_second"] = static_cast<double>(*count) / estimate.stepSeconds;
  }
  json["goodput"] = estimate.goodput;
  if (const auto& failures = estimate.failures)
    json["failures"] = {{"mean_seconds_between", failures->model.mean_time_between},
                        {"save_seconds", failures->model.save},
                        {"restart_seconds", failures->model.restart},
                        {"best_interval_seconds", failures->bestInterval}};
  if (estimate.epochSteps > 0) {
    json["epoch"] = {{"steps", estimate.epochSteps}, {"device_hours", estimate.epochDeviceHours}};
    if (estimate.epochPrice > 0) json["epoch"]["price"] = estimate.epochPrice;
  }
  for (const StageTimes& stage : estimate.stages) json["stages"].push_back(::toJson(stage));
  return json;
}

static std::string formatMesh(const StepEstimate& estimate) {
  std::string text;
  for (const auto& [name, size] : estimate.mesh) text += (text.empty() ? "" : " ") + name + "=" + std::to_string(size);
  return text;
}

static void printFit(const StepEstimate& estimate, llvm::raw_ostream& os) {
  if (estimate.deviceBytes == 0) return;
  os << (estimate.fits() ? "fits" : "does not fit") << ": a rank needs " << BytesText(estimate.peakBytes) << " of "
     << BytesText(estimate.deviceBytes);
  if (!estimate.fits())
    os << "; compile with --memory-limit, or shard more: --recipe zero3, more stages, or more micro-batches by --micro";
  os << "\n";
}

static void printStages(const StepEstimate& estimate, llvm::raw_ostream& os) {
  if (estimate.stages.size() < 2) return;
  for (auto [number, stage] : llvm::enumerate(estimate.stages))
    os << "    stage " << number << ": " << SecondsText(stage.compute) << " of computing, waits "
       << SecondsText(stage.exposed) << " for collectives and " << SecondsText(stage.messageWaits) << " for messages\n";
}

/// Rates of all ranks, and whether the batch is another one than was compiled.
static void printBatch(const StepEstimate& estimate, llvm::raw_ostream& os) {
  if (!estimate.rows || !(estimate.stepSeconds > 0)) return;
  auto getRate = [&](uint64_t count) { return CountText(static_cast<double>(count) / estimate.stepSeconds); };
  os << "  rate         " << getRate(*estimate.rows) << " rows/s";
  if (estimate.tokens) os << ", " << getRate(*estimate.tokens) << " tokens/s";
  os << ", of " << *estimate.rows << (*estimate.rows == 1 ? " row" : " rows") << " a step\n";
  if (estimate.scalesWeakly())
    os << "  batch        " << *estimate.rows << " rows instead of the " << *estimate.compiledRows
       << " that were compiled: each rank keeps its own (weak scaling)\n";
}

static void printFailures(const StepEstimate& estimate, llvm::raw_ostream& os) {
  const FailureEstimate& failures = *estimate.failures;
  os << "  failures     each " << SecondsText(failures.model.mean_time_between) << "; a checkpoint takes "
     << SecondsText(failures.model.save) << ", a restart " << SecondsText(failures.model.restart) << "\n";
  os << "  goodput      " << llvm::format("%.1f", 100 * failures.goodput) << " % with a checkpoint each "
     << SecondsText(failures.bestInterval) << " of steps, the best interval\n";
}

/// The meaning of the words above that are not the user's.
static void printTerms(const StepEstimate& estimate, llvm::raw_ostream& os) {
  os << "waits: time in which a rank computes nothing until a collective ends; links may be busy beside computing\n";
  if (estimate.stages.size() > 1) os << "bubble: time in which stages wait for each other's messages\n";
  if (estimate.failures) os << "goodput: share of the time that failures, restarts and checkpoints leave for steps\n";
}

std::string mlir::sgd::toText(const StepEstimate& estimate) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printFit(estimate, os);
  os << "ranks          " << estimate.ranks << (estimate.mesh.empty() ? "" : " ") << formatMesh(estimate) << "\n";
  os << "a step\n";
  os << "  time         " << SecondsText(estimate.stepSeconds) << "\n";
  os << "  computing    " << SecondsText(estimate.computeSeconds) << "\n";
  os << "  waits        " << SecondsText(estimate.exposedSeconds) << " for collectives, of "
     << SecondsText(estimate.communicationSeconds) << " that links are busy\n";
  if (estimate.hostWaitSeconds > 0)
    os << "  host copies  waits " << SecondsText(estimate.hostWaitSeconds) << " for them\n";
  if (estimate.stages.size() > 1)
    os << "  bubble       " << llvm::format("%.1f", 100 * estimate.bubble) << " % of the stages' time\n";
  printStages(estimate, os);
  printBatch(estimate, os);
  os << "  flops        " << llvm::format("%.4g", estimate.getTeraflopsPerRank()) << " TFLOP/s a rank, "
     << llvm::format("%.1f", 100 * estimate.utilization) << " % of the data sheet\n";
  if (estimate.modelFlopsPerRank > 0)
    os << "  model flops  " << llvm::format("%.4g", estimate.getModelTeraflopsPerRank())
       << " TFLOP/s a rank, by the model's sizes\n";
  for (const auto& [name, bytes] : estimate.sentBytes)
    if (bytes > 0) os << "  sent         " << BytesText(bytes) << " a rank, over " << name << "\n";
  os << "  memory       " << BytesText(estimate.peakBytes) << " a rank; of the model "
     << BytesText(estimate.modelState.kept) << " of state and " << BytesText(estimate.modelState.gradients)
     << " of gradients\n";
  if (estimate.failures) printFailures(estimate, os);
  if (estimate.epochSteps > 0) {
    os << "  epoch        " << estimate.epochSteps << " steps, " << llvm::format("%.4g", estimate.epochDeviceHours)
       << " device hours";
    if (estimate.epochPrice > 0) os << llvm::format(", price %.4g", estimate.epochPrice);
    os << "\n";
  }
  printTerms(estimate, os);
  return text;
}

std::string mlir::sgd::toTable(llvm::ArrayRef<StepEstimate> sweep) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "     ranks        step   computing     exposed  bubble  TFLOP/s   goodput  scaling  mesh\n";
  for (const StepEstimate& estimate : sweep)
    os << llvm::format("%10lld  %10s  %10s  %10s  %4.1f %%  %7.4g  %6.1f %%  %5.1f %%  ", (long long)estimate.ranks,
                       SecondsText(estimate.stepSeconds).c_str(), SecondsText(estimate.computeSeconds).c_str(),
                       SecondsText(estimate.exposedSeconds).c_str(), 100 * estimate.bubble,
                       estimate.getTeraflopsPerRank(), 100 * estimate.goodput,
                       100 * getScaling(sweep.front(), estimate))
       << formatMesh(estimate) << "\n";
  if (sweep.empty()) return text;
  os << "exposed: waits for collectives; bubble: stages that wait for each other; goodput: the share that failures "
        "leave; scaling: steps per second against the first line\n";
  if (llvm::any_of(sweep, [](const StepEstimate& one) { return one.scalesWeakly(); }))
    os << "Weak scaling: each rank keeps its rows, so that a step has " << *sweep.front().rows << " to "
       << *sweep.back().rows << " of them.\n";
  return text;
}
