// Follows the dimension of rows forward, by the sharding rules of ops, to the slices of loops.
#include "compiler/recipe/stepped_rows.h"

#include "dialects/sgd/sharding_rule.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A slice of a block of rows, from a tensor that the loop leaves as it is.
struct BlockSlice {
  DynamicSliceOp op;
  unsigned dim;
};

class RowFlow {
 public:
  explicit RowFlow(ArrayRef<RowsOfInput> inputs, func::FuncOp function) {
    for (RowsOfInput input : inputs) push(function.getArgument(input.argument), input.dim, {input.argument, {}});
  }

  void run() {
    while (!pending.empty()) {
      Place place = pending.pop_back_val();
      Origin origin = origins.lookup(place);
      for (OpOperand& use : place.first.getUses()) visit(use, place.second, origin);
    }
    for (const auto& [place, rows] : rowsTaken)
      if (static_cast<int64_t>(rows.size()) == tensorType(place.first).getDimSize(place.second))
        addStep(origins.lookup(place));
  }

  SteppedRows found;
  SmallVector<BlockSlice> slices;  // of rows that no reshape has put into blocks

 private:
  using Place = std::pair<Value, unsigned>;  // a tensor and its dimension
  struct Origin {
    unsigned argument = 0;
    std::optional<BlocksOfRows> split = {};  // the last reshape that cut the rows
  };

  void push(Value value, unsigned dim, const Origin& origin) {
    if (origins.try_emplace({value, dim}, origin).second) pending.push_back({value, dim});
  }

  void visit(OpOperand& use, unsigned dim, const Origin& origin);
  bool visitStep(OpOperand& use, unsigned dim, const Origin& origin);
  void addStep(const Origin& origin);

  DenseMap<Place, Origin> origins;
  llvm::MapVector<Place, llvm::SmallDenseSet<int64_t>> rowsTaken;  // one by one, by an unrolled loop
  SmallVector<Place> pending;
};

}  // namespace

/// Whether `slice` takes a part of dimension `dim` that depends on the trip of a loop.
static bool isStep(DynamicSliceOp slice, unsigned dim) {
  return slice.getSizes()[dim] != tensorType(slice.getInput()).getDimSize(dim) && slice->getParentOfType<WhileOp>() &&
         !isa_and_nonnull<arith::ConstantOp>(slice.getStarts()[dim].getDefiningOp());
}

/// A loop takes one index of the rows' major dimension after the other.
void RowFlow::addStep(const Origin& origin) {
  if (!origin.split) {
    found.stackedInputs.insert(origin.argument);
    return;
  }
  bool isKnown = llvm::any_of(found.blocks, [&](const BlocksOfRows& one) { return one.value == origin.split->value; });
  if (!isKnown) found.blocks.push_back(*origin.split);
}

/// Whether the use takes a part of the rows; adds it if it is a step.
bool RowFlow::visitStep(OpOperand& use, unsigned dim, const Origin& origin) {
  if (use.getOperandNumber() != 0) return false;
  if (auto slice = dyn_cast<SliceOp>(use.getOwner())) {
    if (tensorType(slice).getDimSize(dim) != 1 || tensorType(slice.getInput()).getDimSize(dim) == 1) return false;
    rowsTaken[{use.get(), dim}].insert(slice.getStarts()[dim]);
    return true;
  }
  auto slice = dyn_cast<DynamicSliceOp>(use.getOwner());
  if (!slice || !isStep(slice, dim)) return false;
  if (slice.getSizes()[dim] == 1 || origin.split)
    addStep(origin);
  else
    slices.push_back({slice, dim});
  return true;
}

void RowFlow::visit(OpOperand& use, unsigned dim, const Origin& origin) {
  Operation* op = use.getOwner();
  auto flow = dyn_cast<DataFlowOpInterface>(op->hasTrait<OpTrait::IsTerminator>() ? op->getParentOp() : op);
  if (flow) {
    if (std::optional<unsigned> edge = flow.getDataFlowEdgeFrom(use))
      for (Value target : flow.getDataFlowEdge(*edge).targets)
        if (tensorType(target).getRank() > dim) push(target, dim, origin);
    return;
  }
  auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
  if (!ruled || visitStep(use, dim, origin)) return;
  ShardingRule rule = ruled.getShardingRule();
  const TensorMapping& mapping = rule.operands[use.getOperandNumber()];
  if (dim >= mapping.size() || mapping[dim].empty()) return;
  unsigned major = mapping[dim].front();
  if (rule.factors[major].kind != FactorKind::PassThrough) return;
  auto findDim = [&](const TensorMapping& result, unsigned factor) -> std::optional<unsigned> {
    auto found = llvm::find_if(result, [&](const auto& factors) { return !factors.empty() && factors[0] == factor; });
    return found == result.end() ? std::nullopt : std::optional<unsigned>(found - result.begin());
  };
  for (auto [result, factors] : llvm::zip(op->getResults(), rule.results)) {
    std::optional<unsigned> to = findDim(factors, major);
    if (!to) continue;
    std::optional<unsigned> minor;
    if (mapping[dim].size() > 1 && factors[*to].size() == 1) minor = findDim(factors, mapping[dim][1]);
    Origin next = origin;
    if (minor) next.split = BlocksOfRows{result, *to, *minor};
    push(result, *to, next);
    // A loop over the minor dimension takes every nth row: x.reshape(B/n, n, ..).swapaxes(0, 1).
    if (minor) push(result, *minor, {origin.argument, BlocksOfRows{result, *minor, *to}});
  }
}

/// Whether `slice` is known to begin at a multiple of its size in each trip.
static bool beginsAtMultiples(WhileOp loop, BlockSlice slice) {
  int64_t rows = tensorType(slice.op.getInput()).getDimSize(slice.dim), size = slice.op.getSizes()[slice.dim];
  auto argument = dyn_cast<BlockArgument>(slice.op.getInput());
  if (rows % size != 0 || !argument || !loop.isInvariant(argument.getArgNumber())) return false;
  std::optional<SmallVector<int64_t>> starts = getTripValues(loop, slice.op.getStarts()[slice.dim]);
  return starts &&
         llvm::all_of(*starts, [&](int64_t start) { return start >= 0 && start <= rows - size && start % size == 0; });
}

/// `shape` with dimension `dim` as blocks of `size`.
static SmallVector<int64_t> splitDim(ArrayRef<int64_t> shape, unsigned dim, int64_t size) {
  SmallVector<int64_t> split(shape);
  split[dim] = size;
  split.insert(split.begin() + dim, shape[dim] / size);
  return split;
}

/// Makes `slice` take one block of `blocks`, which holds its operand's rows in blocks.
static void sliceBlock(const BlockSlice& slice, Value blocks) {
  DynamicSliceOp op = slice.op;
  OpBuilder builder(op);
  SmallVector<Value> starts(op.getStarts());
  auto integer = tensorType(starts[slice.dim]);
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, op.getLoc(),
                                     DenseElementsAttr::get(integer, APInt(integer.getElementTypeBitWidth(), value)));
  };
  int64_t size = op.getSizes()[slice.dim];
  starts[slice.dim] = DivSIOp::create(builder, op.getLoc(), starts[slice.dim], constant(size));
  starts.insert(starts.begin() + slice.dim + 1, constant(0));
  SmallVector<int64_t> sizes(op.getSizes());
  sizes.insert(sizes.begin() + slice.dim, 1);
  auto type = RankedTensorType::get(sizes, op.getType().getElementType());
  auto block = DynamicSliceOp::create(builder, op.getLoc(), type, blocks, starts, sizes);
  op.getResult().replaceAllUsesWith(ReshapeOp::create(builder, op.getLoc(), op.getType(), block).getResult());
  op.erase();
}

/// Reshapes what `slices`, all of one loop, read.
static void splitRows(WhileOp loop, ArrayRef<BlockSlice> slices, SmallVectorImpl<BlocksOfRows>& found) {
  struct Split {
    unsigned iterArg, dim;
    int64_t size;
    bool operator==(const Split&) const = default;
  };
  auto getSplit = [](const BlockSlice& slice) {
    DynamicSliceOp op = slice.op;
    return Split{cast<BlockArgument>(op.getInput()).getArgNumber(), slice.dim, op.getSizes()[slice.dim]};
  };
  SmallVector<Split> splits;
  SmallVector<Value> inits;
  OpBuilder builder(loop);
  for (const BlockSlice& slice : slices) {
    Split split = getSplit(slice);
    if (llvm::is_contained(splits, split)) continue;
    Value whole = loop.getInits()[split.iterArg];
    RankedTensorType type = tensorType(whole);
    auto blocks = RankedTensorType::get(splitDim(type.getShape(), split.dim, split.size), type.getElementType());
    splits.push_back(split);
    inits.push_back(ReshapeOp::create(builder, loop.getLoc(), blocks, whole));
    found.push_back({inits.back(), split.dim, split.dim + 1});
  }
  unsigned first = loop.getInits().size();
  WhileOp larger = addInvariants(loop, inits);
  for (const BlockSlice& slice : slices) {
    auto split = llvm::find(splits, getSplit(slice));
    sliceBlock(slice, larger.getBody().getArgument(first + (split - splits.begin())));
  }
}

SteppedRows mlir::sgd::findSteppedRows(func::FuncOp function, ArrayRef<RowsOfInput> inputs) {
  RowFlow flow(inputs, function);
  flow.run();
  llvm::MapVector<Operation*, SmallVector<BlockSlice>> byLoop;
  for (const BlockSlice& slice : flow.slices) {
    DynamicSliceOp op = slice.op;
    auto loop = dyn_cast<WhileOp>(op->getParentOp());
    if (loop && beginsAtMultiples(loop, slice))
      byLoop[loop].push_back(slice);
    else
      flow.found.blocks.push_back({op.getResult(), std::nullopt, slice.dim});
  }
  for (auto& [loop, slices] : byLoop) splitRows(cast<WhileOp>(loop), slices, flow.found.blocks);
  return std::move(flow.found);
}
