// The pass sgd-shard-updates: each reduction is followed to what it updates, and sharded where that is faster.
#include "dialects/sgd/programs.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/loop_collectives.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/collectives/update_decision.h"
#include "passes/spmd/collectives/update_region.h"
#include "passes/spmd/compress/compression_settings.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_SHARDUPDATESPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Least saving for which an update is sharded: covers starts and waits that the model does not count.
static constexpr double kLeastSavedSeconds = 20e-6;

namespace {
/// Costs of an update in one step.
struct UpdateCost {
  ReshardCost sent;
  int64_t touched = 0;  // bytes of a rank's memory, read and written
};

class Decider {
 public:
  Decider(func::FuncOp function, const MeshAxes& mesh, const CostModel& cost, const CompressionSettings& compressions)
      : function(function),
        mesh(mesh),
        cost(cost),
        compressions(compressions),
        costs(mesh.getMesh(), cost),
        leads(function) {}

  unsigned run();

 private:
  void takePins();
  void decide(ReshardOp reduction);
  std::optional<UpdateRegion> choose(ReshardOp reduction, UpdateDecision& decision);
  std::optional<double> getSavedSeconds(const UpdateRegion& region, std::string& problem);
  bool addSent(UpdateCost& total, RankedTensorType from, RankedTensorType to);
  std::optional<UpdateCost> getWhole(const UpdateRegion& region);
  std::optional<UpdateCost> getSharded(const UpdateRegion& region);
  int64_t getTouched(const UpdateRegion& region, bool isSharded);
  void describe(const UpdateRegion& region, UpdateDecision& decision);
  int64_t getBytes(RankedTensorType type) { return getLocalBytes(type, mesh.getMesh()); }

  func::FuncOp function;
  const MeshAxes& mesh;
  const CostModel& cost;
  const CompressionSettings& compressions;
  ReshardCosts costs;
  ResultLeads leads;
  SmallVector<ShardedState> state;
  llvm::SmallPtrSet<void*, 8> pinned;
  llvm::SmallPtrSet<Operation*, 16> sharded;
  bool updatesState = false;  // what is being decided about leads to a result that is carried
};
}  // namespace

/// The sharding of a tensor of `type` whose dimension `dim` is cut further, along `axes`; nothing where that is uneven.
static std::optional<ShardingAttr> shardFurther(RankedTensorType type, unsigned dim, ArrayRef<AxisPart> axes,
                                                const MeshAxes& mesh) {
  TensorAxes tensor = mesh.toTensorAxes(getSharding(type));
  AxisParts& parts = tensor.dims[dim].axes;
  for (const AxisPart& part : axes) appendMerged(parts, part);
  if (type.getDimSize(dim) % getGroupSize(parts) != 0) return std::nullopt;
  return mesh.toAttr(tensor);
}

bool Decider::addSent(UpdateCost& total, RankedTensorType from, RankedTensorType to) {
  std::optional<ReshardCost> found = costs.get(from, to);
  if (found) total.sent += *found;
  return found.has_value();
}

/// Divisions, roots and the like take a core as long as an element takes to be read.
static bool isSlow(Operation* op) { return isa<arith::DivFOp>(op) || isa<math::MathDialect>(op->getDialect()); }

/// Bytes that a rank reads and writes when the whole update is one sweep: inputs from elsewhere, and results; slow ops
/// count as if they did.
int64_t Decider::getTouched(const UpdateRegion& region, bool isSharded) {
  int64_t bytes = 0;
  auto add = [&](Value value, ShardingAttr sharding) {
    RankedTensorType type = tensorType(value);
    bytes += getBytes(isSharded ? withSharding(type, sharding) : type);
  };
  llvm::DenseSet<Value> read;
  for (Operation* reduction : region.reductions)
    add(reduction->getResult(0), region.values.lookup(reduction->getResult(0)));
  for (const auto& [op, shardings] : region.ops) {
    if (isSlow(op)) add(op->getResult(0), shardings.result);
    for (auto [operand, sharding] : llvm::zip(op->getOperands(), shardings.operands))
      if (!region.values.contains(operand) && !matchPattern(operand, m_Constant()) && read.insert(operand).second)
        add(operand, sharding);
  }
  for (OpOperand* use : region.returned)
    if (read.insert(use->get()).second) add(use->get(), region.values.lookup(use->get()));
  return bytes;
}

std::optional<UpdateCost> Decider::getWhole(const UpdateRegion& region) {
  UpdateCost total;
  total.touched = getTouched(region, /*isSharded=*/false);
  for (Operation* op : region.reductions)
    if (!addSent(total, tensorType(op->getOperand(0)), tensorType(op->getResult(0)))) return std::nullopt;
  return total;
}

/// An all-reduce works in place, on cache lines that it has just read. Its two halves do not: memory is read before it
/// is written elsewhere, so that shards of the gradient and of results count twice more than a sweep counts them, and
/// gathered results twice as well: they are read from all ranks, the own one included.
std::optional<UpdateCost> Decider::getSharded(const UpdateRegion& region) {
  UpdateCost total;
  total.touched = getTouched(region, /*isSharded=*/true);
  for (Operation* op : region.reductions) {
    RankedTensorType type = withSharding(tensorType(op->getResult(0)), region.values.lookup(op->getResult(0)));
    if (!addSent(total, tensorType(op->getOperand(0)), type)) return std::nullopt;
    total.touched += getBytes(type);
  }
  llvm::DenseSet<Value> gathered;
  for (OpOperand* use : region.returned) {
    if (region.isState(use) || !gathered.insert(use->get()).second) continue;
    RankedTensorType type = withSharding(tensorType(use->get()), region.values.lookup(use->get()));
    if (!addSent(total, type, tensorType(use->get()))) return std::nullopt;
    total.touched += 2 * getBytes(tensorType(use->get()));
  }
  // Of sums, a few bytes, only the time counts.
  UpdateCost sums;
  for (const auto& [op, shardings] : region.ops) {
    RankedTensorType whole = tensorType(op->getResult(0));
    if (shardings.result.isPartial() && !getSharding(whole).isPartial() &&
        !addSent(sums, withSharding(whole, shardings.result), whole))
      return std::nullopt;
  }
  total.sent.seconds += sums.sent.seconds;
  return total;
}

std::optional<double> Decider::getSavedSeconds(const UpdateRegion& region, std::string& problem) {
  std::optional<UpdateCost> whole = getWhole(region), shards = getSharded(region);
  if (!whole || !shards) {
    problem = "its shards cannot be exchanged";
    return std::nullopt;
  }
  if (shards->sent.sentBytes > whole->sent.sentBytes) {
    problem = "a rank would send " + std::to_string(shards->sent.sentBytes) + " bytes instead of " +
              std::to_string(whole->sent.sentBytes);
    return std::nullopt;
  }
  double bandwidth = cost.getTopology().device.memoryBandwidth;
  double saved = whole->sent.seconds - shards->sent.seconds + (whole->touched - shards->touched) / bandwidth;
  if (saved >= kLeastSavedSeconds) return saved;
  llvm::raw_string_ostream os(problem);
  os << "sharded, it is estimated to take " << llvm::format("%.1f", std::abs(saved) * 1e6)
     << (saved < 0 ? " us longer" : " us less, below the threshold of ");
  if (saved >= 0) os << llvm::format("%.0f us", kLeastSavedSeconds * 1e6);
  return std::nullopt;
}

/// Bytes of results that are gathered from shards which are not contiguous in them: those of inner dimensions.
static int64_t getScatteredBytes(const UpdateRegion& region) {
  int64_t bytes = 0;
  for (OpOperand* use : region.returned) {
    if (region.isState(use)) continue;
    ShardingAttr before = getSharding(use->get().getType()), after = region.values.lookup(use->get());
    bool isInner = false;
    for (auto [dim, size] : llvm::enumerate(shapeOf(use->get()))) {
      if (before.getDims()[dim] != after.getDims()[dim] && isInner) bytes += getByteSize(tensorType(use->get()));
      isInner |= size > 1;
    }
  }
  return bytes;
}

static std::string getName(DictionaryAttr attributes, const Twine& otherwise) {
  auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
  return name ? name.str() : otherwise.str();
}

void Decider::describe(const UpdateRegion& region, UpdateDecision& decision) {
  for (OpOperand* use : region.returned) {
    unsigned result = use->getOperandNumber();
    updatesState |= getCarriedArgument(function, result).has_value();
    std::string name = getName(function.getResultAttrDict(result), "result " + Twine(result));
    (region.isState(use) ? decision.kept : decision.gathered).push_back(name);
  }
}

/// The region that saves enough whose shards are whole rows of results, as far as can be, and of these the one that
/// saves most, among the dimensions along which the reduction can be sharded.
std::optional<UpdateRegion> Decider::choose(ReshardOp reduction, UpdateDecision& decision) {
  RankedTensorType type = tensorType(reduction);
  AxisParts axes = mesh.toTensorAxes(getSharding(reduction.getInput().getType())).unreduced;
  std::optional<UpdateRegion> best;
  bool isEven = false;
  int64_t leastScattered = 0;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    std::optional<ShardingAttr> sharding = shardFurther(type, dim, axes, mesh);
    if (!sharding) continue;
    isEven = true;
    UpdateRegion region = findUpdateRegion(reduction, *sharding, mesh, pinned, leads);
    std::string problem = region.problem;
    std::optional<double> saved = problem.empty() ? getSavedSeconds(region, problem) : std::nullopt;
    if (!saved) {
      if (region.returned.empty()) continue;
      if (decision.why.empty()) decision.why = problem;
      if (!best && decision.gathered.empty()) describe(region, decision);
      continue;
    }
    int64_t scattered = getScatteredBytes(region);
    if (best && std::pair(scattered, -*saved) >= std::pair(leastScattered, -decision.savedSeconds)) continue;
    leastScattered = scattered;
    decision.savedSeconds = *saved;
    decision.sharding = *sharding;
    best = std::move(region);
  }
  if (!isEven) {
    UpdateRegion whole = findUpdateRegion(reduction, getSharding(type), mesh, pinned, leads);
    describe(whole, decision);
    decision.why = "no dimension is a multiple of " + std::to_string(getGroupSize(axes));
  }
  return best;
}

void Decider::decide(ReshardOp reduction) {
  ShardingAttr from = getSharding(reduction.getInput().getType()), to = getSharding(reduction.getType());
  // Only reduced, not sharded otherwise as well.
  if (mesh.toTensorAxes(from).unreduced.empty() || to.isPartial() || from.getDims() != to.getDims() ||
      tensorType(reduction).getRank() == 0)
    return;
  UpdateDecision decision;
  Location loc = reduction.getLoc();
  updatesState = false;
  // Compressed, an all-reduce sends less than shards of gradients and whole parameters.
  std::string other;
  bool isCompressed = compressions.find(mesh.toTensorAxes(from).unreduced, mesh.getMesh(), other).has_value();
  std::optional<UpdateRegion> region = isCompressed ? std::nullopt : choose(reduction, decision);
  if (region) {
    decision.gathered.clear();
    decision.kept.clear();
    decision.why.clear();
    describe(*region, decision);
    sharded.insert(region->reductions.begin(), region->reductions.end());
    state.append(region->state.begin(), region->state.end());
    applyUpdateRegion(function, *region);
  }
  if (updatesState || region) addDecision(function, decision.toDecision(loc));
}

/// All attributes at once: removing one makes a new list of those of all arguments.
void Decider::takePins() {
  SmallVector<DictionaryAttr> attrs;
  function.getAllArgAttrs(attrs);
  for (auto [argument, held] : llvm::zip(function.getArguments(), attrs)) {
    NamedAttrList list(held);
    if (!list.erase(kPinnedAttr)) continue;
    pinned.insert(argument.getAsOpaquePointer());
    held = list.getDictionary(function.getContext());
  }
  if (!pinned.empty()) function.setAllArgAttrs(attrs);
}

unsigned Decider::run() {
  takePins();
  SmallVector<ReshardOp> reductions(function.front().getOps<ReshardOp>());
  unsigned numSharded = 0;
  for (ReshardOp reduction : reductions) {
    if (sharded.contains(reduction)) continue;
    decide(reduction);
    numSharded += sharded.contains(reduction);
  }
  if (numSharded > 0) applySignature(function, state);
  return numSharded;
}

namespace {
struct ShardUpdatesPass : mlir::sgd::impl::ShardUpdatesPassBase<ShardUpdatesPass> {
  using ShardUpdatesPassBase::ShardUpdatesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    if (!mesh) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
    CompressionSettings compressions(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function.isPrivate() && llvm::hasSingleElement(function.getBody()))
        numSharded += Decider(function, axes, *cost, compressions).run();
  }
};
}  // namespace
