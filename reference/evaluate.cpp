// Walks blocks; a value's tensors are dropped after its last use.
#include "reference/evaluate.h"

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/host_call.h"
#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/by_rank.h"
#include "reference/groups.h"
#include "reference/ops.h"
#include "reference/tiles.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

class Evaluator {
 public:
  Evaluator(int64_t ranks, EvaluationObserver* observer) : ranks(ranks), observer(observer), active(ranks, true) {}

  /// Of a loop or branch that only the ranks in `active` run: what the others compute in it is dropped.
  Evaluator(const Evaluator& outer, SmallVector<bool> active)
      : ranks(outer.ranks), observer(outer.observer), active(std::move(active)) {}

  /// The tensors that the block's terminator yields.
  FailureOr<std::vector<RankTensors>> run(Block& block, std::vector<RankTensors> arguments) {
    for (auto [argument, tensors] : llvm::zip_equal(block.getArguments(), arguments))
      define(argument, std::move(tensors));
    for (Operation& op : block.without_terminator()) {
      if (failed(evaluateOnRanks(&op))) return failure();
      for (Value operand : op.getOperands()) release(operand);
    }
    std::vector<RankTensors> results;
    for (Value value : block.getTerminator()->getOperands()) results.push_back(known.at(value).tensors);
    return results;
  }

 private:
  struct Known {
    RankTensors tensors;
    unsigned usesLeft;
  };

  void define(Value value, RankTensors tensors) {
    auto uses = static_cast<unsigned>(std::distance(value.use_begin(), value.use_end()));
    if (uses > 0) known.insert({value, Known{std::move(tensors), uses}});
  }

  void release(Value value) {
    auto it = known.find(value);
    if (it != known.end() && --it->second.usesLeft == 0) known.erase(it);
  }

  LogicalResult evaluateOnRanks(Operation* op) {
    if (failed(checkTypes(op))) return failure();
    SmallVector<const RankTensors*> in;
    for (Value operand : op->getOperands()) in.push_back(&known.at(operand).tensors);
    std::vector<RankTensors> out;
    for (Value result : op->getResults()) out.emplace_back(ranks, Tensor(cast<RankedTensorType>(result.getType())));
    std::vector<RankTensors> changed;
    if (observer && observer->wantsOperands(op)) {
      for (const RankTensors* tensors : in) changed.push_back(*tensors);
      observer->beforeOp(op, changed);
      for (auto [pointer, tensors] : llvm::zip(in, changed)) pointer = &tensors;
    }
    if (failed(evaluate(op, in, out))) return failure();
    if (observer) observer->afterOp(op, out);
    for (auto [result, tensors] : llvm::zip(op->getResults(), out)) define(result, std::move(tensors));
    return success();
  }

  LogicalResult evaluate(Operation* op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    if (isa<spmd::SendOp, spmd::ReceiveOp>(op))
      return observer ? observer->exchange(op, in, out) : EvaluationObserver().exchange(op, in, out);
    // A call without results has no influence on the program's values.
    if (isa<HostCallOp>(op) && op->getNumResults() == 0) return success();
    if (isa_and_present<spmd::SpmdDialect>(op->getDialect()) || isa<PermuteRanksOp>(op))
      return evaluateCollective(op, in, out);
    if (auto tiled = dyn_cast<fusion::TiledOp>(op)) return evaluateTiled(tiled, in, out);
    if (auto loop = dyn_cast<WhileOp>(op)) return evaluateWhile(loop, in, out);
    if (auto branches = dyn_cast<CaseOp>(op)) return evaluateCase(branches, in, out);
    if (auto cluster = dyn_cast<fusion::ClusterOp>(op)) {
      std::vector<RankTensors> arguments;
      for (const RankTensors* tensors : in) arguments.push_back(*tensors);
      auto results = Evaluator(ranks, observer).run(cluster.getBody().front(), std::move(arguments));
      if (failed(results)) return failure();
      out = std::move(*results);
      return success();
    }
    if (auto manual = dyn_cast<ManualComputationOp>(op)) return evaluateManual(manual, in, out);
    for (int64_t rank = 0; rank < ranks; ++rank) {
      SmallVector<const Tensor*> operands;
      SmallVector<Tensor*> results;
      for (const RankTensors* tensors : in) operands.push_back(&(*tensors)[rank]);
      for (RankTensors& tensors : out) results.push_back(&tensors[rank]);
      if (failed(evaluateOp(op, operands, results))) return failure();
    }
    return success();
  }

  /// All ranks of the mesh run the body; at the graph level they hold the same before and after.
  LogicalResult evaluateManual(ManualComputationOp op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    int64_t bodyRanks = lookupMesh(op, op.getManualAxes().getMesh()).getNumRanks();
    std::vector<RankTensors> arguments;
    for (auto [tensors, sharding] : llvm::zip(in, op.getInShardings())) {
      RankTensors outside = ranks == bodyRanks ? *tensors : RankTensors(bodyRanks, tensors->front());
      arguments.push_back(enterManual(op, std::move(outside), cast<ShardingAttr>(sharding)));
    }
    auto results = Evaluator(bodyRanks, observer).run(op.getBody().front(), std::move(arguments));
    if (failed(results)) return failure();
    for (auto [to, yielded, sharding] : llvm::zip(out, *results, op.getOutShardings())) {
      to = leaveManual(op, std::move(yielded), cast<ShardingAttr>(sharding));
      to.resize(ranks);
    }
    return success();
  }

  /// The decision of each rank. Ranks may differ in manual computations, and where the op is marked so.
  FailureOr<SmallVector<int64_t>> getDecisions(Operation* op, const RankTensors& tensors) {
    SmallVector<int64_t> decisions;
    for (const Tensor& tensor : tensors) decisions.push_back(tensor.integers.front());
    if (!llvm::all_equal(decisions) && !isByRank(op) && !op->getParentOfType<ManualComputationOp>())
      return op->emitOpError(
                 "is decided by a value that differs between ranks; expected one that all ranks agree on; reduce it "
                 "over the ranks first"),
             failure();
    return decisions;
  }

  /// Replaces the tensors of the ranks that are not `chosen`.
  static void keepOthers(std::vector<RankTensors>& values, const std::vector<RankTensors>& others,
                         ArrayRef<bool> chosen) {
    for (auto [value, other] : llvm::zip(values, others))
      for (size_t rank = 0; rank < chosen.size(); ++rank)
        if (!chosen[rank]) value[rank] = other[rank];
  }

  LogicalResult evaluateWhile(WhileOp loop, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    for (auto [from, slot] : llvm::zip(in, out)) slot = *from;
    SmallVector<bool> goesOn(active);
    for (int64_t trip = 0; !loop.getTrips() || trip < static_cast<int64_t>(*loop.getTrips()); ++trip) {
      if (!loop.getTrips()) {
        auto condition = Evaluator(*this, goesOn).run(loop.getCondition().front(), out);
        if (failed(condition)) return failure();
        auto decisions = getDecisions(loop, condition->front());
        if (failed(decisions)) return failure();
        for (int64_t rank = 0; rank < ranks; ++rank) goesOn[rank] = goesOn[rank] && (*decisions)[rank] != 0;
        if (llvm::none_of(goesOn, [](bool other) { return other; })) break;
      }
      std::vector<RankTensors> before;
      // Where the number of trips is known, ranks whose results are dropped go through them too: others may read what
      // they have.
      bool areAll = loop.getTrips() || llvm::all_of(goesOn, [](bool other) { return other; });
      if (!areAll) before = out;
      auto next = Evaluator(*this, goesOn).run(loop.getBody().front(), std::move(out));
      if (failed(next)) return failure();
      out = std::move(*next);
      if (!areAll) keepOthers(out, before, goesOn);
    }
    return success();
  }

  /// The body once for each combination of indices.
  LogicalResult evaluateTiled(fusion::TiledOp op, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    LogicalResult result = success();
    forEachIndex(op.getLoops(), [&](ArrayRef<int64_t> tile, int64_t) {
      Evaluator inner(ranks, observer);
      for (BlockArgument argument : op.getBody().getArguments())
        inner.define(argument, readTiles(op, argument.getArgNumber(), tile, *in[argument.getArgNumber()]));
      for (Operation& step : op.getBody().front()) {
        if (failed(result)) return;
        if (auto store = dyn_cast<fusion::TileStoreOp>(step))
          storeTiles(store, tile, inner.known.at(store.getValue()).tensors, out[store.getResult()]);
        else
          result = inner.evaluateOnRanks(&step);
      }
    });
    return result;
  }

  LogicalResult evaluateCase(CaseOp branches, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    if (choosesByCoordinate(branches)) return evaluateByCoordinate(branches, in, out);
    auto indices = getDecisions(branches, *in.front());
    if (failed(indices)) return failure();
    int64_t last = static_cast<int64_t>(branches.getBranches().size()) - 1;
    for (int64_t& index : *indices) index = index < 0 || index > last ? last : index;
    for (int64_t branch = 0; branch <= last; ++branch) {
      auto chosen = llvm::map_to_vector(*indices, [&](int64_t index) { return index == branch; });
      if (llvm::none_of(chosen, [](bool isChosen) { return isChosen; })) continue;
      SmallVector<bool> running(chosen);
      for (auto [runs, wasActive] : llvm::zip(running, active)) runs = runs && wasActive;
      auto results = runBranch(branches.getBranches()[branch], in, running);
      if (failed(results)) return failure();
      keepOthers(*results, out, chosen);
      out = std::move(*results);
    }
    return success();
  }

  FailureOr<std::vector<RankTensors>> runBranch(Region& branch, ArrayRef<const RankTensors*> in,
                                                const SmallVector<bool>& running) {
    std::vector<RankTensors> arguments;
    for (const RankTensors* tensors : in.drop_front()) arguments.push_back(*tensors);
    return Evaluator(*this, running).run(branch.front(), std::move(arguments));
  }

  /// All branches, of which each coordinate of the index takes its part of the results.
  LogicalResult evaluateByCoordinate(CaseOp branches, ArrayRef<const RankTensors*> in, std::vector<RankTensors>& out) {
    int64_t last = static_cast<int64_t>(branches.getBranches().size()) - 1;
    for (int64_t branch = 0; branch <= last; ++branch) {
      auto results = runBranch(branches.getBranches()[branch], in, active);
      if (failed(results)) return failure();
      for (auto [to, from] : llvm::zip(out, *results))
        for (int64_t rank = 0; rank < ranks; ++rank) {
          const Tensor& index = (*in.front())[rank];
          int64_t part = to[rank].size() / std::max<int64_t>(index.size(), 1);
          for (int64_t element = 0; element < to[rank].size(); ++element) {
            int64_t chosen = index.integers[element / part];
            if ((chosen < 0 || chosen > last ? last : chosen) == branch) to[rank].copy(element, from[rank], element);
          }
        }
    }
    return success();
  }

  LogicalResult checkTypes(Operation* op) {
    for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() || !isSupportedElement(tensor.getElementType()))
        return op->emitOpError("has no reference evaluation on ") << type;
    }
    return success();
  }

  int64_t ranks;
  EvaluationObserver* observer;  // may be null
  SmallVector<bool> active;      // by rank: whether this block runs for it
  llvm::DenseMap<Value, Known> known;
};

/// The tiles of a rank's shard, and where each is in the global tensor: in dimension `dim`, element 0 of tile k at
/// begin[dim] + k * step[dim].
struct ShardPlace {
  Index begin;
  SmallVector<int64_t> tile, step, shape;
  SmallVector<int64_t> rows;  // by row of the shard, the global one or -1; empty without ranges of rows

  ShardPlace(RankedTensorType global, ShardLayout layout, MeshAttr mesh, int64_t rank)
      : begin(global.getRank(), 0), tile(global.getShape()), step(global.getRank(), 0) {
    for (auto [dim, size] : llvm::enumerate(tile)) {
      int64_t blocks = layout.getBlocks(dim), shards = layout.sharding ? layout.sharding.getNumShards(dim, mesh) : 1;
      bool isPadded = blocks > 1 && layout.local;
      size = isPadded ? layout.local.getDimSize(dim) / blocks : llvm::divideCeil(size, blocks * shards);
      shape.push_back(size * blocks);
      step[dim] = size * shards;
      if (layout.sharding) begin[dim] = getLinearIndex(mesh, layout.sharding.getDims()[dim].getAxes(), rank) * size;
    }
    if (layout.rows) addRows(global.getDimSize(0), layout, mesh, rank);
  }

  void addRows(int64_t size, ShardLayout layout, MeshAttr mesh, int64_t rank) {
    ArrayRef<AxisRefAttr> axes = layout.sharding ? layout.sharding.getDims()[0].getAxes() : ArrayRef<AxisRefAttr>();
    int64_t shards = layout.sharding ? layout.sharding.getNumShards(0, mesh) : 1;
    int64_t index = shards > 1 ? getLinearIndex(mesh, axes, rank) : 0;
    for (int64_t range = 0; range + 1 < layout.rows.size(); range += 2) {
      int64_t first = layout.rows[range], count = layout.rows[range + 1], tile = llvm::divideCeil(count, shards);
      for (int64_t row = index * tile; row < (index + 1) * tile; ++row)
        rows.push_back(row < count && first + row < size ? first + row : -1);
    }
    shape[0] = static_cast<int64_t>(rows.size());
  }

  /// Calls visit(position in the shard, position in the global tensor) for the elements that are not padding.
  template <typename Visit>
  void forEach(RankedTensorType global, Visit visit) const {
    forEachIndex(shape, [&](ArrayRef<int64_t> index, int64_t local) {
      Index at(index);
      bool isInside = true;
      for (size_t dim = 0; dim < at.size(); ++dim) {
        if (dim == 0 && !rows.empty()) {
          at[0] = rows[index[0]];
          isInside &= at[0] >= 0;
          continue;
        }
        at[dim] = begin[dim] + index[dim] / tile[dim] * step[dim] + index[dim] % tile[dim];
        isInside &= at[dim] < global.getDimSize(dim);
      }
      if (isInside) visit(local, flatten(at, global.getShape()));
    });
  }
};

void poison(Tensor& tensor) {
  for (double& value : tensor.floats) value = std::numeric_limits<double>::quiet_NaN();
  for (int64_t i = 0; i < tensor.size() && !tensor.isFloat(); ++i) tensor.setInteger(i, 0x5EADBEEF5EADBEEF);
}

int64_t getNumRanks(MeshAttr mesh) { return mesh ? mesh.getNumRanks() : 1; }

}  // namespace

LogicalResult EvaluationObserver::exchange(Operation* op, ArrayRef<const RankTensors*>, std::vector<RankTensors>&) {
  return op->emitOpError(
      "has its other end in another stage; expected all stages of the program; evaluate them together");
}

FailureOr<std::vector<RankTensors>> reference::evaluate(func::FuncOp function, std::vector<RankTensors> arguments,
                                                        int64_t ranks, EvaluationObserver* observer) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
               "has no body of a single block; expected one to evaluate; use sgd.while and sgd.case for control flow"),
           failure();
  return Evaluator(ranks, observer).run(function.front(), std::move(arguments));
}

FailureOr<std::vector<Tensor>> reference::evaluate(Block& block, ArrayRef<Tensor> arguments) {
  std::vector<RankTensors> onOneRank;
  for (const Tensor& tensor : arguments) onOneRank.push_back({tensor});
  auto results = Evaluator(1, nullptr).run(block, std::move(onOneRank));
  if (failed(results)) return failure();
  std::vector<Tensor> tensors;
  for (RankTensors& result : *results) tensors.push_back(std::move(result.front()));
  return tensors;
}

reference::ShardLayout::ShardLayout(DictionaryAttr attributes, Type local)
    : local(dyn_cast_or_null<RankedTensorType>(local)) {
  if (!attributes) return;
  sharding = attributes.getAs<ShardingAttr>(kShardingAttr);
  blocks = attributes.getAs<DenseI64ArrayAttr>(kBlocksAttr);
  rows = attributes.getAs<DenseI64ArrayAttr>(kRowsAttr);
}

RankTensors reference::cut(const Tensor& global, ShardLayout layout, MeshAttr mesh, Padding padding) {
  RankTensors shards;
  for (int64_t rank = 0; rank < getNumRanks(mesh); ++rank) {
    ShardPlace place(global.type, layout, mesh, rank);
    Tensor& shard = shards.emplace_back(RankedTensorType::get(place.shape, global.element()));
    if (padding == Padding::Poison) poison(shard);
    place.forEach(global.type, [&](int64_t local, int64_t at) { shard.copy(local, global, at); });
  }
  return shards;
}

void reference::put(const RankTensors& shards, Tensor& global, ShardLayout layout, MeshAttr mesh) {
  // Backwards, so that the first rank that holds an element has the last word.
  for (int64_t rank = static_cast<int64_t>(shards.size()) - 1; rank >= 0; --rank) {
    ShardPlace place(global.type, layout, mesh, rank);
    place.forEach(global.type, [&](int64_t local, int64_t at) { global.copy(at, shards[rank], local); });
  }
}

Tensor reference::join(const RankTensors& shards, RankedTensorType type, ShardLayout layout, MeshAttr mesh) {
  Tensor global(type);
  put(shards, global, layout, mesh);
  return global;
}
