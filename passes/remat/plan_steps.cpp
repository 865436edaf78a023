// Buffers are roots: arguments, allocs and constants, behind all views.
#include "passes/remat/plan_steps.h"

#include "llvm/Support/MathExtras.h"
#include "passes/memory/arena_planner.h"
#include "passes/memory/instruction_cost.h"
#include "passes/memory/passes.h"
#include "passes/remat/recomputed_attr.h"

using namespace mlir;
using namespace mlir::sgd;
using remat::Step;

static int64_t getOccupiedBytes(Value root) {
  return llvm::alignTo(getByteSize(cast<MemRefType>(root.getType())), memory::kAlignment);
}

PlanSteps::PlanSteps(func::FuncOp function, const CostModel& cost, MeshAttr mesh, const SymbolTable& kernels)
    : function(function), cost(cost), mesh(mesh), kernels(kernels) {
  addBuffers();
  for (Operation& op : function.front())
    if (isa<plan::InstructionOpInterface>(op) || op.hasTrait<OpTrait::IsTerminator>()) addStep(&op);
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
  step.seconds = getSeconds(cost, mesh, op);
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
/// which are called from one place, a collective in flight ends elsewhere, and messages are sent once.
bool PlanSteps::isRepeatable(Operation* op) const {
  auto instruction = dyn_cast<plan::InstructionOpInterface>(op);
  if (!instruction || plan::usesChannels(op)) return false;
  switch (instruction.getCostClass()) {
    case plan::CostClass::Kernel:
    case plan::CostClass::Library:
    case plan::CostClass::Transfer:
      return true;
    case plan::CostClass::Collective:
      return op->getNumResults() == 0;
    case plan::CostClass::Wait:
    case plan::CostClass::Control:
      return false;
  }
  llvm_unreachable("all classes are handled");
}

int64_t PlanSteps::getScratchBytes(Operation* op) const {
  int64_t most = 0;
  for (func::FuncOp callee : plan::getCallees(op)) {
    PlanSteps steps(callee, cost, mesh, kernels);
    remat::Units units(steps.sequence);
    most = std::max(most, remat::Timeline(steps.sequence, units).getPeak());
  }
  return most;
}

namespace {

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
      Operation* op = ops[execution.step];
      builder.setInsertionPoint(end);
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
  }

 private:
  void setOperands(Operation* op, const remat::Execution& execution) {
    const Step& step = timeline.getSequence().steps[execution.step];
    builder.setInsertionPoint(op);
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

  /// Allocs are where their buffers are first used: sharing lets later ones use the memory of earlier ones.
  Value getBuffer(unsigned version) {
    if (buffers[version]) return buffers[version];
    Value root = roots[timeline.getBuffer(version)];
    if (timeline.getSequence().buffers[timeline.getBuffer(version)].isKept) return buffers[version] = root;
    buffers[version] = plan::AllocOp::create(builder, root.getLoc(), cast<MemRefType>(root.getType()), IntegerAttr());
    numbers[buffers[version]] = timeline.getBuffer(version);
    return buffers[version];
  }

  Value getView(Value buffer, Value like, int64_t byteOffset) {
    if (like.getType() == buffer.getType() && byteOffset == 0) return buffer;
    Value& view = views[{buffer, like.getType(), byteOffset}];
    if (!view)
      view = plan::ViewOp::create(builder, like.getLoc(), cast<MemRefType>(like.getType()), buffer, byteOffset);
    return view;
  }

  /// Marks a copy: what it writes for others need not be kept.
  void describe(Operation* op, const remat::Execution& execution) {
    uint64_t bytes = 0;
    for (unsigned version : execution.writes)
      if (timeline.getUses(version).size() > 1)
        bytes += timeline.getSequence().buffers[timeline.getBuffer(version)].bytes;
    setRecomputed(op, bytes, timeline.getSequence().steps[execution.step].seconds);
  }

  const remat::Timeline& timeline;
  ArrayRef<Operation*> ops;
  ArrayRef<Value> roots;
  llvm::DenseMap<Value, unsigned> numbers;  // of roots, new ones too, the buffer of the sequence
  OpBuilder builder;
  std::vector<bool> isDone;       // by step
  SmallVector<Value, 0> buffers;  // by version
  llvm::DenseMap<std::tuple<Value, Type, int64_t>, Value> views;
};

}  // namespace

void PlanSteps::apply(const remat::Timeline& timeline) const { TimelineWriter(timeline, ops, roots, numbers).write(); }
