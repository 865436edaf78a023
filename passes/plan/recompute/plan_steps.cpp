// Buffers are roots: arguments, allocs and constants, behind all views.
#include "passes/plan/recompute/plan_steps.h"

#include <cmath>

#include "dialects/plan/host_call.h"
#include "dialects/plan/host_copy.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/stages.h"
#include "llvm/Support/MathExtras.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/plan/memory/arena_planner.h"
#include "passes/plan/memory/passes.h"
#include "passes/plan/memory/spaces.h"
#include "passes/plan/recompute/passes.h"

using namespace mlir;
using namespace mlir::sgd;
using remat::Step;

static int64_t getOccupiedBytes(Value root) {
  return llvm::alignTo(getByteSize(cast<MemRefType>(root.getType())), memory::kAlignment);
}

/// Whether another program of the same ranks has an argument of this name, which then is in the same place.
static bool isShared(func::FuncOp function, StringAttr name) {
  for (auto other : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    for (unsigned index = 0; other != function && !other.isPrivate() && index < other.getNumArguments(); ++index)
      if (getStage(other) == getStage(function) && other.getArgAttrOfType<StringAttr>(index, kNameAttr) == name)
        return true;
  return false;
}

llvm::DenseSet<Value> mlir::sgd::getOwnStates(func::FuncOp function) {
  llvm::DenseSet<Value> states;
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    auto alias = function.getResultAttrOfType<IntegerAttr>(result, kAliasAttr);
    if (!alias || getCarriedArgument(function, result) != alias.getInt()) continue;
    auto name = function.getArgAttrOfType<StringAttr>(alias.getInt(), kNameAttr);
    if (!name || !isShared(function, name)) states.insert(function.getArgument(alias.getInt()));
  }
  return states;
}

PlanSteps::PlanSteps(func::FuncOp function, const OpTimes& times, const SymbolTable& kernels, OffloadScope scope)
    : function(function), times(times), kernels(kernels) {
  addBuffers();
  for (Operation& op : function.front())
    if (isa<plan::InstructionOpInterface>(op) || op.hasTrait<OpTrait::IsTerminator>()) addStep(&op);
  addHostCopies(scope);
}

/// Says which buffers may be on the host, and what a copy takes.
void PlanSteps::addHostCopies(OffloadScope scope) {
  auto getCopySeconds = [&](unsigned buffer) {
    double seconds = times.getCost().getHostCopySeconds(static_cast<double>(getOccupiedBytes(roots[buffer])));
    return std::isinf(seconds) ? 0 : seconds;
  };
  for (unsigned buffer = 0; scope.activations && buffer < roots.size(); ++buffer)
    if (!sequence.buffers[buffer].isKept) sequence.buffers[buffer].hostSeconds = getCopySeconds(buffer);
  if (!scope.states) return;
  llvm::DenseSet<Value> states = getOwnStates(function);
  llvm::DenseSet<unsigned> written;
  for (const Step& step : sequence.steps) written.insert(step.writes.begin(), step.writes.end());
  // The next value is the argument as it is, or in a buffer of its own, which is copied out instead.
  for (auto [index, value] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
    std::optional<unsigned> result = getBuffer(value);
    auto alias = function.getResultAttrOfType<IntegerAttr>(index, kAliasAttr);
    if (!result || !alias || !states.contains(function.getArgument(alias.getInt()))) continue;
    unsigned state = numbers.lookup(function.getArgument(alias.getInt()));
    if (written.contains(state) || (*result != state && sequence.buffers[*result].destination != state)) continue;
    for (unsigned buffer : {state, *result}) sequence.buffers[buffer].hostSeconds = getCopySeconds(buffer);
    if (sequence.buffers[state].hostSeconds != 0) sequence.buffers[state].stateBytes = getOccupiedBytes(roots[state]);
  }
}

void PlanSteps::addBuffers() {
  auto add = [&](Value root, bool isKept) {
    numbers[root] = roots.size();
    roots.push_back(root);
    sequence.buffers.push_back({isKept ? 0 : getOccupiedBytes(root), isKept, std::nullopt});
  };
  for (BlockArgument argument : function.getArguments()) add(argument, /*isKept=*/true);
  for (Operation& op : function.front())
    if (isa<plan::AllocOp, plan::ConstantOp>(op)) add(op.getResult(0), isa<plan::ConstantOp>(op));
  for (auto [index, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (auto alias = function.getResultAttrOfType<IntegerAttr>(index, kAliasAttr)) {
      std::optional<unsigned> result = getBuffer(value);
      Value argument = function.getArgument(alias.getInt());
      if (result && !sequence.buffers[*result].isKept && getOccupiedBytes(argument) == getOccupiedBytes(roots[*result]))
        sequence.buffers[*result].destination = numbers.lookup(argument);
    }
}

std::optional<unsigned> PlanSteps::getBuffer(Value buffer) const {
  if (!isa<MemRefType>(buffer.getType())) return std::nullopt;
  auto found = numbers.find(plan::getRoot(buffer).root);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

void PlanSteps::addStep(Operation* op) {
  Step step;
  SmallVector<plan::BufferAccess> accesses(op->getNumOperands(), {/*reads=*/true, /*writes=*/false, false});
  if (auto instruction = dyn_cast<plan::InstructionOpInterface>(op)) accesses = plan::getAccesses(instruction, kernels);
  for (auto [operand, access] : llvm::zip(op->getOperands(), accesses)) {
    std::optional<unsigned> buffer = getBuffer(operand);
    if (!buffer) continue;
    if (access.reads && !llvm::is_contained(step.reads, *buffer)) step.reads.push_back(*buffer);
    if (access.writes && !llvm::is_contained(step.writes, *buffer)) step.writes.push_back(*buffer);
  }
  step.seconds = times.get(op);
  step.isRepeatable = isRepeatable(op);
  step.scratchBytes = getScratchBytes(op);
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) addInPlace(launch, step);
  auto addPair = [&](Value source, Value target) {
    if (getByteSize(cast<MemRefType>(source.getType())) == getByteSize(cast<MemRefType>(target.getType())))
      if (auto from = getBuffer(source), to = getBuffer(target); from && to) step.inPlace.push_back({*to, *from});
  };
  if (auto copy = dyn_cast<plan::CopyOp>(op)) addPair(copy.getSource(), copy.getTarget());
  if (auto collective = dyn_cast<plan::CollectiveOp>(op);
      collective && collective.getKind() == plan::CollectiveKind::kAllReduce)
    for (auto [source, target] : llvm::zip(collective.getSources(), collective.getTargets())) addPair(source, target);
  ops.push_back(op);
  sequence.steps.push_back(std::move(step));
}

void PlanSteps::addInPlace(plan::LaunchOp launch, Step& step) {
  auto kernel = kernels.lookup<plan::KernelOp>(launch.getKernel());
  if (!kernel || !kernel.getCandidates()) return;
  SmallVector<unsigned> positions = kernel.getInputPositions();
  ArrayRef<int64_t> candidates = *kernel.getCandidates();
  for (size_t i = 0; i + 1 < candidates.size(); i += 2) {
    Value source = launch.getInputs()[llvm::find(positions, candidates[i + 1]) - positions.begin()];
    auto from = getBuffer(source), to = getBuffer(launch.getOutputs()[candidates[i]]);
    if (from && to) step.inPlace.push_back({*to, *from});
  }
}

/// Instructions of one run, whose results follow from what they read: loops and branches call functions of their own,
/// which are called from one place, a collective in flight ends elsewhere, messages are sent once, and the host is
/// called once.
bool PlanSteps::isRepeatable(Operation* op) const {
  auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
  if (!instruction || plan::keepsOrder(op)) return false;
  switch (instruction.getCostClass()) {
    case plan::CostClass::Kernel:
    case plan::CostClass::Library:
    case plan::CostClass::Transfer:
      return true;
    case plan::CostClass::Collective:
      return op->getNumResults() == 0;
    case plan::CostClass::HostCopy:
    case plan::CostClass::Wait:
    case plan::CostClass::Control:
      return false;
  }
  llvm_unreachable("all classes are handled");
}

int64_t PlanSteps::getScratchBytes(Operation* op) const {
  int64_t most = 0;
  for (func::FuncOp callee : plan::getCallees(op)) {
    PlanSteps steps(callee, times, kernels);
    remat::Units units(steps.sequence);
    most = std::max(most, remat::Timeline(steps.sequence, units).getPeak());
  }
  return most;
}

namespace {

MemRefType inSpaceOf(MemRefType type, MemRefType other) {
  return MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(), other.getMemorySpace());
}

/// Writes a timeline: versions become buffers.
class TimelineWriter {
 public:
  TimelineWriter(const remat::Timeline& timeline, ArrayRef<Operation*> ops, ArrayRef<Value> roots,
                 llvm::DenseMap<Value, unsigned> numbers)
      : timeline(timeline), ops(ops), roots(roots), numbers(std::move(numbers)), builder(ops.front()->getContext()) {
    isDone.assign(ops.size(), false);
    buffers.resize(timeline.getNumVersions());
  }

  void write() {
    Operation* end = ops.back();
    for (size_t position = 0; position < timeline.size(); ++position) {
      const remat::Execution& execution = timeline[position];
      builder.setInsertionPoint(end);
      if (execution.isCopy()) {
        addCopy(execution);
        continue;
      }
      Operation* op = ops[execution.step];
      if (isDone[execution.step]) {
        op = builder.clone(*op);
        describe(op, execution);
      } else if (op != end) {
        op->moveBefore(end);
      }
      isDone[execution.step] = true;
      setOperands(op, execution);
    }
    for (auto [step, op] : llvm::enumerate(ops))
      if (!isDone[step]) op->erase();
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*end->getBlock())))
      if (isa<plan::AllocOp, plan::ViewOp, plan::ConstantOp>(op) && op.use_empty()) op.erase();
    for (unsigned state : timeline.getStateOnHost()) setSpace(roots[state], plan::Space::Host);
    updateFunctionType(cast<func::FuncOp>(end->getParentOp()));
  }

 private:
  void addCopy(const remat::Execution& execution) {
    if (execution.kind == remat::Execution::Kind::CopiedOut) {
      Value token = copiesOut.lookup(execution.instance);
      plan::HostCopiedOp::create(builder, token.getLoc(), token);
      return;
    }
    Value source = getBuffer(execution.reads.front()), target = getBuffer(execution.writes.front());
    Location loc = roots[timeline.getBuffer(execution.reads.front())].getLoc();
    Value token =
        plan::HostCopyOp::create(builder, loc, plan::TokenType::get(builder.getContext()), source, target).getToken();
    if (execution.kind == remat::Execution::Kind::CopyOut)
      copiesOut[execution.instance] = token;
    else
      copiesIn[execution.writes.front()] = token;
  }

  /// Before the first instruction that reads what is copied in.
  void awaitCopies(const remat::Execution& execution) {
    for (unsigned version : execution.reads) {
      auto token = copiesIn.find(version);
      if (token == copiesIn.end()) continue;
      plan::HostCopiedOp::create(builder, token->second.getLoc(), token->second);
      copiesIn.erase(token);
    }
  }

  void setOperands(Operation* op, const remat::Execution& execution) {
    const Step& step = timeline.getSequence().steps[execution.step];
    builder.setInsertionPoint(op);
    awaitCopies(execution);
    for (OpOperand& operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType())) continue;
      plan::BufferRoot root = plan::getRoot(operand.get());
      auto number = numbers.find(root.root);
      if (number == numbers.end()) continue;
      auto read = llvm::find(step.reads, number->second), written = llvm::find(step.writes, number->second);
      unsigned version = written != step.writes.end() ? execution.writes[written - step.writes.begin()]
                                                      : execution.reads[read - step.reads.begin()];
      operand.set(getView(getBuffer(version), operand.get(), root.byteOffset));
    }
  }

  /// Allocs are where their buffers are first used: sharing lets later ones use the memory of earlier ones. What is
  /// kept is its first version, where it is, and others are where it would be.
  Value getBuffer(unsigned version) {
    if (buffers[version]) return buffers[version];
    Value root = roots[timeline.getBuffer(version)];
    bool isKept = timeline.getSequence().buffers[timeline.getBuffer(version)].isKept;
    if (isKept && version == timeline.getBuffer(version)) return buffers[version] = root;
    auto type = cast<MemRefType>(root.getType());
    if (timeline.isOnHost(version))
      type = MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                             plan::SpaceAttr::get(builder.getContext(), plan::Space::Host));
    buffers[version] = plan::AllocOp::create(builder, root.getLoc(), type, IntegerAttr());
    numbers[buffers[version]] = timeline.getBuffer(version);
    return buffers[version];
  }

  Value getView(Value buffer, Value like, int64_t byteOffset) {
    MemRefType type = inSpaceOf(cast<MemRefType>(like.getType()), cast<MemRefType>(buffer.getType()));
    if (type == buffer.getType() && byteOffset == 0) return buffer;
    Value& view = views[{buffer, type, byteOffset}];
    if (!view) view = plan::ViewOp::create(builder, like.getLoc(), type, buffer, byteOffset);
    return view;
  }

  /// Marks a copy: what it writes for others need not be kept.
  void describe(Operation* op, const remat::Execution& execution) {
    uint64_t bytes = 0;
    for (unsigned version : execution.writes)
      if (timeline.getUses(version).size() > 1)
        bytes += timeline.getSequence().buffers[timeline.getBuffer(version)].bytes;
    Decision decision = Decision::at(DecisionKind::Recompute, op->getLoc());
    decision.chosen = getName(op);
    decision.freedBytes = bytes;
    decision.seconds = timeline.getSequence().steps[execution.step].seconds;
    addDecision(op, decision);
  }

  /// "kernel", "matmul", "all_gather", ...
  static std::string getName(Operation* instruction) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(instruction))
      return ::sgd::comm::CollectiveName(collective.getKind());
    return isa<plan::LaunchOp>(instruction) ? "kernel" : instruction->getName().stripDialect().str();
  }

  const remat::Timeline& timeline;
  ArrayRef<Operation*> ops;
  ArrayRef<Value> roots;
  llvm::DenseMap<Value, unsigned> numbers;  // of roots, new ones too, the buffer of the sequence
  OpBuilder builder;
  std::vector<bool> isDone;                             // by step
  SmallVector<Value, 0> buffers;                        // by version
  llvm::DenseMap<unsigned, Value> copiesOut, copiesIn;  // in flight, by instance and by version
  llvm::DenseMap<std::tuple<Value, Type, int64_t>, Value> views;
};

}  // namespace

void PlanSteps::apply(const remat::Timeline& timeline) const { TimelineWriter(timeline, ops, roots, numbers).write(); }
