// The pass spmd-combine-collectives. One walk: collectives and small ops that depend on them wait; a bucket leaves at
// its last member.
#include "dialects/sgd/decision.h"
#include "dialects/spmd/collective.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/collectives/passes.h"
#include "passes/spmd/partition/reshard_emitter.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_COMBINECOLLECTIVESPASS
#include "passes/spmd/collectives/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// Results of at most so many bytes may wait whatever their operands: chains of scalars.
constexpr uint64_t kSmallBytes = 256;

/// Buckets that a value waits for, one bit each.
using Buckets = uint64_t;
constexpr unsigned kMaxBuckets = 64;

struct Bucket {
  SmallVector<spmd::CollectiveOpInterface> members;
  uint64_t bytes = 0;
};

class Combiner {
 public:
  Combiner(const CostModel& cost, MeshAttr mesh, uint64_t bucketBytes)
      : cost(cost), mesh(mesh), bucketBytes(bucketBytes) {}

  void run(Block& block);
  unsigned numCombined = 0;

 private:
  void visit(Operation* op);
  void join(spmd::CollectiveOpInterface collective);
  void flush(Buckets which, Operation* before);
  void emit(Bucket& bucket);
  void addUp(Block& block);
  uint64_t getLimit(const spmd::CollectiveForm& form) const;
  unsigned findBucket(spmd::CollectiveOpInterface collective, uint64_t bytes);
  Buckets getAwaited(Operation* op) const;
  bool canBeDeferred(Operation* op) const;
  bool isAlwaysAtHand(Value value) const;

  const CostModel& cost;
  MeshAttr mesh;
  uint64_t bucketBytes;
  std::array<Bucket, kMaxBuckets> buckets;                           // empty ones are free
  DenseMap<Operation*, Buckets> waiting;                             // members and deferred ops
  SmallVector<Operation*> deferred;                                  // in program order
  DenseSet<Operation*> fromArguments;                                // elementwise in arguments and constants alone
  SmallVector<std::pair<spmd::CollectiveForm, uint64_t>, 4> totals;  // bytes of the block, by form
};
}  // namespace

static uint64_t getBytes(TypeRange types) {
  uint64_t bytes = 0;
  for (Type type : types) bytes += getByteSize(cast<RankedTensorType>(type));
  return bytes;
}

Buckets Combiner::getAwaited(Operation* op) const {
  Buckets awaited = 0;
  for (Value operand : op->getOperands())
    if (Operation* producer = operand.getDefiningOp()) awaited |= waiting.lookup(producer);
  return awaited;
}

/// Arguments live until their last use however late, and what is elementwise in them is recomputed from them by the
/// kernel that reads it.
bool Combiner::isAlwaysAtHand(Value value) const {
  Operation* producer = value.getDefiningOp();
  return !producer || fromArguments.contains(producer);
}

/// True when `op` can wait at no cost in memory: its operands do not exist yet either (or are at hand anyway), or it is
/// small.
bool Combiner::canBeDeferred(Operation* op) const {
  bool isTensorOp = llvm::all_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
  if (!isTensorOp || op->getNumRegions() != 0 || !isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<spmd::CollectiveOpInterface>(op))
    return false;
  bool hasOnlyAwaited = llvm::all_of(op->getOperands(), [&](Value operand) {
    return isAlwaysAtHand(operand) || waiting.contains(operand.getDefiningOp());
  });
  return hasOnlyAwaited || getBytes(op->getResultTypes()) <= kSmallBytes;
}

/// By what the block exchanges in all of that form.
uint64_t Combiner::getLimit(const spmd::CollectiveForm& form) const {
  if (bucketBytes != 0) return bucketBytes;
  auto found = llvm::find_if(totals, [&](const auto& total) { return total.first.isLike(form); });
  uint64_t bytes = found == totals.end() ? 0 : found->second;
  return cost.getBucketBytes(form.kind, getParts(mesh, form.group.getAxes()), bytes);
}

void Combiner::addUp(Block& block) {
  for (Operation& op : block) {
    auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
    if (!collective || !collective.getForm().takesBuckets) continue;
    spmd::CollectiveForm form = collective.getForm();
    auto found = llvm::find_if(totals, [&](const auto& total) { return total.first.isLike(form); });
    if (found == totals.end()) found = totals.insert(totals.end(), {form, 0});
    found->second += spmd::getCountedBytes(collective);
  }
}

/// The open bucket that `collective` can join, or a free one; makes room when all are in use.
unsigned Combiner::findBucket(spmd::CollectiveOpInterface collective, uint64_t bytes) {
  spmd::CollectiveForm form = collective.getForm();
  std::optional<unsigned> free;
  for (unsigned index = 0; index < kMaxBuckets; ++index) {
    Bucket& bucket = buckets[index];
    if (bucket.members.empty()) {
      if (!free) free = index;
      continue;
    }
    if (!form.isLike(bucket.members.front().getForm())) continue;
    if (bucket.bytes + bytes <= getLimit(form)) return index;
    flush(Buckets(1) << index, collective);
    return index;
  }
  if (free) return *free;
  flush(1, collective);
  return 0;
}

void Combiner::join(spmd::CollectiveOpInterface collective) {
  uint64_t bytes = spmd::getCountedBytes(collective);
  unsigned index = findBucket(collective, bytes);
  buckets[index].members.push_back(collective);
  buckets[index].bytes += bytes;
  waiting[collective] = Buckets(1) << index;
}

/// Emits the buckets `which`; deferred ops that wait for nothing else then go before `before`.
void Combiner::flush(Buckets which, Operation* before) {
  for (unsigned index = 0; index < kMaxBuckets; ++index) {
    if (!(which >> index & 1) || buckets[index].members.empty()) continue;
    emit(buckets[index]);
    buckets[index] = Bucket();
  }
  llvm::erase_if(deferred, [&](Operation* op) {
    Buckets& left = waiting[op];
    left &= ~which;
    if (left != 0) return false;
    waiting.erase(op);
    op->moveBefore(before);
    return true;
  });
}

/// One op for all members, at the position of the last one, where all operands are known.
void Combiner::emit(Bucket& bucket) {
  for (spmd::CollectiveOpInterface member : bucket.members) waiting.erase(member);
  if (bucket.members.size() == 1) return;
  spmd::CollectiveOpInterface last = bucket.members.back();
  SmallVector<Value> operands;
  SmallVector<Type> types;
  SmallVector<int64_t> dims;
  SmallVector<Attribute> ranges;
  for (spmd::CollectiveOpInterface member : bucket.members) {
    spmd::CollectiveForm form = member.getForm();
    llvm::append_range(operands, member->getOperands());
    llvm::append_range(types, member->getResultTypes());
    llvm::append_range(dims, form.dims);
    if (form.ranges) llvm::append_range(ranges, form.ranges);
  }
  OpBuilder builder(last);
  Operation* combined = last.createBucket(builder, last->getLoc(), types, operands, dims, ranges);
  for (NamedAttribute attribute : last->getDiscardableAttrs())
    if (attribute.getName() != kDecisionsAttr) combined->setDiscardableAttr(attribute.getName(), attribute.getValue());
  mergeDecisions(combined, SmallVector<Operation*>(bucket.members.begin(), bucket.members.end()));
  unsigned result = 0;
  for (spmd::CollectiveOpInterface member : bucket.members) {
    for (Value value : member->getResults()) value.replaceAllUsesWith(combined->getResult(result++));
    member->erase();
  }
  numCombined += bucket.members.size() - 1;
}

void Combiner::visit(Operation* op) {
  // Nothing moves past a barrier, nor from one task of a pipeline's stage to another: tasks begin and end with
  // messages, and a bucket of several would hold back what the next stage waits for.
  if (isa<OptimizationBarrierOp, spmd::SendOp, spmd::ReceiveOp>(op)) return flush(~Buckets(0), op);
  Buckets awaited = getAwaited(op);
  if (awaited != 0 && canBeDeferred(op)) {
    waiting[op] = awaited;
    deferred.push_back(op);
    return;
  }
  if (awaited != 0) flush(awaited, op);
  auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
  if (collective && collective.getForm().takesBuckets) join(collective);
  bool isElementwise = op->hasTrait<OpTrait::Elementwise>() || isa<arith::ConstantOp, BroadcastInDimOp>(op);
  if (isElementwise && llvm::all_of(op->getOperands(), [&](Value operand) { return isAlwaysAtHand(operand); }))
    fromArguments.insert(op);
}

void Combiner::run(Block& block) {
  addUp(block);
  SmallVector<Operation*> ops = llvm::to_vector(llvm::make_pointer_range(block));
  for (Operation* op : ops) visit(op);
  if (!ops.empty()) flush(~Buckets(0), ops.back());
}

namespace {
struct CombineCollectivesPass : mlir::sgd::impl::CombineCollectivesPassBase<CombineCollectivesPass> {
  using CombineCollectivesPassBase::CombineCollectivesPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation()->getParentOfType<ModuleOp>());
    if (!mesh) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    for (Block* block : getProgramBlocks(getOperation())) {
      Combiner combiner(*cost, mesh.getMesh(), bucketBytes);
      combiner.run(*block);
      numCombined += combiner.numCombined;
    }
  }
};
}  // namespace
