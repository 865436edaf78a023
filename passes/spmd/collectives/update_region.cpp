// A region grows forward from its reduction to the function's results, then backward over what only it reads.
#include "passes/spmd/collectives/update_region.h"

#include "dialects/sgd/source_line.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/sharding/propagation/constants.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

/// A reduction of the region's values, such as a norm, adds an all-reduce of its own: of at most this part of the
/// gradient's bytes.
static constexpr int64_t kSumDivisor = 1024;

bool UpdateRegion::isState(OpOperand* use) const {
  return llvm::any_of(state, [&](const ShardedState& kept) { return kept.result == use->getOperandNumber(); });
}

namespace {
class Growth {
 public:
  Growth(const MeshAxes& mesh, const llvm::SmallPtrSetImpl<void*>& pinned, const ResultLeads& leads)
      : mesh(mesh), pinned(pinned), leads(leads) {}

  UpdateRegion grow(ReshardOp reduction, ShardingAttr sharding) {
    root = reduction;
    addReduction(reduction, sharding);
    while (!fresh.empty()) {
      Value next = fresh.pop_back_val();
      if (isWorthFollowing(next)) follow(next);
    }
    bool isLarger = region.problem.empty();
    while (isLarger) isLarger = addProducers();
    if (region.problem.empty()) findState();
    return std::move(region);
  }

 private:
  bool isWorthFollowing(Value value);
  void follow(Value value);
  void addUser(OpOperand& use);
  void addReduction(ReshardOp reduction, ShardingAttr sharding);
  bool addProducers();
  bool addProducer(Value value, ShardingAttr sharding);
  bool isReadAs(Value value, ShardingAttr sharding) const;
  void findState();
  void fail(Operation* op, const Twine& what);

  const MeshAxes& mesh;
  const llvm::SmallPtrSetImpl<void*>& pinned;
  const ResultLeads& leads;
  ReshardOp root;
  UpdateRegion region;
  SmallVector<Value> fresh;
};
}  // namespace

/// Ops that compute each element from elements at the same position, whatever the layout.
static bool isOnElements(Operation* op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 || !isMemoryEffectFree(op)) return false;
  return op->hasTrait<OpTrait::Elementwise>() || isa<TransposeOp, ReshapeOp, BroadcastInDimOp>(op);
}

ResultLeads::ResultLeads(func::FuncOp function) {
  Block& block = function.front();
  for (OpOperand& result : block.getTerminator()->getOpOperands()) {
    toResults.insert(result.get());
    if (getCarriedArgument(function, result.getOperandNumber())) toState.insert(result.get());
  }
  for (Operation& op : llvm::reverse(block.without_terminator()))
    for (llvm::DenseSet<Value>* values : {&toResults, &toState})
      if (isOnElements(&op) && values->contains(op.getResult(0))) values->insert(op.operand_begin(), op.operand_end());
}

static bool isReduction(ReshardOp reshard) {
  return getSharding(reshard.getInput().getType()).isPartial() && !getSharding(reshard.getType()).isPartial();
}

static bool isPartial(Value value) { return getSharding(value.getType()).isPartial(); }

/// A sum that is small beside what is reduced, and reduced itself at once where it is partial already.
static bool isSmallSum(Operation* op, ReshardOp root) {
  auto sum = dyn_cast<ReduceOp>(op);
  if (!sum || sum.getKind() != ReduceKind::Add) return false;
  auto reduces = [](Operation* user) {
    auto reshard = dyn_cast<ReshardOp>(user);
    return reshard && isReduction(reshard);
  };
  if (isPartial(sum.getResult()) && !llvm::all_of(sum->getUsers(), reduces)) return false;
  return getByteSize(tensorType(sum.getResult())) * kSumDivisor <= getByteSize(tensorType(root));
}

/// Only the first problem is reported.
void Growth::fail(Operation* op, const Twine& what) {
  if (!region.problem.empty()) return;
  std::string line = getSourceLine(op->getLoc());
  region.problem = (what + (line.empty() ? "" : " (" + line + ")")).str();
}

void Growth::addReduction(ReshardOp reduction, ShardingAttr sharding) {
  region.reductions.insert(reduction);
  region.values[reduction.getResult()] = sharding;
  fresh.push_back(reduction.getResult());
}

/// After a problem, only to say which updates it concerns.
bool Growth::isWorthFollowing(Value value) {
  return region.problem.empty() || (leads.leadsToState(root.getResult()) && leads.leadsToResult(value));
}

void Growth::follow(Value value) {
  for (OpOperand& use : value.getUses())
    if (isWorthFollowing(value)) addUser(use);
}

void Growth::addUser(OpOperand& use) {
  Operation* op = use.getOwner();
  if (isa<func::ReturnOp>(op)) return region.returned.push_back(&use);
  ShardingAttr sharding = region.values[use.get()];
  if (auto known = region.ops.find(op); known != region.ops.end()) {
    if (known->second.operands[use.getOperandNumber()] != sharding)
      fail(op, op->getName().getStringRef() + " needs its operands in another sharding");
    return;
  }
  if (op->getBlock() != root->getBlock() || !(isOnElements(op) || isa<ReduceOp>(op)))
    return fail(op, "is read whole by " + op->getName().getStringRef());
  std::optional<OpShardings> shardings = shardLike(op, use.getOperandNumber(), sharding, mesh);
  if (!shardings || llvm::any_of(op->getOperands(), isPartial) ||
      (isPartial(op->getResult(0)) && !shardings->result.isPartial()))
    return fail(op, "is read whole by " + op->getName().getStringRef());
  for (auto [operand, needed] : llvm::zip(op->getOperands(), shardings->operands))
    if (auto known = region.values.find(operand); known != region.values.end() && known->second != needed)
      return fail(op, op->getName().getStringRef() + " needs its operands in another sharding");
  if (shardings->result.isPartial()) {
    if (!isSmallSum(op, root)) return fail(op, "is reduced by " + op->getName().getStringRef());
    region.ops.insert({op, *shardings});
    return;
  }
  region.ops.insert({op, *shardings});
  region.values[op->getResult(0)] = shardings->result;
  fresh.push_back(op->getResult(0));
}

/// Whether nobody but the region reads `value`, and always in `sharding`.
bool Growth::isReadAs(Value value, ShardingAttr sharding) const {
  return llvm::all_of(value.getUses(), [&](OpOperand& use) {
    auto reader = region.ops.find(use.getOwner());
    return reader != region.ops.end() && reader->second.operands[use.getOperandNumber()] == sharding;
  });
}

/// The producer of `value` joins the region when nothing else reads it.
bool Growth::addProducer(Value value, ShardingAttr sharding) {
  Operation* op = value.getDefiningOp();
  if (!op || op->getBlock() != root->getBlock() || !isReadAs(value, sharding)) return false;
  if (auto reshard = dyn_cast<ReshardOp>(op)) {
    if (!isReduction(reshard)) return false;
    region.reductions.insert(reshard);
    region.values[value] = sharding;
    return true;
  }
  if (!isOnElements(op)) return false;
  if (llvm::any_of(op->getOperands(), isPartial)) return false;
  std::optional<OpShardings> shardings = shardForResult(op, sharding, mesh);
  if (!shardings) return false;
  // One that the region has in another form stays whole, and its shard is cut from it.
  for (auto [operand, needed] : llvm::zip(op->getOperands(), shardings->operands))
    if (auto known = region.values.find(operand); known != region.values.end() && known->second != needed) return false;
  region.ops.insert({op, *shardings});
  region.values[value] = sharding;
  return true;
}

bool Growth::addProducers() {
  bool isLarger = false;
  for (size_t index = 0; index < region.ops.size(); ++index) {
    auto [op, shardings] = *(region.ops.begin() + index);
    for (auto [operand, needed] : llvm::zip(op->getOperands(), shardings.operands))
      if (!region.values.contains(operand) && getSharding(operand.getType()) != needed)
        isLarger |= addProducer(operand, needed);
  }
  return isLarger;
}

void Growth::findState() {
  auto function = cast<func::FuncOp>(root->getParentOp());
  for (OpOperand* use : region.returned) {
    std::optional<unsigned> carried = getCarriedArgument(function, use->getOperandNumber());
    if (!carried) continue;
    BlockArgument argument = function.getArgument(*carried);
    ShardingAttr sharding = region.values[use->get()];
    bool isKept = !argument.use_empty() && argument.getType() == use->get().getType() && isReadAs(argument, sharding) &&
                  !pinned.contains(argument.getAsOpaquePointer());
    if (isKept) region.state.push_back({argument, use->getOperandNumber(), sharding});
  }
}

UpdateRegion mlir::sgd::findUpdateRegion(ReshardOp reduction, ShardingAttr sharding, const MeshAxes& mesh,
                                         const llvm::SmallPtrSetImpl<void*>& pinned, const ResultLeads& leads) {
  return Growth(mesh, pinned, leads).grow(reduction, sharding);
}

namespace {
class Rewrite {
 public:
  Rewrite(func::FuncOp function, const UpdateRegion& region)
      : function(function), region(region), builder(function.getContext()) {}

  void run() {
    for (const ShardedState& state : region.state) retype(state.argument, state.sharding);
    for (Operation* reduction : region.reductions)
      retype(reduction->getResult(0), region.values.lookup(reduction->getResult(0)));
    for (const auto& [op, shardings] : region.ops) rewrite(op, shardings);
    rewriteReturn();
  }

 private:
  static void retype(Value value, ShardingAttr sharding) { value.setType(withSharding(tensorType(value), sharding)); }
  void rewrite(Operation* op, const OpShardings& shardings);
  void setOperand(OpOperand& operand, ShardingAttr sharding);
  void rewriteReturn();

  func::FuncOp function;
  const UpdateRegion& region;
  OpBuilder builder;
};
}  // namespace

void Rewrite::setOperand(OpOperand& operand, ShardingAttr sharding) {
  Value value = operand.get();
  if (region.values.contains(value) || getSharding(value.getType()) == sharding) return;
  builder.setInsertionPoint(operand.getOwner());
  if (isMadeFreely(value)) {
    if (!value.hasOneUse()) operand.set(value = builder.clone(*value.getDefiningOp())->getResult(0));
    return retypeFreeValue(value, sharding);
  }
  operand.set(
      ReshardOp::create(builder, operand.getOwner()->getLoc(), withSharding(tensorType(value), sharding), value));
}

void Rewrite::rewrite(Operation* op, const OpShardings& shardings) {
  for (OpOperand& operand : op->getOpOperands()) setOperand(operand, shardings.operands[operand.getOperandNumber()]);
  Value result = op->getResult(0);
  RankedTensorType whole = tensorType(result);
  retype(result, shardings.result);
  // A value that was partial before is now reduced by its users, over more axes.
  if (!shardings.result.isPartial() || getSharding(whole).isPartial()) return;
  builder.setInsertionPointAfter(op);
  auto reduced = ReshardOp::create(builder, op->getLoc(), whole, result);
  result.replaceAllUsesExcept(reduced, reduced);
}

void Rewrite::rewriteReturn() {
  DenseMap<std::pair<Value, Type>, Value> gathered;
  auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
  builder.setInsertionPoint(terminator);
  for (OpOperand* use : region.returned) {
    unsigned result = use->getOperandNumber();
    if (region.isState(use)) continue;
    Type whole = function.getResultTypes()[result];
    Value& value = gathered[{use->get(), whole}];
    if (!value) value = ReshardOp::create(builder, use->get().getLoc(), whole, use->get());
    use->set(value);
  }
}

void mlir::sgd::applyUpdateRegion(func::FuncOp function, const UpdateRegion& region) {
  Rewrite(function, region).run();
}

/// The attributes of `attrs[index]` with the sharding.
static void setSharding(SmallVector<DictionaryAttr>& attrs, unsigned index, ShardingAttr sharding) {
  NamedAttrList list(attrs[index]);
  list.set(kShardingAttr, sharding);
  attrs[index] = list.getDictionary(sharding.getContext());
}

void mlir::sgd::applySignature(func::FuncOp function, ArrayRef<ShardedState> state) {
  Block& block = function.front();
  function.setType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), block.getTerminator()->getOperandTypes()));
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  function.getAllArgAttrs(ofArguments);
  function.getAllResultAttrs(ofResults);
  for (const ShardedState& kept : state) {
    setSharding(ofArguments, kept.argument.getArgNumber(), kept.sharding);
    setSharding(ofResults, kept.result, kept.sharding);
  }
  if (state.empty()) return;
  function.setAllArgAttrs(ofArguments);
  function.setAllResultAttrs(ofResults);
}
