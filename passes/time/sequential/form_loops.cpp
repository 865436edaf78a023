// The pass sgd-form-loops: a schedule of loops, then one loop after the other before the function's return.
#include "passes/time/sequential/batch_parts.h"
#include "passes/time/sequential/loop_writer.h"
#include "passes/time/sequential/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORMLOOPSPASS
#include "passes/time/sequential/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
class LoopFormation {
 public:
  LoopFormation(func::FuncOp function, const SequentialAxis& axis, MeshAxisAttr attr, bool sumsInOwnType)
      : function(function),
        axis(axis),
        attr(attr),
        parts(function, axis, attr),
        context{axis.getMesh().getName(), attr, sumsInOwnType} {}

  LogicalResult run(bool refuse);
  unsigned numLoops = 0, numStacked = 0;

 private:
  void writeLoop(const LoopSchedule& schedule, unsigned index);

  func::FuncOp function;
  const SequentialAxis& axis;
  MeshAxisAttr attr;
  BatchParts parts;
  LoopContext context;
};
}  // namespace

void LoopFormation::writeLoop(const LoopSchedule& schedule, unsigned index) {
  Operation* terminator = function.front().getTerminator();
  SmallVector<Operation*> ops;
  for (Operation& op : function.front().without_terminator())
    if (LoopPlace place = schedule.get(&op); place.isInLoop && place.index == index) ops.push_back(&op);
  if (ops.empty()) return;
  LoopWriter writer(context, ops.front()->getLoc(), axis.getSize());
  for (Operation* op : schedule.getRepeated(index)) writer.add(op);
  for (Operation* op : ops) {
    if (!schedule.joinsCoordinates(op)) {
      writer.add(op);
      continue;
    }
    if (auto reduce = dyn_cast<spmd::AllReduceOp>(op)) {
      writer.accumulate(reduce);
      continue;
    }
    auto gather = cast<spmd::AllGatherOp>(op);
    for (auto [input, dim, result] : llvm::zip(gather.getInputs(), gather.getDims(), gather.getResults()))
      writer.gather(input, dim, Value(result).getAsOpaquePointer(),
                    [result = Value(result)](Value all) { Value(result).replaceAllUsesWith(all); });
  }
  for (Value value : schedule.getKept(index)) writer.keep(value);
  for (Value value : schedule.getLeft(index)) writer.store(value, axis.getSize());
  numStacked += schedule.getLeft(index).size();
  for (OpOperand& operand : terminator->getOpOperands()) {
    Operation* op = operand.get().getDefiningOp();
    if (!op || !schedule.varies(operand.get()) || schedule.get(op).index != index) continue;
    // Beside a result that is cut an op may have others that are not, as the info of a solve by columns.
    if (SequentialState state = parts.getResultState(operand); state.isCut())
      writer.gather(operand.get(), state.dim, &operand, [&operand](Value all) { operand.set(all); });
    else
      writer.keep(operand.get());
  }
  OpBuilder builder(terminator);
  writer.finish(builder);
  context.setResults();
  ++numLoops;
}

LogicalResult LoopFormation::run(bool refuse) {
  parts.widenArguments();
  LoopSchedule schedule(function, axis.getMesh().getMesh(), attr);
  if (failed(parts.check(schedule, refuse))) return failure();
  SmallVector<Operation*> inLoops, outside;
  SmallVector<OpOperand*> alike;
  for (OpOperand& operand : function.front().getTerminator()->getOpOperands())
    if (parts.getResultState(operand).isCut() && !schedule.varies(operand.get())) alike.push_back(&operand);
  for (Operation& op : function.front().without_terminator())
    (schedule.get(&op).isInLoop ? inLoops : outside).push_back(&op);
  Operation* terminator = function.front().getTerminator();
  for (unsigned index = 0; index <= schedule.getNumLoops(); ++index) {
    for (Operation* op : outside)
      if (schedule.get(op).index == index) op->moveBefore(terminator);
    if (index < schedule.getNumLoops()) writeLoop(schedule, index);
  }
  for (OpOperand* operand : alike) parts.repeatResult(*operand);
  parts.setResults();
  for (Operation* op : llvm::reverse(inLoops)) op->erase();
  return success();
}

namespace {
struct FormLoopsPass : mlir::sgd::impl::FormLoopsPassBase<FormLoopsPass> {
  using FormLoopsPassBase::FormLoopsPassBase;

  void runOnOperation() override {
    MeshOp mesh = getMesh(getOperation());
    MeshAxisAttr axis = getActiveSequentialAxis(mesh);
    if (!axis) return;
    SequentialAxis sequential(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh(), axis);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      LoopFormation formation(function, sequential, axis, sumsInOwnType);
      if (failed(formation.run(refuse))) return signalPassFailure();
      numLoops += formation.numLoops;
      numStacked += formation.numStacked;
    }
    mesh.setMeshAttr(MeshAttr::get(&getContext(), mesh.getMesh().getAxes().drop_front()));
  }
};
}  // namespace
