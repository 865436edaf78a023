// The sentences of a decision about a sharded update.
#include "passes/spmd/collectives/update_decision.h"

#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::sgd;

static std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (auto [index, name] : llvm::enumerate(names))
    text += (index == 0 ? "" : index + 1 == names.size() ? " and " : ", ") + name;
  return text;
}

Decision UpdateDecision::toDecision(Location loc) const {
  Decision decision = Decision::at(DecisionKind::Update, loc);
  std::vector<std::string> all = gathered;
  llvm::append_range(all, kept);
  decision.subject = join(all);
  decision.chosen = sharding ? "sharded" : "whole";
  llvm::raw_string_ostream os(decision.why);
  if (!sharding) {
    decision.alternatives = {{.name = "sharded", .why = why}};
    os << "every rank updates the whole of " << decision.subject << ": " << why;
    return decision;
  }
  os << "every rank updates its shard of " << decision.subject;
  if (!gathered.empty()) os << "; " << join(gathered) << (gathered.size() == 1 ? " is" : " are") << " gathered";
  if (!kept.empty()) os << "; " << join(kept) << (kept.size() == 1 ? " stays" : " stay") << " in shards between steps";
  os << "; saves " << llvm::format("%.0f", savedSeconds * 1e6) << " us";
  return decision;
}
