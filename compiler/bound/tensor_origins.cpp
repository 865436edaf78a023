// One walk backwards for what is needed complete, one forwards for where it comes from.
#include "compiler/bound/tensor_origins.h"

#include "compiler/bound/matmul_volume.h"
#include "dialects/sgd/sharding_rule.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

/// Whether a sum of operands `index` gives a sum of results, element for element: a program may come to the sum behind
/// the op, whatever that does to precision.
static bool isLinear(Operation* op, unsigned index) {
  return (keepsAllElements(op) || isElementwise(op)) && getLinearity(op, index, ReduceKind::Add) != Linearity::None;
}

/// The result that holds what is in `use` as it is; null where there is none.
static Value getForwarded(OpOperand& use) {
  auto flow = dyn_cast<DataFlowOpInterface>(use.getOwner());
  std::optional<unsigned> index = flow ? flow.getDataFlowEdgeFrom(use) : std::nullopt;
  if (!index) return {};
  DataFlowEdge edge = flow.getDataFlowEdge(*index);
  return edge.isChosen() ? OpResult() : edge.getResult();
}

/// A dot_general, or a convolution, which is the matmul of its windows.
static bool isMatmul(Operation* op) { return isa<DotGeneralOp, ConvolutionOp>(op); }

TensorOrigins::TensorOrigins(func::FuncOp function, MeshAttr mesh) : mesh(mesh), chains(function.front()) {
  Block& block = function.front();
  findNeeds(block);
  for (BlockArgument argument : function.getArguments()) setRoot(argument, std::nullopt);
  for (Operation& op : block) visit(op);
}

double TensorOrigins::getNumShards(Type type) const {
  double shards = 1;
  if (ShardingAttr sharding = getSharding(type))
    for (const AxisParts& dim : getShardState(mesh, sharding).dims) shards *= static_cast<double>(getGroupSize(dim));
  return shards;
}

bool TensorOrigins::isSharedEqually(Operation* op) const {
  auto divides = [&](Value value) {
    ShardingAttr sharding = getSharding(value.getType());
    if (!sharding) return true;
    ShardState state = getShardState(mesh, sharding);
    return llvm::all_of(llvm::zip(tensorType(value).getShape(), state.dims),
                        [](const auto& dim) { return std::get<0>(dim) % getGroupSize(std::get<1>(dim)) == 0; });
  };
  return llvm::all_of(op->getOperands(), divides) && llvm::all_of(op->getResults(), divides);
}

double TensorOrigins::getDegree(Operation* op) const {
  AxisParts used;
  auto add = [&](ArrayRef<AxisPart> parts) { used.append(difference(parts, used)); };
  for (Value value : llvm::concat<Value>(SmallVector<Value>(op->getOperands()), SmallVector<Value>(op->getResults())))
    if (ShardingAttr sharding = getSharding(value.getType())) {
      ShardState state = getShardState(mesh, sharding);
      for (const AxisParts& dim : state.dims) add(dim);
      add(state.partial);
    }
  return static_cast<double>(std::min(getGroupSize(used), mesh.getNumRanks()));
}

// Values that are needed complete
// ----------------------------------------------------------------------------------------------

/// The stack with all updates that `update` is one of; null where a later one may hide it.
static Value getStackOf(DynamicUpdateSliceOp update) {
  std::optional<SliceRegion> region = getRegion(update);
  Value stack = update.getResult();
  while (region && stack.hasOneUse()) {
    Operation* user = *stack.user_begin();
    if (auto next = dyn_cast<DynamicUpdateSliceOp>(user)) {
      std::optional<SliceRegion> other = getRegion(next);
      if (!other || other->overlaps(*region) || next.getUpdate() == stack) return {};
      stack = next.getResult();
    } else if (isa<ReshardOp>(user)) {
      stack = user->getResult(0);
    } else {
      break;
    }
  }
  return region ? stack : Value();
}

/// Whether all elements of `use` have an influence on what the program returns. Ops that are not seen through may read
/// some of them alone.
bool TensorOrigins::isReadWhole(OpOperand& use) const {
  Operation* op = use.getOwner();
  if (isa<func::ReturnOp>(op)) return tensorType(use.get()).getNumElements() != 0;
  if (Value forwarded = getForwarded(use)) return readWhole.lookup(forwarded);
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    return use.getOperandNumber() == 1 && readWhole.lookup(getStackOf(update));
  if (!isMatmul(op) && !keepsAllElements(op) && !isElementwise(op) && !isa<ReduceOp, BroadcastInDimOp>(op))
    return false;
  return readWhole.lookup(op->getResult(0));
}

/// Whether slices that are read as a whole leave nothing of `value`.
bool TensorOrigins::isReadInSlices(Value value) const {
  SmallVector<SliceRegion> regions;
  int64_t covered = 0;
  for (Operation* user : value.getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    std::optional<SliceRegion> region = slice ? getRegion(slice) : std::nullopt;
    if (!region || !readWhole.lookup(slice.getResult()) ||
        llvm::any_of(regions, [&](const SliceRegion& other) { return other.overlaps(*region); }))
      continue;
    regions.push_back(*region);
    covered += slice.getType().getNumElements();
  }
  return !regions.empty() && covered == tensorType(value).getNumElements();
}

/// A matmul whose work all ranks share cannot run on partial operands instead: each rank would do all of it.
bool TensorOrigins::isNeededBy(OpOperand& use) const {
  Operation* op = use.getOwner();
  if (!isReadWhole(use)) return false;
  if (isa<func::ReturnOp>(op)) {
    ShardingAttr sharding = getSharding(use.get().getType());
    return !sharding || !sharding.isPartial();
  }
  if (isMatmul(op)) return getDegree(op) == static_cast<double>(mesh.getNumRanks());
  if (Value forwarded = getForwarded(use)) return needs.lookup(forwarded);
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    return use.getOperandNumber() == 1 && needs.lookup(getStackOf(update));
  if (isLinear(op, use.getOperandNumber())) return needs.lookup(op->getResult(0));
  return isElementwise(op);
}

void TensorOrigins::findNeeds(Block& block) {
  for (Operation& op : llvm::reverse(block))
    for (Value result : op.getResults()) {
      readWhole[result] =
          llvm::any_of(result.getUses(), [&](OpOperand& use) { return isReadWhole(use); }) || isReadInSlices(result);
      needs[result] = llvm::any_of(result.getUses(), [&](OpOperand& use) { return isNeededBy(use); });
    }
}

bool TensorOrigins::isNeededElsewhere(Value value, Operation* user) const {
  return llvm::any_of(value.getUses(), [&](OpOperand& use) { return use.getOwner() != user && isNeededBy(use); });
}

// Where elements come from
// ---------------------------------------------------------------------------------------------

unsigned TensorOrigins::addSum(PartialSum sum) {
  leaders.push_back(partialSums.size());
  sumOf[sum.value] = partialSums.size();
  partialSums.push_back(sum);
  return partialSums.size() - 1;
}

unsigned TensorOrigins::getLeader(unsigned sum) const {
  while (leaders[sum] != sum) sum = leaders[sum];
  return sum;
}

void TensorOrigins::join(unsigned a, unsigned b) {
  unsigned first = getLeader(std::min(a, b)), second = getLeader(std::max(a, b));
  if (first == second) return;
  leaders[second] = first;
  PartialSum& joined = partialSums[first];
  joined.held = std::max(joined.held, partialSums[second].held);
  joined.contributed = std::max(joined.contributed, partialSums[second].contributed);
  joined.bytes = std::min(joined.bytes, partialSums[second].bytes);
  joined.isNeeded |= partialSums[second].isNeeded;
  joined.isAdded &= partialSums[second].isAdded;
}

void TensorOrigins::setRoot(Value value, std::optional<unsigned> sum, std::optional<unsigned> parent) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getNumElements() == 0) return;
  origins[value] = {roots.size(), static_cast<double>(getElementBytes(type.getElementType())), true};
  roots.push_back({value, sum, parent});
}

void TensorOrigins::visit(Operation& op) {
  if (isMatmul(&op)) return visitMatmul(&op);
  if (isa<ReduceOp>(op)) return visitReduction(&op);
  if (auto slice = dyn_cast<SliceOp>(op)) return visitSlice(slice);
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op); update && getRegion(update))
    return setRoot(update.getResult(), std::nullopt);
  for (OpOperand& operand : op.getOpOperands())
    if (Value result = getForwarded(operand)) {
      if (auto origin = origins.find(operand.get()); origin != origins.end()) origins[result] = Origin(origin->second);
      if (auto sum = sumOf.find(operand.get()); sum != sumOf.end()) sumOf[result] = unsigned(sum->second);
    }
  if (op.getNumResults() == 1 && (keepsAllElements(&op) || isElementwise(&op))) visitSamePositions(&op);
}

/// An earlier matmul of the same operands, which CSE will join with this one.
static Operation* findEqualBefore(Operation* op) {
  for (Operation* other : op->getOperand(0).getUsers())
    if (other != op && other->getBlock() == op->getBlock() && other->isBeforeInBlock(op) &&
        OperationEquivalence::isEquivalentTo(other, op, OperationEquivalence::IgnoreLocations))
      return other;
  return nullptr;
}

void TensorOrigins::visitMatmul(Operation* op) {
  Value result = op->getResult(0);
  double elements = static_cast<double>(tensorType(result).getNumElements());
  if (elements == 0 || getMatmulVolume(op)->multiplications == 0) return;
  if (Operation* equal = findEqualBefore(op)) {
    origins[result] = getOrigin(equal->getResult(0));
    if (auto sum = sumOf.find(equal->getResult(0)); sum != sumOf.end()) sumOf[result] = unsigned(sum->second);
    return;
  }
  double bytes = static_cast<double>(getElementBytes(tensorType(result).getElementType()));
  setRoot(result, addSum({result, elements / getDegree(op), 0, bytes, needs.lookup(result), true}));
  if (readWhole.lookup(result)) matmuls.push_back(op);
}

/// The update at this position, or a slice of an argument, which equal slices share.
void TensorOrigins::visitSlice(SliceOp slice) {
  Value sliced = chains.getSliced(slice);
  if (!sliced) return;
  if (!isa<BlockArgument>(sliced)) {
    if (tensorType(sliced).getNumElements() != slice.getType().getNumElements()) return;
    origins[slice.getResult()] = getOrigin(sliced);
    origins[slice.getResult()].keepsDims = false;
    return;
  }
  std::optional<unsigned> parent = getOrigin(sliced).root;
  for (auto [index, root] : llvm::enumerate(roots))
    if (root.parent == parent && parent && getRegion(root.value.getDefiningOp<SliceOp>()) == getRegion(slice)) {
      origins[slice.getResult()] = {unsigned(index), getOrigin(sliced).bytes, false};
      return;
    }
  if (parent) setRoot(slice.getResult(), std::nullopt, parent);
}

/// The argument that `value` is made from alone, where nothing else reads what is on the way.
static BlockArgument getOnlyArgument(Value value) {
  while (value.hasOneUse()) {
    if (auto argument = dyn_cast<BlockArgument>(value)) return argument;
    Operation* op = value.getDefiningOp();
    if (!isElementwise(op)) return {};
    SmallVector<Value> inputs;
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp<arith::ConstantOp>()) inputs.push_back(operand);
    if (inputs.size() != 1) return {};
    value = inputs.front();
  }
  return {};
}

/// True when a value, moved or not, is a result and nothing else.
static bool isOnlyReturned(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation* user) {
    return isa<func::ReturnOp>(user) || (keepsAllElements(user) && isOnlyReturned(user->getResult(0)));
  });
}

/// Each rank holds its part of an argument that nothing else reads: whether elements or partial sums of them are sent,
/// all ranks that hold parts of one sum must contribute.
void TensorOrigins::visitReduction(Operation* op) {
  auto reduce = cast<ReduceOp>(op);
  BlockArgument argument = getOnlyArgument(reduce.getInput());
  ShardingAttr sharding = argument ? getSharding(argument.getType()) : ShardingAttr();
  double elements = static_cast<double>(tensorType(reduce.getResult()).getNumElements());
  if (!sharding || elements == 0 || tensorType(reduce.getInput()).getNumElements() == 0) return;
  ShardState state = getShardState(mesh, sharding);
  double parts = 1;
  for (auto [dim, axes] : llvm::enumerate(state.dims)) {
    // Ranks beyond the elements hold nothing that they would have to send.
    int64_t shards = getGroupSize(axes), size = tensorType(argument).getDimSize(dim);
    if (shards > size || size % shards != 0) return;
    if (llvm::is_contained(reduce.getDimensions(), static_cast<int64_t>(dim))) parts *= static_cast<double>(shards);
  }
  if (parts == 1) return;
  // Largest elements of largest ones may be all that anyone needs.
  if (reduce.getKind() != ReduceKind::Add && !isOnlyReturned(reduce.getResult())) return;
  // Of ranks that hold the same part one has its say.
  double share = elements / static_cast<double>(mesh.getNumRanks());
  double bytes = static_cast<double>(getElementBytes(tensorType(reduce.getResult()).getElementType()));
  Value result = reduce.getResult();
  setRoot(result,
          addSum({result, share, share * parts, bytes, needs.lookup(result), reduce.getKind() == ReduceKind::Add}));
}

/// True for operands whose partial sums may be combined with those of others by the operand's op. Of kinds other than
/// addition any op may do that.
bool TensorOrigins::isAddend(OpOperand& operand) const {
  Operation* op = operand.getOwner();
  if (op->getNumOperands() < 2) return false;
  return !getSum(sumOf.lookup(operand.get())).isAdded ||
         getLinearity(op, operand.getOperandNumber(), ReduceKind::Add) == Linearity::Together;
}

/// The partial sum that the only result of `op` is, where its operands are.
std::optional<unsigned> TensorOrigins::getSumOf(Operation* op) const {
  std::optional<unsigned> found;
  for (OpOperand& operand : op->getOpOperands()) {
    auto sum = sumOf.find(operand.get());
    if (sum == sumOf.end()) continue;
    bool adds = isAddend(operand);
    if (!adds && (found || !isLinear(op, operand.getOperandNumber()))) return std::nullopt;
    // A value that is needed complete anyway adds no partial sums.
    if (adds && isNeededElsewhere(operand.get(), op)) continue;
    if (!found) found = sum->second;
  }
  return found;
}

void TensorOrigins::visitSamePositions(Operation* op) {
  Value result = op->getResult(0);
  auto type = tensorType(result);
  // The way comes from the latest matmul, else from the argument of which a rank holds least.
  std::optional<Origin> best;
  auto rankOf = [&](const Origin& origin) {
    const Root& root = roots[*origin.root];
    bool isArgument = isa<BlockArgument>(root.value) || root.parent;
    return std::make_pair(isArgument ? 0 : double(*origin.root) + 1, getNumShards(root.value.getType()));
  };
  for (Value operand : op->getOperands()) {
    auto operandType = dyn_cast<RankedTensorType>(operand.getType());
    if (!operandType || operandType.getNumElements() != type.getNumElements()) continue;
    Origin origin = getOrigin(operand);
    if (origin.root && (!best || rankOf(origin) > rankOf(*best))) best = origin;
  }
  if (best) {
    best->bytes = std::min(best->bytes, static_cast<double>(getElementBytes(type.getElementType())));
    best->keepsDims &= !keepsAllElements(op) || isa<ReshardOp>(op);
    origins[result] = *best;
  }
  std::optional<unsigned> sum = getSumOf(op);
  if (!sum) return;
  for (OpOperand& operand : op->getOpOperands()) {
    auto other = sumOf.find(operand.get());
    if (other == sumOf.end() || (isAddend(operand) && isNeededElsewhere(operand.get(), op))) continue;
    join(*sum, other->second);
  }
  sumOf[result] = *sum;
  PartialSum& joined = partialSums[getLeader(*sum)];
  joined.bytes = std::min(joined.bytes, static_cast<double>(getElementBytes(type.getElementType())));
}
