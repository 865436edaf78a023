// The pass sgd-compress-reductions: each reduction over a compressed axis is looked at, and replaced where it is one of
// a gradient and less is sent.
#include "llvm/ADT/StringSet.h"
#include "passes/carry/carry_attrs.h"
#include "passes/compress/compressed_bytes.h"
#include "passes/compress/compression_decision.h"
#include "passes/compress/compression_settings.h"
#include "passes/compress/gradients.h"
#include "passes/compress/passes.h"
#include "passes/partition/sharding_state.h"
#include "passes/partition/source_line.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_COMPRESSREDUCTIONSPASS
#include "passes/compress/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
class Compressor {
 public:
  Compressor(func::FuncOp function, const MeshAxes& mesh, const CostModel& cost, const CompressionSettings& settings)
      : function(function), mesh(mesh), bytes(mesh, cost), settings(settings), gradients(function) {}

  unsigned run();

 private:
  void decide(ReshardOp reduction);
  std::string findObstacle(ReshardOp reduction, bool isOwn);
  void compress(ReshardOp reduction, const CompressedForm& form, const CompressionDecision& decision);
  Value addState(RankedTensorType type, const std::string& name);
  void carryState(Value argument, Value next);

  func::FuncOp function;
  const MeshAxes& mesh;
  CompressedBytes bytes;
  const CompressionSettings& settings;
  Gradients gradients;
  llvm::StringSet<> names;  // of state
  SmallVector<Attribute> decisions;
  unsigned numCompressed = 0;
};
}  // namespace

/// A sum over ranks that is complete afterwards, of a tensor with dimensions.
static bool isReduction(ReshardOp reshard) {
  ShardingAttr from = getSharding(reshard.getInput().getType()), to = getSharding(reshard.getType());
  return from.isPartial() && from.getUnreducedKind() == ReduceKind::Add && !to.isPartial() &&
         tensorType(reshard).getRank() > 0 && isa<FloatType>(tensorType(reshard).getElementType());
}

/// Why the reduction is not one of a gradient that can be compressed; empty where it is.
std::string Compressor::findObstacle(ReshardOp reduction, bool isOwn) {
  if (!isOwn) return "it is in a loop or branch";
  if (gradients.reachesLoss(reduction)) return "the loss depends on it";
  if (!gradients.findState(reduction.getResult())) return "no state is computed from it element by element";
  Type element = tensorType(reduction).getElementType();
  if (element.isF32()) return "";
  std::string text;
  llvm::raw_string_ostream(text) << "its elements are " << element << "; those of f32 are compressed";
  return text;
}

void Compressor::decide(ReshardOp reduction) {
  if (!isReduction(reduction)) return;
  auto from = tensorType(reduction.getInput()), to = tensorType(reduction);
  AxisParts axes = mesh.toTensorAxes(getSharding(from)).unreduced;
  CompressionDecision decision;
  std::optional<CompressionSetting> setting = settings.find(axes, mesh.getMesh(), decision.why);
  if (!setting && decision.why.empty()) return;
  bool isOwn = reduction->getBlock() == &function.front();
  for (const AxisPart& part : axes) decision.axes.push_back(mesh.getMesh().getAxes()[part.axis].getName().str());
  decision.tensor = withSharding(to, {});
  decision.source = getSourceLine(reduction.getLoc());
  if (decision.why.empty()) decision.why = findObstacle(reduction, isOwn);
  if (std::optional<unsigned> state = isOwn ? gradients.findState(reduction.getResult()) : std::nullopt) {
    auto name = function.getArgAttrOfType<StringAttr>(*state, kNameAttr);
    decision.state = name ? name.str() : "arg" + std::to_string(*state);
  }
  if (decision.why.empty()) {
    FailureOr<CompressedForm> form = bytes.choose(*setting, from, to, decision.why);
    if (succeeded(form)) {
      decision.kind = stringifyCompressionKind(form->kind).str();
      decision.sentBytes = form->sentBytes;
      decision.wholeBytes = form->wholeBytes;
      compress(reduction, *form, decision);
    }
  }
  decisions.push_back(decision.toAttr(function.getContext()));
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
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, attributes.getDictionary(builder.getContext()), function.getLoc());
  return function.getArgument(index);
}

/// A new result, the next value of `argument`.
void Compressor::carryState(Value argument, Value next) {
  unsigned index = cast<BlockArgument>(argument).getArgNumber(), result = function.getNumResults();
  Builder builder(function.getContext());
  NamedAttrList attributes;
  attributes.set(kNameAttr, function.getArgAttr(index, kNameAttr));
  attributes.set(kShardingAttr, getSharding(next.getType()));
  attributes.set(kCarryAttr, builder.getI64IntegerAttr(index));
  attributes.set(kCarryBasisAttr, builder.getStringAttr("names"));
  Operation* terminator = function.front().getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), next);
  (void)function.insertResult(result, next.getType(), attributes.getDictionary(builder.getContext()));
}

void Compressor::compress(ReshardOp reduction, const CompressedForm& form, const CompressionDecision& decision) {
  SmallVector<Value> states;
  for (const CompressedForm::State& state : form.states)
    states.push_back(addState(state.type, "compress/" + state.name + "/" + decision.state));
  OpBuilder builder(reduction);
  SmallVector<Type> types = {form.result};
  for (Value state : states) types.push_back(state.getType());
  auto op = CompressedReductionOp::create(builder, reduction.getLoc(), types, form.kind, reduction.getInput(), states,
                                          form.size);
  Value result = op.getResult();
  if (form.result != reduction.getType())
    result = ReshardOp::create(builder, reduction.getLoc(), reduction.getType(), result);
  reduction.getResult().replaceAllUsesWith(result);
  reduction.erase();
  for (auto [state, next] : llvm::zip(states, op.getNext())) carryState(state, next);
  ++numCompressed;
}

unsigned Compressor::run() {
  for (BlockArgument argument : function.getArguments())
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr))
      names.insert(name.getValue());
  SmallVector<ReshardOp> reductions;
  for (Block* block : getProgramBlocks(function)) llvm::append_range(reductions, block->getOps<ReshardOp>());
  for (ReshardOp reduction : reductions) decide(reduction);
  if (!decisions.empty()) function->setAttr(kCompressionsAttr, ArrayAttr::get(function.getContext(), decisions));
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
      if (!function.isPrivate()) numCompressed += Compressor(function, axes, *cost, settings).run();
  }
};
}  // namespace
