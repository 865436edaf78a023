// One function for each thing that may be odd.
#include "compiler/report/advice.h"

#include "compiler/report/amounts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

/// Shares from which something is worth a sentence.
static constexpr double kNearLimit = 0.95, kMostExposed = 0.3, kMostBubble = 0.25, kDominant = 0.5;

void mlir::sgd::addAdvice(ModuleOp compilation, llvm::StringRef text) {
  SmallVector<Attribute> all;
  if (auto known = compilation->getAttrOfType<ArrayAttr>(kAdviceAttr)) llvm::append_range(all, known);
  all.push_back(StringAttr::get(compilation.getContext(), text));
  compilation->setAttr(kAdviceAttr, ArrayAttr::get(compilation.getContext(), all));
}

static bool isSharded(const artifact::TensorInfoT& type, size_t dim) {
  return dim < type.sharding.size() && !type.sharding[dim]->axes.empty();
}

/// The first input with rows, if no rank has fewer of any and parameters are whole too: tensor parallelism shards these
/// and leaves the batch as it is.
static std::string adviseBatch(const artifact::ArtifactT& root, const Report& report) {
  int64_t stages = std::max<int64_t>(1, static_cast<int64_t>(root.stages.size()));
  if (report.ranks / stages < 2) return "";
  const artifact::InputT* batch = nullptr;
  for (const auto& program : root.programs) {
    if (program->name != report.program) continue;
    for (const auto& input : program->inputs) {
      for (size_t dim = 0; dim < input->type->global_dims.size(); ++dim)
        if (isSharded(*input->type, dim)) return "";
      bool hasRows = input->role == artifact::InputRole::Input && !input->type->global_dims.empty();
      if (hasRows && !batch) batch = input.get();
    }
  }
  if (!batch) return "";
  return llvm::formatv(
      "the batch is not sharded: input '{0}' and all parameters are whole on each of {1} ranks, which compute the "
      "same; "
      "shard its rows, as \"batch\": \"AXIS\" in a recipe does",
      batch->name, report.ranks);
}

static std::string adviseMemory(const Report& report, const Topology& topology, std::optional<uint64_t> limit) {
  uint64_t most = limit.value_or(static_cast<uint64_t>(std::max<int64_t>(0, topology.device.memoryBytes)));
  if (most == 0 || static_cast<double>(report.memory.peak) < kNearLimit * static_cast<double>(most)) return "";
  std::string what = limit ? "the memory limit" : "the memory of a device of '" + topology.name + "'";
  double share = 100.0 * static_cast<double>(report.memory.peak) / static_cast<double>(most);
  if (report.memory.peak > most)
    return llvm::formatv(
        "memory does not fit: a rank needs {0}, {1:f0} % of {2} of {3}; shard more (--recipe zero3, "
        "more stages), cut the batch (--micro), or recompute (--memory-limit)",
        formatBytes(report.memory.peak), share, what, formatBytes(most));
  return llvm::formatv(
      "memory is tight: a rank needs {0}, {1:f0} % of {2} of {3}; a slightly larger batch will not fit",
      formatBytes(report.memory.peak), share, what, formatBytes(most));
}

/// Names the collective that sends most, if it sends most of all bytes.
static std::string adviseCollectives(const Report& report) {
  if (report.estimatedSeconds <= 0 || report.exposedSeconds < kMostExposed * report.estimatedSeconds) return "";
  std::string text = llvm::formatv("ranks wait for collectives for {0:f0} % of a step",
                                   100 * report.exposedSeconds / report.estimatedSeconds);
  auto most = llvm::max_element(report.collectives, [](const CollectiveReport& a, const CollectiveReport& b) {
    return a.sentBytes < b.sentBytes;
  });
  bool dominates = most != report.collectives.end() &&
                   static_cast<double>(most->sentBytes) >= kDominant * static_cast<double>(report.sentBytes);
  if (dominates && report.sentBytes > 0) {
    text += llvm::formatv(", and one {0} sends {1:f0} % of the bytes", most->kind,
                          100.0 * static_cast<double>(most->sentBytes) / static_cast<double>(report.sentBytes));
    if (!most->tensors.empty()) text += " (" + most->tensors.front() + ")";
    if (!most->location.empty()) text += " at " + most->location;
  }
  return text + "; --explain says what each is for; larger batches and fewer ranks wait less";
}

static std::string adviseBubble(const Report& report) {
  if (report.stages.empty() || report.bubble < kMostBubble) return "";
  return llvm::formatv(
      "stages wait {0:f0} % of their time for each other; more micro-batches (--micro) or another "
      "schedule shorten that",
      100 * report.bubble);
}

std::vector<std::string> mlir::sgd::findAdvice(ModuleOp plan, const artifact::ArtifactT& root, const Report& report,
                                               const Topology& topology, std::optional<uint64_t> memoryLimit) {
  std::vector<std::string> advice;
  if (auto earlier = plan->getAttrOfType<ArrayAttr>(kAdviceAttr))
    for (auto text : earlier.getAsRange<StringAttr>()) advice.push_back(text.str());
  for (const std::string& text : {adviseBatch(root, report), adviseMemory(report, topology, memoryLimit),
                                  adviseCollectives(report), adviseBubble(report)})
    if (!text.empty()) advice.push_back(text);
  return advice;
}
