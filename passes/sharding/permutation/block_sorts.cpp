// The pass sgd-block-sorts.
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/sharding/context/sequential_dims.h"
#include "passes/sharding/permutation/block_writer.h"
#include "passes/sharding/permutation/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_BLOCKSORTSPASS
#include "passes/sharding/permutation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Computes iotas and constants in the loops that only read them: bodies are analysed on their own.
static void sinkIntoLoops(func::FuncOp function) {
  function.walk<WalkOrder::PreOrder>([](WhileOp loop) {
    Block& body = loop.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    for (auto [iterArg, init] : llvm::enumerate(loop.getInits())) {
      if (!loop.isInvariant(iterArg) || !(init.getDefiningOp<IotaOp>() || getSplatElements(init))) continue;
      Value inside = builder.clone(*init.getDefiningOp())->getResult(cast<OpResult>(init).getResultNumber());
      body.getArgument(iterArg).replaceUsesWithIf(inside, [](OpOperand& use) { return !isa<YieldOp>(use.getOwner()); });
    }
  });
}

static bool hasSortInLoop(func::FuncOp function) {
  return function
      .walk([](SortOp sort) {
        return isa<WhileOp>(sort->getParentOp()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A sort of vectors, which may be an argsort: one operand counts.
static bool isArgsort(SortOp sort) {
  return tensorType(sort.getInputs()[0]).getRank() == 1 &&
         llvm::any_of(sort.getInputs().drop_front(), [](Value input) { return input.getDefiningOp<IotaOp>(); });
}

namespace {
struct Candidate {
  SortOp sort;
  AxisParts axes;     // that shard the keys
  int64_t parts = 1;  // of a sequential axis
  int64_t getBlocks() const { return getGroupSize(axes) * parts; }
};

struct BlockSortsPass : mlir::sgd::impl::BlockSortsPassBase<BlockSortsPass> {
  using BlockSortsPassBase::BlockSortsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh || (mesh.getMesh().getNumRanks() == 1 && !getSequentialAxis(mesh))) return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) visit(function, mesh);
  }

 private:
  void visit(func::FuncOp function, MeshOp mesh);
  bool block(func::FuncOp function, const MeshAxes& mesh, const Candidate& candidate, DenseSet<Operation*>& written);
};

/// Writes the sorts, comparisons and accesses of sorted rows block by block.
class RowsWriter {
 public:
  RowsWriter(const SortedRows& rows, MutableArrayRef<LoopPair> pairs) : rows(rows), pairs(pairs) {}

  void write(ArrayRef<RowAccess> accesses, const RowBlocks& blocks);

 private:
  Value getKeys(std::optional<unsigned> pair);
  void touch(Operation* op) { touched.insert(op->getBlock()); }

  const SortedRows& rows;
  MutableArrayRef<LoopPair> pairs;
  DenseMap<unsigned, Value> fetched;  // sorted keys in the second loop of a pair
  SetVector<Block*> touched;
};
}  // namespace

/// Where shards are rounded up, only numbers in ascending order are padded at their end.
static bool canBeBlocked(const SortedRows& rows, const Candidate& candidate) {
  if (rows.getNumRows() % candidate.getBlocks() == 0) return true;
  return candidate.parts == 1 && isAscending(candidate.sort);
}

/// The axes of a vector of rows, or of the dimensions that were merged into it: propagation passes axes that do not
/// divide a dimension through no reshape, and leaves them to the resolution of conflicts.
static AxisParts getRowAxes(const PropagatedCopy& shardings, Value rows) {
  AxisParts axes = shardings.getAxes(rows, 0);
  auto reshape = rows.getDefiningOp<ReshapeOp>();
  bool isMerged =
      reshape && tensorType(reshape.getInput()).getRank() > 0 && tensorType(reshape.getInput()).getDimSize(0) > 1;
  return axes.empty() && isMerged ? getRowAxes(shardings, reshape.getInput()) : axes;
}

void BlockSortsPass::visit(func::FuncOp function, MeshOp mesh) {
  if (hasSortInLoop(function)) sinkIntoLoops(function);
  SmallVector<SortOp> argsorts;
  function.walk([&](SortOp sort) {
    if (isArgsort(sort)) argsorts.push_back(sort);
  });
  if (argsorts.empty()) return;
  SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
  SmallVector<Candidate> candidates;
  for (SortOp sort : argsorts)
    if (SortedRows(sort, pairs).analyze()) candidates.push_back({sort, {}});
  if (candidates.empty()) return;
  MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
  PropagatedCopy shardings(function, axes, [](func::FuncOp) {});
  if (!shardings) return;  // sgd-shard will say why
  SequentialDims sequential(function, axes.getName(), getSequentialAxis(mesh));
  for (Candidate& candidate : candidates) {
    Value keys = candidate.sort.getInputs()[0];
    candidate.axes = shardings.getAxes(keys, 0);
    candidate.parts = sequential.getParts(keys, 0);
  }
  shardings.resolveConflicts();
  for (Candidate& candidate : candidates)
    if (candidate.axes.empty()) candidate.axes = getRowAxes(shardings, candidate.sort.getInputs()[0]);
  DenseSet<Operation*> written;
  for (const Candidate& candidate : candidates)
    if (candidate.getBlocks() > 1 && !written.contains(candidate.sort) && block(function, axes, candidate, written))
      ++numBlocked;
}

bool BlockSortsPass::block(func::FuncOp function, const MeshAxes& mesh, const Candidate& candidate,
                           DenseSet<Operation*>& written) {
  // Analysed again: another sort may have been written.
  SmallVector<LoopPair, 0> pairs = LoopPair::find(function);
  SortedRows rows(candidate.sort, pairs);
  if (!rows.analyze() || rows.getNumRows() == 0 || !canBeBlocked(rows, candidate)) return false;
  SmallVector<RowAccess> accesses = rows.getBlockedAccesses(candidate.getBlocks());
  if (accesses.empty()) return false;
  for (SortOp inverse : rows.getSorts()) written.insert(inverse);
  bool isEven = rows.getNumRows() % candidate.getBlocks() == 0;
  RowBlocks blocks{candidate.getBlocks(), isEven ? AxisParts() : candidate.axes, mesh};
  RowsWriter(rows, pairs).write(accesses, blocks);
  return true;
}

Value RowsWriter::getKeys(std::optional<unsigned> pair) {
  if (!pair) return rows.getSortedKeys();
  Value& keys = fetched[*pair];
  if (!keys) keys = pairs[*pair].fetch(rows.getSortedKeys());
  return keys;
}

void RowsWriter::write(ArrayRef<RowAccess> accesses, const RowBlocks& blocks) {
  for (const GroupComparison& comparison : rows.getComparisons()) {
    arith::CmpIOp op = comparison.op;
    touch(op);
    op.getResult().replaceAllUsesWith(writeWithKeys(comparison, getKeys(comparison.pair)));
    op.erase();
  }
  for (const RowAccess& access : accesses) touch(access.op), writeBlocks(access, blocks);
  for (SortOp sort : rows.getSorts()) touch(sort), writeBlocks(sort, blocks);
  // Comparisons of positions may stand before the sort.
  for (Block* block : touched) sortTopologically(block);
}
