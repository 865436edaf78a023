// The pass sgd-block-sorts.
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/context/sequential_dims.h"
#include "passes/permutation/block_writer.h"
#include "passes/permutation/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_BLOCKSORTSPASS
#include "passes/permutation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// A sort of vectors, which may be an argsort: one operand counts.
static bool isArgsort(SortOp sort) {
  return tensorType(sort.getInputs()[0]).getRank() == 1 &&
         llvm::any_of(sort.getInputs().drop_front(), [](Value input) { return input.getDefiningOp<IotaOp>(); });
}

namespace {
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
  void block(const SortedRows& rows, ArrayRef<RowAccess> accesses, int64_t blocks);
};
}  // namespace

void BlockSortsPass::visit(func::FuncOp function, MeshOp mesh) {
  SmallVector<SortOp> candidates;
  function.walk([&](SortOp sort) {
    if (isArgsort(sort) && SortedRows(sort).analyze()) candidates.push_back(sort);
  });
  if (candidates.empty()) return;
  MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
  PropagatedCopy shardings(function, axes, [](func::FuncOp) {});
  if (!shardings) return;  // sgd-shard will say why
  SequentialDims sequential(function, axes.getName(), getSequentialAxis(mesh));
  auto blocks = llvm::map_to_vector(candidates, [&](SortOp sort) {
    Value keys = sort.getInputs()[0];
    return getGroupSize(shardings.getAxes(keys, 0)) * sequential.getParts(keys, 0);
  });
  DenseSet<Operation*> written;
  for (auto [sort, blocks] : llvm::zip(candidates, blocks)) {
    int64_t size = written.contains(sort) ? 0 : tensorType(sort.getInputs()[0]).getNumElements();
    if (blocks == 1 || size == 0 || size % blocks != 0) continue;
    // Analysed again: another sort may have been written.
    SortedRows rows(sort);
    SmallVector<RowAccess> accesses;
    if (rows.analyze()) accesses = rows.getBlockedAccesses(blocks);
    if (accesses.empty()) continue;
    for (SortOp inverse : rows.getSorts()) written.insert(inverse);
    block(rows, accesses, blocks);
    ++numBlocked;
  }
}

void BlockSortsPass::block(const SortedRows& rows, ArrayRef<RowAccess> accesses, int64_t blocks) {
  Block* body = SortOp(rows.getSorts()[0])->getBlock();
  for (const GroupComparison& comparison : rows.getComparisons()) {
    arith::CmpIOp op = comparison.op;
    op.getResult().replaceAllUsesWith(writeWithKeys(comparison, rows.getSortedKeys()));
    op.erase();
  }
  for (const RowAccess& access : accesses) writeBlocks(access, blocks);
  for (SortOp sort : rows.getSorts()) writeBlocks(sort, blocks);
  // Comparisons of positions may stand before the sort.
  sortTopologically(body);
}
