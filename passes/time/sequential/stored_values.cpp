// Each value is two nodes, and the edge between them what it costs to store it. From the source comes what it costs to
// have it without: without bound where its op cannot run again.
#include "passes/time/sequential/stored_values.h"

#include "llvm/ADT/MapVector.h"
#include "passes/time/sequential/minimum_cut.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
class StoredChoice {
 public:
  explicit StoredChoice(const SlotReads& reads) : reads(reads) {}

  StoredValues run();

 private:
  struct Nodes {
    unsigned in, out;
  };
  Nodes add(Value value);

  const SlotReads& reads;
  MinimumCut cut;
  llvm::MapVector<Value, Nodes> nodes;
  SmallVector<Value> work;
};
}  // namespace

StoredChoice::Nodes StoredChoice::add(Value value) {
  auto [entry, isNew] = nodes.try_emplace(value);
  if (!isNew) return entry->second;
  Nodes own{cut.addNode(), cut.addNode()};
  entry->second = own;
  cut.addEdge(own.in, own.out, reads.getStoreCost(value));
  work.push_back(value);
  return own;
}

StoredValues StoredChoice::run() {
  for (Value value : reads.values)
    if (!reads.isThere(value)) cut.addEdge(add(value).out, MinimumCut::kSink, MinimumCut::kInfinite);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    unsigned in = nodes.lookup(value).in;
    Operation* op = value.getDefiningOp();
    std::optional<int64_t> again = op ? reads.getRepeatCost(op) : std::nullopt;
    cut.addEdge(MinimumCut::kSource, in, again.value_or(MinimumCut::kInfinite));
    if (!again) continue;
    for (Value operand : op->getOperands())
      if (!reads.isThere(operand)) cut.addEdge(add(operand).out, in, MinimumCut::kInfinite);
  }
  std::vector<bool> isOnSinkSide = cut.getSinkSide();
  StoredValues choice;
  for (auto [value, own] : nodes) {
    if (isOnSinkSide[own.in]) choice.repeated.insert(value.getDefiningOp());
    if (!isOnSinkSide[own.in] && isOnSinkSide[own.out]) choice.stored.insert(value);
  }
  return choice;
}

StoredValues mlir::sgd::chooseStored(const SlotReads& reads) { return StoredChoice(reads).run(); }
