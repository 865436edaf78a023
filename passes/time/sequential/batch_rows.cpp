// Rows are found by propagation of an axis that has one coordinate for each row.
#include "passes/time/sequential/batch_rows.h"

#include <numeric>

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/Support/MathExtras.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/propagation/propagated_copy.h"

using namespace mlir;
using namespace mlir::sgd;

/// The most padding that equal parts on ranks beyond those of the inputs are worth: one row in so many.
static constexpr int64_t kPaddingForRanks = 8;

BatchRows::BatchRows(func::FuncOp function, const MeshAxes& mesh, MeshAxisAttr axis)
    : function(function), parts(axis.getSize()) {
  findBatches(mesh);
  if (batches.empty()) return;
  // Copies of the function have their own constants for each use, as shardings need them: so must the function.
  splitFreeValues(function);
  for (unsigned batch = 0; batch < batches.size(); ++batch) findRows(batch, mesh.getName());
  alignWithRanks(mesh);
}

std::optional<unsigned> BatchRows::getInputDim(unsigned argument, int64_t rows) const {
  auto dim = func::FuncOp(function).getArgAttrOfType<IntegerAttr>(argument, kSequentialDimAttr);
  auto type = cast<RankedTensorType>(func::FuncOp(function).getArgumentTypes()[argument]);
  bool isOfBatch = dim && dim.getInt() < type.getRank() && type.getDimSize(dim.getInt()) == rows;
  return isOfBatch ? std::optional<unsigned>(dim.getInt()) : std::nullopt;
}

/// Inputs with as many rows are one batch.
void BatchRows::findBatches(const MeshAxes& mesh) {
  llvm::MapVector<int64_t, SmallVector<BlockArgument>> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto dim = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kSequentialDimAttr);
    if (dim && dim.getInt() < tensorType(argument).getRank())
      inputs[tensorType(argument).getDimSize(dim.getInt())].push_back(argument);
  }
  int64_t ranks = mesh.getMesh().getNumRanks();
  inputs.remove_if([&](const auto& entry) { return entry.first % (parts * ranks) == 0; });
  if (inputs.empty()) return;
  std::optional<PropagatedCopy> shardings;
  if (ranks > 1) shardings.emplace(function, mesh, [](func::FuncOp) {});
  if (shardings && !*shardings) return;  // sgd-shard will say why
  for (const auto& [rows, arguments] : inputs) {
    int64_t shards = 1;
    for (BlockArgument argument : arguments)
      if (shardings)
        shards =
            std::lcm(shards, getGroupSize(shardings->getAxes(argument, *getInputDim(argument.getArgNumber(), rows))));
    int64_t padded = llvm::alignTo(rows, parts * shards);
    if (padded != rows) batches.push_back({rows, padded, arguments.front()});
  }
}

/// The largest divisor of `rows` that a mesh axis may have as its size.
static int64_t getAxisSize(int64_t rows) {
  constexpr int64_t kMost = int64_t(1) << 20;
  int64_t count = llvm::divideCeil(rows, kMost);
  while (rows % count != 0) ++count;
  return rows / count;
}

void BatchRows::findRows(unsigned batch, FlatSymbolRefAttr meshName) {
  int64_t size = batches[batch].rows;
  auto axis = MeshAxisAttr::get(function.getContext(), "rows", getAxisSize(size));
  MeshAxes mesh(meshName, MeshAttr::get(function.getContext(), axis));
  PropagatedCopy copy(function, mesh, [&](func::FuncOp copied) {
    shardArgumentsAlone(copied, mesh, [&](unsigned index) { return getInputDim(index, size); });
  });
  if (!copy) return;
  AxisParts whole{{0, 1, axis.getSize()}};
  auto visit = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || isMadeFreely(value)) return;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.getDimSize(dim) > 0 && type.getDimSize(dim) % size == 0 && copy.getAxes(value, dim) == whole)
        rows.try_emplace(value, RowsDim{batch, static_cast<unsigned>(dim)});
  };
  for (BlockArgument argument : function.getArguments())
    if (std::optional<unsigned> dim = getInputDim(argument.getArgNumber(), size))
      rows.try_emplace(argument, RowsDim{batch, *dim});
  for (Block* block : getProgramBlocks(function)) {
    if (block != &function.front()) llvm::for_each(block->getArguments(), visit);
    for (Operation& op : *block) llvm::for_each(op.getResults(), visit);
  }
}

/// Rows that more ranks share somewhere than at the inputs have equal parts there too, for a little padding.
void BatchRows::alignWithRanks(const MeshAxes& mesh) {
  if (mesh.getMesh().getNumRanks() == 1) return;
  PropagatedCopy shardings(function, mesh, [](func::FuncOp) {});
  if (!shardings) return;
  SmallVector<int64_t> shards(batches.size(), 1);
  for (auto [value, own] : rows)
    if (tensorType(value).getDimSize(own.dim) == batches[own.batch].rows)
      shards[own.batch] = std::lcm(shards[own.batch], getGroupSize(shardings.getAxes(value, own.dim)));
  for (auto [batch, count] : llvm::zip(batches, shards)) {
    int64_t aligned = llvm::alignTo(batch.rows, parts * count);
    if ((aligned - batch.padded) * kPaddingForRanks <= batch.rows) batch.padded = std::max(batch.padded, aligned);
  }
}

std::optional<RowsDim> BatchRows::get(Value value) const {
  auto found = rows.find(value);
  return found == rows.end() ? std::nullopt : std::optional(found->second);
}

static RankedTensorType scaled(RankedTensorType type, unsigned dim, int64_t from, int64_t to) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = shape[dim] / from * to;
  return type.clone(shape);
}

RankedTensorType BatchRows::withPadding(RankedTensorType type, RowsDim rows) const {
  return scaled(type, rows.dim, batches[rows.batch].rows, batches[rows.batch].padded);
}

RankedTensorType BatchRows::withoutPadding(RankedTensorType type, RowsDim rows) const {
  return scaled(type, rows.dim, batches[rows.batch].padded, batches[rows.batch].rows);
}
