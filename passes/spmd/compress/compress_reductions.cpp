// The pass sgd-compress-reductions: each reduction over a compressed axis is looked at, and replaced where it is one of
// a gradient and less is sent.
#include "dialects/sgd/commit.h"
#include "dialects/sgd/roles.h"
#include "llvm/ADT/StringSet.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/compress/compressed_bytes.h"
#include "passes/spmd/compress/compression_decision.h"
#include "passes/spmd/compress/compression_settings.h"
#include "passes/spmd/compress/gradients.h"
#include "passes/spmd/compress/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_COMPRESSREDUCTIONSPASS
#include "passes/spmd/compress/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// A reduction that will be compressed.
struct Chosen {
  ReshardOp reduction;
  CompressedForm form;
  std::string state;  // that the gradient updates

  bool isLike(Chosen& other) {
    return form.kind == other.form.kind && getSharding(reduction.getInput().getType()).getUnreduced() ==
                                               getSharding(other.reduction.getInput().getType()).getUnreduced();
  }
};

class Compressor {
 public:
  Compressor(func::FuncOp function, const MeshAxes& mesh, const CostModel& cost, const CompressionSettings& settings,
             uint64_t bucketBytes)
      : function(function),
        mesh(mesh),
        bytes(mesh, cost),
        settings(settings),
        bucketBytes(bucketBytes),
        gradients(function) {}

  unsigned run();

 private:
  ReshardOp transposeFirst(ReshardOp reduction);
  void decide(ReshardOp reduction);
  std::string findObstacle(ReshardOp reduction, const CompressionSetting& setting);
  void sinkUsers();
  void compress();
  void replace(ArrayRef<Chosen> bundle);
  Value addState(RankedTensorType type, const std::string& name);
  void carryState(Value argument, Value next);

  func::FuncOp function;
  const MeshAxes& mesh;
  CompressedBytes bytes;
  const CompressionSettings& settings;
  uint64_t bucketBytes;
  Gradients gradients;
  SmallVector<Chosen> chosen;  // in program order
  llvm::StringSet<> names;     // of state
  unsigned numCompressed = 0;
};
}  // namespace

/// Why the reduction is not one of a gradient that can be compressed; empty where it is.
std::string Compressor::findObstacle(ReshardOp reduction, const CompressionSetting& setting) {
  if (gradients.reachesLoss(reduction)) return "the loss depends on it";
  if (!gradients.findState(reduction.getResult())) return "no state is computed from it element by element";
  if (gradients.reachesReduction(reduction.getResult())) return "other sums over ranks are computed from it";
  bool isStateless = getNumStates(setting.kind) == 0, isOwn = reduction->getBlock() == &function.front();
  if (!isStateless && !isOwn) return "it is in a loop or branch, which keeps no error for it";
  Type element = tensorType(reduction).getElementType();
  bool isHalf = element.isF16() || element.isBF16();
  if (element.isF32() || (isHalf && !isStateless)) return "";
  std::string text;
  llvm::raw_string_ostream(text) << "its elements are " << element << "; expected f32"
                                 << (isStateless ? "" : ", bf16 or f16");
  return text;
}

/// The reduction of the transposed value, where only that is read: a matmul writes it either way, but an op between the
/// reduction and the transpose would have to read columns.
ReshardOp Compressor::transposeFirst(ReshardOp reduction) {
  while (reduction->hasOneUse()) {
    auto transpose = dyn_cast<TransposeOp>(*reduction->user_begin());
    if (!transpose) break;
    TensorAxes from = mesh.toTensorAxes(getSharding(reduction.getInput().getType())), to = from;
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation())) to.dims[dim] = from.dims[source];
    OpBuilder builder(reduction);
    Type type = withSharding(tensorType(transpose), mesh.toAttr(to));
    Value input =
        TransposeOp::create(builder, transpose.getLoc(), type, reduction.getInput(), transpose.getPermutation());
    auto next = ReshardOp::create(builder, reduction.getLoc(), transpose.getType(), input);
    transpose.getResult().replaceAllUsesWith(next);
    transpose.erase();
    reduction.erase();
    reduction = next;
  }
  return reduction;
}

/// In a step; loops of unknown trips count as one, as they do in reports.
static uint64_t getExecutions(Operation* op) {
  uint64_t executions = 1;
  for (auto loop = op->getParentOfType<WhileOp>(); loop; loop = loop->getParentOfType<WhileOp>())
    executions *= loop.getTrips().value_or(1);
  return executions;
}

void Compressor::decide(ReshardOp reduction) {
  if (!isReduction(reduction)) return;
  RankedTensorType from = tensorType(reduction.getInput());
  AxisParts axes = mesh.toTensorAxes(getSharding(from)).unreduced;
  CompressionDecision decision;
  std::optional<CompressionSetting> setting = settings.find(axes, mesh.getMesh(), decision.why);
  if (!setting && decision.why.empty()) return;
  for (const AxisPart& part : axes) decision.axes.push_back(mesh.getMesh().getAxes()[part.axis].getName().str());
  Location loc = reduction.getLoc();
  if (decision.why.empty()) decision.why = findObstacle(reduction, *setting);
  if (std::optional<unsigned> state = gradients.findState(reduction.getResult())) {
    auto name = function.getArgAttrOfType<StringAttr>(*state, kNameAttr);
    decision.state = name ? name.str() : "arg" + std::to_string(*state);
  }
  if (decision.why.empty()) {
    reduction = transposeFirst(reduction);
    FailureOr<CompressedForm> form =
        bytes.choose(*setting, tensorType(reduction.getInput()), tensorType(reduction), decision.why);
    if (succeeded(form)) {
      decision.kind = stringifyCompressionKind(form->kind).str();
      decision.sentBytes = form->sentBytes * getExecutions(reduction);
      decision.wholeBytes = form->wholeBytes * getExecutions(reduction);
      chosen.push_back({reduction, std::move(*form), decision.state});
    }
  }
  addDecision(function, decision.toDecision(loc));
}

/// A new argument, which starts as zeros.
Value Compressor::addState(RankedTensorType type, const std::string& name) {
  std::string unique = name;
  for (unsigned number = 1; !names.insert(unique).second; ++number) unique = name + "/" + std::to_string(number);
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set(kNameAttr, builder.getStringAttr(unique));
  attributes.set(kShardingAttr, getSharding(type));
  attributes.set(kDonatedAttr, builder.getUnitAttr());
  attributes.set(kRoleAttr, RoleAttr::get(function.getContext(), Role::CompressionError));
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, attributes.getDictionary(builder.getContext()), function.getLoc());
  return function.getArgument(index);
}

/// A new result, the next value of `argument` if the step is committed.
void Compressor::carryState(Value argument, Value next) {
  Operation* terminator = function.front().getTerminator();
  if (std::optional<unsigned> commit = findResult(function, Role::Commit)) {
    OpBuilder before(terminator);
    next = selectCommitted(before, next.getLoc(), terminator->getOperand(*commit), next, argument);
  }
  unsigned index = cast<BlockArgument>(argument).getArgNumber(), result = function.getNumResults();
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set(kNameAttr, function.getArgAttr(index, kNameAttr));
  attributes.set(kShardingAttr, getSharding(next.getType()));
  attributes.set(kCarryAttr, builder.getI64IntegerAttr(index));
  attributes.set(kCarryBasisAttr, builder.getStringAttr("names"));
  terminator->insertOperands(terminator->getNumOperands(), next);
  (void)function.insertResult(result, next.getType(), attributes.getDictionary(builder.getContext()));
}

static Operation* getFirstUser(Value value) {
  Operation* first = nullptr;
  for (Operation* user : value.getUsers())
    if (!first || user->isBeforeInBlock(first)) first = user;
  return first;
}

/// Moves what depends on the chosen reductions behind everything else, as it is: updates of state stand between
/// gradients.
void Compressor::sinkUsers() {
  llvm::DenseSet<Operation*> moved;
  for (const Chosen& one : chosen) moved.insert(one.reduction);
  size_t reductions = moved.size();
  SmallVector<Operation*> users;
  for (Operation& op : function.front().without_terminator()) {
    bool depends = llvm::any_of(op.getOperands(), [&](Value value) { return moved.contains(value.getDefiningOp()); });
    if (!depends) continue;
    moved.insert(&op);
    users.push_back(&op);
  }
  if (moved.size() == reductions) return;
  for (Operation* op : users) op->moveBefore(function.front().getTerminator());
}

/// Those that keep state are one op, so that the exchanges of all of them are done together: as many as fill a bucket,
/// of those before the first of their results is used.
void Compressor::compress() {
  llvm::erase_if(chosen, [&](Chosen& one) {
    if (!one.form.states.empty()) return false;
    replace(one);
    return true;
  });
  sinkUsers();
  while (!chosen.empty()) {
    SmallVector<Chosen> bundle, others;
    Operation* firstUser = nullptr;
    uint64_t sent = 0;
    uint64_t limit = bytes.getBucketBytes(chosen.front().reduction, bucketBytes);
    for (Chosen& one : chosen) {
      bool isAlike = bundle.empty() || (one.isLike(bundle.front()) && sent + one.form.sentBytes <= limit &&
                                        (!firstUser || one.reduction->isBeforeInBlock(firstUser)));
      if (!isAlike) {
        others.push_back(std::move(one));
        continue;
      }
      Operation* user = getFirstUser(one.reduction.getResult());
      if (user && (!firstUser || user->isBeforeInBlock(firstUser))) firstUser = user;
      sent += one.form.sentBytes;
      bundle.push_back(std::move(one));
    }
    replace(bundle);
    chosen = std::move(others);
  }
}

/// One op, in the place of the last.
void Compressor::replace(ArrayRef<Chosen> bundle) {
  Operation* last = bundle.back().reduction;
  OpBuilder builder(last);
  SmallVector<Value> inputs, states;
  SmallVector<Type> results, next;
  SmallVector<int64_t> sizes;
  for (const Chosen& one : bundle) {
    inputs.push_back(one.reduction->getOperand(0));
    results.push_back(one.form.result);
    sizes.push_back(one.form.size);
    for (const CompressedForm::State& state : one.form.states) {
      states.push_back(addState(state.type, "compress/" + state.name + "/" + one.state));
      next.push_back(state.type);
    }
  }
  auto op = CompressedReductionOp::create(builder, last->getLoc(), results, next, bundle.front().form.kind, inputs,
                                          states, sizes);
  for (auto [one, result] : llvm::zip(bundle, op.getResults())) {
    ReshardOp reduction = one.reduction;
    Value value = result;
    if (value.getType() != reduction.getType())
      value = ReshardOp::create(builder, reduction.getLoc(), reduction.getType(), value);
    reduction.getResult().replaceAllUsesWith(value);
    reduction.erase();
  }
  for (auto [state, value] : llvm::zip(states, op.getNext())) carryState(state, value);
  numCompressed += bundle.size();
}

unsigned Compressor::run() {
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
      names.insert(name.getValue());
  SmallVector<ReshardOp> reductions;
  for (Block* block : getProgramBlocks(function)) llvm::append_range(reductions, block->getOps<ReshardOp>());
  for (ReshardOp reduction : reductions) decide(reduction);
  compress();
  return numCompressed;
}

namespace {
struct CompressReductionsPass : mlir::sgd::impl::CompressReductionsPassBase<CompressReductionsPass> {
  using CompressReductionsPassBase::CompressReductionsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    CompressionSettings settings(getOperation());
    getOperation()->removeAttr(kCompressAttr);
    if (!mesh || settings.empty()) return;
    FailureOr<CostModel> cost = loadCostModel(mesh, topologyName);
    if (failed(cost)) return signalPassFailure();
    MeshAxes axes(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isPrivate()) numCompressed += Compressor(function, axes, *cost, settings, bucketBytes).run();
  }
};
}  // namespace
