// Chooses a kernel's variables: parallel and row dimensions, their splits, and the lane variable.
#include "targets/kernels/kernel_plan.h"

#include "dialects/fusion/fusion_dialect.h"
#include "mlir/IR/Diagnostics.h"
#include "targets/kernels/node_builder.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

namespace {

/// A dimension of the domain before it is split; strides of the splits, outer to inner, each a multiple of the next.
struct BaseDimension {
  int64_t extent;
  SmallVector<int64_t> splits;
  SmallVector<unsigned> vars;
};

/// The dimensions that the reductions of a cluster share, and the layout over the domain of the tensor that they
/// reduce.
struct ReduceShape {
  int64_t resultElements = 1;
  SmallVector<int64_t> extents;  // of runs of reduced dimensions
  SmallVector<int64_t> strides;
  SmallVector<int64_t> keptExtents, keptStrides;
};

int64_t elements(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

ReduceShape shapeOf(ReduceOp op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  ReduceShape shape;
  shape.resultElements = elements(op.getResult());
  SmallVector<int64_t> strides = getRowMajorStrides(input.getShape());
  int previous = -1;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    if (size == 1) continue;
    int isReduced = llvm::is_contained(op.getDimensions(), static_cast<int64_t>(dim));
    auto& extents = isReduced ? shape.extents : shape.keptExtents;
    auto& steps = isReduced ? shape.strides : shape.keptStrides;
    if (previous == isReduced) {
      extents.back() *= size, steps.back() = strides[dim];
    } else {
      extents.push_back(size), steps.push_back(strides[dim]);
    }
    previous = isReduced;
  }
  return shape;
}

/// Rows up to this length are processed in parallel lanes, though their elements are then gathered, when functions are
/// computed once per row: 65536 logsumexps of 32 elements take 1.0 ms so and 1.6 ms row by row, but sums of 16 elements
/// 0.56 and 0.10 ms. Rows that do not fill a vector are, when they are walked several times: softmax of 10 elements,
/// 0.50 and 0.70.
constexpr int64_t kShortRow = 40, kPartOfVector = 15;

/// Builds the plan of one cluster.
class Planner {
 public:
  Planner(fusion::ClusterOp cluster, WalkStyle style) : cluster(cluster), style(style) {}
  FailureOr<KernelPlan> run();

 private:
  LogicalResult findDomain();
  FailureOr<KernelPlan> planScatter(ScatterOp op);
  FailureOr<bool> buildOnce();  // false: split more and build again
  bool addSplit(const SplitRequest& request);
  IndexExpr declare(BaseDimension& base, SmallVectorImpl<unsigned>& vars);
  FailureOr<Store> buildStore(unsigned result, Value value, NodeBuilder& builder, const IndexExpr& parallel,
                              ArrayRef<IndexExpr> row);
  void chooseLane();
  bool chooseTile();
  int64_t contiguousWeight(unsigned var) const;

  fusion::ClusterOp cluster;
  WalkStyle style;
  KernelPlan plan;
  std::optional<ReduceShape> reduce;
  BaseDimension parallel{1, {}, {}};
  SmallVector<BaseDimension> row;
  bool tiled = false;
};

/// The value computed for result `result`: of one that overwrites the operand it updates, the update.
Value getComputed(fusion::ClusterOp cluster, unsigned result) {
  if (DynamicUpdateSliceOp update = cluster.getUpdate(result)) return update.getUpdate();
  return cluster.getBody().front().getTerminator()->getOperand(result);
}

LogicalResult Planner::findDomain() {
  for (Operation& op : cluster.getBody().front()) {
    auto reduceOp = dyn_cast<ReduceOp>(op);
    if (!reduceOp) continue;
    ReduceShape shape = shapeOf(reduceOp);
    if (shape.extents.empty() || elements(reduceOp.getInput()) == 0) continue;
    if (!reduce) reduce = shape;
    if (reduce->resultElements != shape.resultElements || reduce->extents != shape.extents)
      return reduceOp.emitOpError("reduces other dimensions than the rest of the kernel");
  }
  SmallVector<Value> computed;
  for (unsigned result = 0; result < cluster.getNumResults(); ++result)
    computed.push_back(getComputed(cluster, result));
  // Nothing is computed of results without elements, which may stand beside others.
  llvm::erase_if(computed, [](Value value) { return elements(value) == 0; });
  if (computed.empty()) {
    parallel.extent = 0;
    return success();
  }
  if (reduce) {
    parallel.extent = reduce->resultElements;
    for (int64_t extent : reduce->extents) row.push_back({extent, {}, {}});
    return success();
  }
  for (Value value : computed) {
    if (elements(value) != elements(computed.front()))
      return cluster.emitOpError("results of one kernel must have the same number of elements");
    parallel.extent = elements(value);
  }
  return success();
}

IndexExpr Planner::declare(BaseDimension& base, SmallVectorImpl<unsigned>& vars) {
  base.vars.clear();
  IndexExpr index;
  int64_t above = base.extent;
  SmallVector<int64_t> strides(base.splits);
  strides.push_back(1);
  for (int64_t stride : strides) {
    int64_t extent = stride == 0 ? 0 : above / stride;
    base.vars.push_back(plan.space.add(extent));
    vars.push_back(base.vars.back());
    index = index + IndexExpr::variable(base.vars.back()) * stride;
    above = stride;
  }
  return index;
}

bool Planner::addSplit(const SplitRequest& request) {
  auto splitBase = [&](BaseDimension& base) {
    auto position = llvm::find(base.vars, request.var);
    if (position == base.vars.end()) return false;
    size_t level = position - base.vars.begin();
    int64_t inner = level < base.splits.size() ? base.splits[level] : 1;
    base.splits.insert(base.splits.begin() + level, inner * request.stride);
    return true;
  };
  return splitBase(parallel) || llvm::any_of(row, splitBase);
}

FailureOr<Store> Planner::buildStore(unsigned result, Value value, NodeBuilder& builder, const IndexExpr& point,
                                     ArrayRef<IndexExpr> rowPoint) {
  Store store{result, kNone, point, false};
  if (reduce && elements(value) != reduce->resultElements) {
    int64_t rowElements = 1;
    for (int64_t extent : reduce->extents) rowElements *= extent;
    if (elements(value) != reduce->resultElements * rowElements)
      return cluster.emitOpError() << "result " << result
                                   << " has neither an element per row nor one per element of the reduced tensor";
    store.perRowPoint = true;
    store.index = builder.linearize(point, reduce->keptExtents, reduce->keptStrides);
    for (auto [position, stride] : llvm::zip(rowPoint, reduce->strides)) store.index = store.index + position * stride;
  }
  FailureOr<unsigned> node = builder.build(value, store.index);
  if (failed(node)) return failure();
  store.value = *node;
  if (DynamicUpdateSliceOp update = cluster.getUpdate(result)) {
    FailureOr<IndexExpr> place = builder.placeUpdate(update, store.index);
    if (failed(place)) return failure();
    store.index = *place;
  }
  return store;
}

FailureOr<bool> Planner::buildOnce() {
  plan = KernelPlan();
  plan.cluster = cluster;
  SmallVector<SplitRequest> requests;
  IndexExpr point = declare(parallel, plan.parallelVars);
  SmallVector<IndexExpr> rowPoint;
  for (BaseDimension& base : row) rowPoint.push_back(declare(base, plan.rowVars));
  if (plan.space.size() > 60) return cluster.emitOpError("has too many loop dimensions for one kernel");
  NodeBuilder builder(plan, requests);
  for (auto [base, position] : llvm::zip(row, rowPoint)) {
    builder.row.extents.push_back(base.extent);
    builder.row.indices.push_back(position);
  }
  for (unsigned number = 0; number < cluster.getNumResults(); ++number) {
    if (elements(getComputed(cluster, number)) == 0) continue;
    FailureOr<Store> store = buildStore(number, getComputed(cluster, number), builder, point, rowPoint);
    if (failed(store)) return failure();
    plan.stores.push_back(*store);
  }
  if (requests.empty()) return true;
  return !addSplit(requests.front());
}

int64_t Planner::contiguousWeight(unsigned var) const {
  int64_t weight = 0;
  auto consider = [&](const IndexExpr& index, uint64_t vars) {
    if (index.coefficient(var) != 1) return;
    int64_t points = 1;
    for (unsigned other = 0; other < 64 && (vars >> other) != 0; ++other)
      if (vars >> other & 1) points *= plan.space.extent(other);
    weight += points;
  };
  for (const Node& node : plan.nodes)
    if (node.kind == NodeKind::Load) consider(node.index, node.vars);
  for (const Store& store : plan.stores)
    consider(store.index, plan.mask(plan.parallelVars) | (store.perRowPoint ? plan.mask(plan.rowVars) : 0));
  return weight;
}

/// Picks the lane variable; kernels without reductions get their rows here.
void Planner::chooseLane() {
  auto last = [](ArrayRef<unsigned> vars) { return vars.empty() ? kNone : vars.back(); };
  auto usable = [&](unsigned var) { return var != kNone && plan.space.extent(var) > 1; };
  unsigned inParallel = last(plan.parallelVars), inRow = last(plan.rowVars);
  if (reduce) {
    uint64_t rowMask = plan.mask(plan.rowVars);
    bool hasRowFunction = llvm::any_of(plan.nodes, [&](const Node& node) {
      return node.op && node.phase > 0 && (node.vars & rowMask) == 0 && isa<math::MathDialect>(node.op->getDialect());
    });
    int64_t length = plan.product(plan.rowVars);
    bool isShort = style == WalkStyle::Rows &&
                   (hasRowFunction ? length <= kShortRow : plan.phases > 1 && length <= kPartOfVector) &&
                   usable(inParallel) && plan.space.extent(inParallel) >= 64;
    bool row =
        usable(inRow) && !isShort && (!usable(inParallel) || contiguousWeight(inRow) >= contiguousWeight(inParallel));
    plan.laneVar = row ? inRow : usable(inParallel) ? inParallel : kNone;
    plan.laneInRow = row;
    return;
  }
  if (!usable(inParallel)) return;
  plan.laneVar = inParallel;
  if (style == WalkStyle::Threads) return;
  int64_t lanes = plan.space.extent(inParallel), rows = plan.product(plan.parallelVars) / lanes;
  if (rows == 1 || (lanes >= 65536 && rows < 64)) return;
  plan.laneInRow = true;
  auto moveInside = [&] {
    plan.rowVars.insert(plan.rowVars.begin(), plan.parallelVars.pop_back_val());
    rows /= plan.space.extent(plan.rowVars.front());
  };
  moveInside(), rows = plan.product(plan.parallelVars);
  while (plan.parallelVars.size() > 1 && plan.product(plan.rowVars) < 256 &&
         rows / plan.space.extent(plan.parallelVars.back()) >= 64)
    moveInside();
}

/// A load that is contiguous in another variable than the lanes is read in square tiles, which needs that variable in
/// the row. Returns whether the domain was split for it.
bool Planner::chooseTile() {
  bool needsRow = style == WalkStyle::Rows;
  if (reduce || plan.laneVar == kNone || plan.laneInRow != needsRow || plan.space.extent(plan.laneVar) < 8)
    return false;
  unsigned tile = kNone;
  for (const Node& node : plan.nodes) {
    if (!plan.isTransposed(node)) continue;
    for (const IndexExpr::Term& term : node.index.getTerms())
      if (term.coefficient == 1 && plan.space.extent(term.var) >= 8 && (tile == kNone || tile == term.var))
        tile = term.var;
  }
  if (tile == kNone) return false;
  if (style == WalkStyle::Threads) {
    plan.tileVar = tile;
    return false;
  }
  for (int64_t size : {64, 32, 16}) {
    if (tiled || plan.space.extent(tile) <= size || plan.space.extent(tile) % size != 0) continue;
    tiled = true;
    return addSplit({tile, size});
  }
  SmallVector<unsigned> all(plan.parallelVars);
  all.append(plan.rowVars);
  plan.parallelVars.clear();
  for (unsigned var : all)
    if (var != tile && var != plan.laneVar) plan.parallelVars.push_back(var);
  plan.rowVars = {tile, plan.laneVar};
  plan.tileVar = tile;
  return false;
}

FailureOr<KernelPlan> Planner::planScatter(ScatterOp op) {
  if (cluster->getNumResults() != 1 || reduce)
    return op.emitOpError("must be alone in its kernel, since several updates meet");
  plan.cluster = cluster;
  SmallVector<SplitRequest> requests;
  NodeBuilder builder(plan, requests);
  if (failed(builder.buildScatterLoops(op))) return failure();
  return std::move(plan);
}

FailureOr<KernelPlan> Planner::run() {
  if (failed(findDomain())) return failure();
  if (parallel.extent == 0) {
    plan.cluster = cluster;
    plan.parallelVars.push_back(plan.space.add(0));
    return std::move(plan);
  }
  auto scatter = cluster.getBody().front().getTerminator()->getOperand(0).getDefiningOp<ScatterOp>();
  if (scatter && ScatterShape(scatter).freeUpdates > 1) return planScatter(scatter);
  for (int attempt = 0;; ++attempt) {
    FailureOr<bool> done = buildOnce();
    if (failed(done)) return failure();
    if (!*done && attempt < 32) continue;
    chooseLane();
    if (!chooseTile()) return std::move(plan);
  }
}

}  // namespace

bool KernelPlan::isTransposed(const Node& node) const {
  if (node.kind != NodeKind::Load || node.guard != kNone) return false;
  int64_t step = node.index.coefficient(laneVar);
  return step != 0 && !isNear(step) && llvm::none_of(node.index.getTerms(), [&](const IndexExpr::Term& term) {
           return opaqueVars.count(term.var) != 0;
         });
}

int64_t KernelPlan::product(ArrayRef<unsigned> vars) const {
  int64_t result = 1;
  for (unsigned var : vars) result *= space.extent(var);
  return result;
}

uint64_t KernelPlan::mask(ArrayRef<unsigned> vars) const {
  uint64_t result = 0;
  for (unsigned var : vars) result |= uint64_t{1} << var;
  return result;
}

FailureOr<KernelPlan> mlir::sgd::kernels::planKernel(fusion::ClusterOp cluster, WalkStyle style) {
  return Planner(cluster, style).run();
}
