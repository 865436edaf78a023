// Deduplication of clusters by the target's key, or by their text without locations.
#include "passes/plan/lowering/kernel_table.h"

#include "dialects/fusion/fusion_dialect.h"
using namespace mlir;
using namespace mlir::sgd;

/// A kernel that holds a copy of `cluster`, not yet in a module.
static OwningOpRef<plan::KernelOp> createKernel(fusion::ClusterOp cluster) {
  OpBuilder builder(cluster.getContext());
  OwningOpRef<plan::KernelOp> kernel =
      plan::KernelOp::create(builder, cluster.getLoc(), "kernel", DenseI64ArrayAttr(), DenseI64ArrayAttr());
  Block* block = builder.createBlock(&kernel->getBody());
  for (Value input : cluster.getInputs()) block->addArgument(input.getType(), input.getLoc());
  builder.clone(*cluster)->setOperands(block->getArguments());
  return kernel;
}

static std::string getText(Operation* op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope().printGenericOpForm());
  return text;
}

FailureOr<KernelTable::Entry> KernelTable::getOrCreate(fusion::ClusterOp cluster) {
  OwningOpRef<plan::KernelOp> kernel = createKernel(cluster);
  std::string key = model.key ? model.key(cluster) : getText(*kernel);
  if (auto found = entries.find(key); found != entries.end()) return found->second;
  Entry entry;
  if (model.describe) {
    FailureOr<KernelDescription> description = model.describe(cluster);
    if (failed(description)) return failure();
    entry.description = *description;
  }
  Builder builder(cluster.getContext());
  SmallVector<int64_t> candidates;
  for (auto [result, operand] : entry.description.inPlaceCandidates) candidates.append({result, operand});
  SmallVector<int64_t> inPlace(cluster.getNumResults(), -1);
  for (unsigned result = 0; result < cluster.getNumResults(); ++result)
    if (cluster.getUpdate(result)) inPlace[result] = cluster.getUpdatedInput(result);
  if (llvm::any_of(inPlace, [](int64_t operand) { return operand >= 0; }))
    kernel->setInPlaceAttr(builder.getDenseI64ArrayAttr(inPlace));
  if (!candidates.empty()) kernel->setCandidatesAttr(builder.getDenseI64ArrayAttr(candidates));
  kernel->setSymName("kernel_" + std::to_string(entries.size()));
  entry.symbol = FlatSymbolRefAttr::get(kernel->getSymNameAttr());
  module.push_back(kernel.release());
  entries[key] = entry;
  return entry;
}
