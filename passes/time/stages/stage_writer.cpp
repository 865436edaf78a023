// The stage's part of each loop, and what is outside of them, in the order of the whole program: so all stages exchange
// values in one order.
#include "passes/time/stages/stage_writer.h"

#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/stages.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/time/sequential/batch_parts.h"
#include "passes/time/stages/join_rows.h"

using namespace mlir;
using namespace mlir::sgd;

/// Clones the ops of the stage, and as names, until they are written, the ops whose results it receives.
void StageWriter::cloneOwn() {
  func::FuncOp whole = plan.getFlow().getFunction();
  OpBuilder builder(whole);
  builder.setInsertionPointAfter(whole);
  function = cast<func::FuncOp>(builder.insert(whole->cloneWithoutRegions()));
  Block& block = function.getBody().emplaceBlock();
  // Which may be wider than the function's type says.
  for (BlockArgument argument : whole.getArguments())
    mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToEnd(&block);
  for (Operation& op : whole.front()) {
    bool isOwn =
        op.hasTrait<OpTrait::IsTerminator>() || toStages(plan.getForm(), plan.getPlacement().get(&op)).test(stage);
    if (isOwn || llvm::any_of(op.getResults(), [&](Value result) { return plan.getReceiving(result).test(stage); }))
      builder.clone(op, mapping);
  }
}

func::FuncOp StageWriter::write() {
  func::FuncOp whole = plan.getFlow().getFunction();
  const LoopSchedule& loops = plan.getFlow().getLoops();
  cloneOwn();
  for (BlockArgument argument : whole.getArguments()) exchange(argument);
  Block& block = whole.front();
  for (unsigned index = 0; index <= loops.getNumLoops(); ++index) {
    for (Operation& op : block.without_terminator())
      if (LoopPlace place = loops.get(&op); !place.isInLoop && place.index == index) writeOutside(&op);
    if (index < loops.getNumLoops()) writeLoop(index);
  }
  setResults();
  dropOthers();
  return failed(joinRows(function)) ? func::FuncOp() : function;
}

/// Sends or receives a value that is there once.
void StageWriter::exchange(Value value) {
  StageSet receiving = plan.getReceiving(value);
  OpBuilder builder(function.front().getTerminator());
  if (plan.getHaving(value).test(stage)) {
    if (plan.getSender(value) != stage) return;
    for (unsigned to : receiving.set_bits()) {
      if (plan.isReceivedInParts(value, to)) continue;
      ChannelPlan channel = plan.getChannel(value, to);
      spmd::SendOp::create(builder, value.getLoc(), getOwn(value), to, channel.number, channel.depth);
    }
  } else if (receiving.test(stage) && !plan.isReceivedInParts(value, stage)) {
    Value received = spmd::ReceiveOp::create(builder, value.getLoc(), getOwn(value).getType(),
                                             plan.getChannel(value, stage).number, plan.getSender(value));
    getOwn(value).replaceAllUsesWith(received);
  }
}

void StageWriter::writeOutside(Operation* op) {
  if (toStages(plan.getForm(), plan.getPlacement().get(op)).test(stage)) {
    Operation* own = mapping.lookup(op);
    own->moveBefore(function.front().getTerminator());
    written.insert(own);
  }
  for (Value result : op->getResults()) exchange(result);
}

void StageWriter::writeLoop(unsigned loop) {
  const LoopPlan& of = plan.getLoops()[loop];
  std::vector<Task> tasks;
  auto getContent = [&](unsigned slot) -> const SlotContent& { return plan.getStage(stage).get({loop, slot}); };
  for (Task task : of.schedule[stage])
    if (!getContent(task.slot).isEmpty()) tasks.push_back(task);
  OpBuilder builder(function.front().getTerminator());
  for (const TaskLoop& run : formTaskLoops(tasks)) {
    LoopWriter writer(context, function.getLoc(), run.trips);
    for (LoopTask task : run.body) {
      writer.beginTask(task.first, run.stride);
      writeTask(writer, getContent(task.slot), of.slots.slots[task.slot].kind);
    }
    writer.finish(builder);
  }
  // Values known behind the loop are sent under their names so far.
  for (Operation& op : plan.getFlow().getOps()) {
    LoopPlace place = plan.getFlow().getLoops().get(&op);
    if (!place.isInLoop || place.index != loop) continue;
    for (Value result : op.getResults())
      if (!plan.getFlow().getLoops().varies(result)) exchange(result);
  }
  context.setResults();
}

/// Ops of a task that turns around are of both passes, as they say themselves.
static std::optional<Phase> getSlotPhase(SlotKind kind) {
  switch (kind) {
    case SlotKind::Forward:
      return Phase::Forward;
    case SlotKind::Turn:
      return std::nullopt;
    case SlotKind::Backward:
      return Phase::Backward;
    case SlotKind::Weights:
      return Phase::WeightGradients;
  }
  llvm_unreachable("all kinds are handled");
}

void StageWriter::writeTask(LoopWriter& writer, const SlotContent& content, SlotKind kind) {
  const StagePlan& own = plan.getStage(stage);
  for (Value value : content.received)
    writer.set(getOwn(value), spmd::ReceiveOp::create(writer.getBuilder(), value.getLoc(), value.getType(),
                                                      plan.getChannel(value, stage).number, plan.getSender(value)));
  for (Operation* op : content.ops) writeOp(writer, op);
  for (Value value : content.kept) writer.keep(getOwn(value));
  for (Value value : content.stored) writer.store(getOwn(value), own.getPlaces(value));
  for (OpOperand* operand : content.returned) {
    OpOperand& result = function.front().getTerminator()->getOpOperand(operand->getOperandNumber());
    Value value = getOwn(operand->get());
    SequentialState state = BatchParts(function, *axis, attr).getResultState(result);
    if (state.isCut())
      writer.gather(value, state.dim, &result, [&result](Value all) { result.set(all); });
    else
      writer.keep(value);
  }
  for (Value value : content.sent) sendPart(writer, value);
  if (std::optional<Phase> phase = getSlotPhase(kind)) writer.markTask(*phase);
}

/// `op` is the plan's.
void StageWriter::writeOp(LoopWriter& writer, Operation* op) {
  Operation* own = mapping.lookup(op);
  if (!plan.getFlow().getLoops().joinsCoordinates(op)) return writer.add(own);
  if (auto reduce = dyn_cast<spmd::AllReduceOp>(own)) return writer.accumulate(reduce);
  auto gather = cast<spmd::AllGatherOp>(own);
  for (auto [input, dim, result, planned] :
       llvm::zip(gather.getInputs(), gather.getDims(), gather.getResults(), op->getResults()))
    // Arguments are known at once and are sent under their names.
    writer.gather(input, dim, Value(result).getAsOpaquePointer(),
                  [this, result = Value(result), planned = Value(planned)](Value all) {
                    Value(result).replaceAllUsesWith(all);
                    mapping.map(planned, all);
                  });
}

void StageWriter::sendPart(LoopWriter& writer, Value value) {
  const StageSet receiving = plan.getReceiving(value);
  for (unsigned to : receiving.set_bits()) {
    if (!plan.isReceivedInParts(value, to)) continue;
    ChannelPlan channel = plan.getChannel(value, to);
    spmd::SendOp::create(writer.getBuilder(), value.getLoc(), writer.get(getOwn(value)), to, channel.number,
                         channel.depth);
  }
}

void StageWriter::setResults() {
  if (!axis) return;
  BatchParts parts(function, *axis, attr);
  func::FuncOp whole = plan.getFlow().getFunction();
  for (OpOperand& result : whole.front().getTerminator()->getOpOperands()) {
    // Results of other stages go with the ops that compute them.
    if (!toStages(plan.getForm(), plan.getPlacement().getReturning(result)).test(stage)) continue;
    OpOperand& own = function.front().getTerminator()->getOpOperand(result.getOperandNumber());
    if (!plan.getFlow().getLoops().varies(result.get()) && parts.getResultState(own).isCut()) parts.repeatResult(own);
  }
  parts.setResults();
}

/// Where an argument or result of these attributes, the one with the number `index`, is in the whole program.
static int64_t getPosition(DictionaryAttr attrs, unsigned index) {
  auto whole = attrs ? attrs.getAs<DenseI64ArrayAttr>(kWholeAttr) : DenseI64ArrayAttr();
  return whole ? whole[0] : index;
}

/// Where an argument or result is in the whole program, and what it is called there.
static void setPosition(NamedAttrList& attrs, unsigned index, StringRef kind, Builder& builder) {
  int64_t position = getPosition(attrs.getDictionary(builder.getContext()), index);
  attrs.erase(kStageAttr);
  attrs.set(kPositionAttr, builder.getI64IntegerAttr(position));
  if (!attrs.get(kNameAttr)) attrs.set(kNameAttr, builder.getStringAttr(kind + Twine(position)));
}

/// By index, the number among those that are not dropped, or -1.
static SmallVector<int64_t> getNumbers(const llvm::BitVector& dropped) {
  SmallVector<int64_t> numbers;
  int64_t next = 0;
  for (unsigned index = 0; index < dropped.size(); ++index) numbers.push_back(dropped[index] ? -1 : next++);
  return numbers;
}

/// Attributes of arguments that name a result, and the other way round, and the places of both. All at once: a function
/// may have thousands.
void StageWriter::setAttributes(const llvm::BitVector& droppedArguments, const llvm::BitVector& droppedResults) {
  Builder builder(function.getContext());
  SmallVector<int64_t> arguments = getNumbers(droppedArguments), results = getNumbers(droppedResults);
  auto renumber = [&](NamedAttrList& attrs, StringRef name, ArrayRef<int64_t> numbers) {
    auto other = dyn_cast_or_null<IntegerAttr>(attrs.get(name));
    if (!other) return;
    attrs.erase(name);
    if (numbers[other.getInt()] >= 0) attrs.set(name, builder.getI64IntegerAttr(numbers[other.getInt()]));
  };
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    NamedAttrList attrs(function.getArgAttrDict(index));
    setPosition(attrs, index, "arg", builder);
    renumber(attrs, kAliasOutputAttr, results);
    renumber(attrs, kCarryCandidateAttr, results);
    ofArguments.push_back(attrs.getDictionary(builder.getContext()));
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    NamedAttrList attrs(function.getResultAttrDict(index));
    setPosition(attrs, index, "result", builder);
    renumber(attrs, kCarryAttr, arguments);
    ofResults.push_back(attrs.getDictionary(builder.getContext()));
  }
  function.setAllArgAttrs(ofArguments);
  function.setAllResultAttrs(ofResults);
}

void StageWriter::dropOthers() {
  func::FuncOp whole = plan.getFlow().getFunction();
  llvm::BitVector arguments(function.getNumArguments()), results(function.getNumResults());
  for (BlockArgument argument : whole.getArguments())
    arguments[argument.getArgNumber()] = !plan.getHaving(argument).test(stage);
  for (OpOperand& result : whole.front().getTerminator()->getOpOperands())
    results[result.getOperandNumber()] =
        !toStages(plan.getForm(), plan.getPlacement().getReturning(result)).test(stage);
  setAttributes(arguments, results);
  function.front().getTerminator()->eraseOperands(results);
  (void)function.eraseResults(results);
  SmallVector<Operation*> others;
  for (Operation& op : whole.front().without_terminator())
    if (Operation* own = mapping.lookupOrNull(&op); own && !written.contains(own)) others.push_back(own);
  for (Operation* op : llvm::reverse(others)) op->erase();
  (void)function.eraseArguments(arguments);
}
