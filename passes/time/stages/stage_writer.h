// Writes the function of one stage of a pipeline.
#ifndef SGD_PASSES_TIME_STAGES_STAGE_WRITER_H
#define SGD_PASSES_TIME_STAGES_STAGE_WRITER_H

#include "passes/sharding/propagation/sequential_axis.h"
#include "passes/time/sequential/loop_writer.h"
#include "passes/time/stages/pipeline_plan.h"

namespace mlir::sgd {

class StageWriter {
 public:
  /// `axis` is the sequential axis, or null: there are no loops then.
  StageWriter(const PipelinePlan& plan, unsigned stage, FlatSymbolRefAttr meshName, const SequentialAxis* axis,
              MeshAxisAttr attr)
      : plan(plan), stage(stage), axis(axis), attr(attr), context{meshName, attr} {}

  /// A function behind the plan's one, with the ops, arguments and results of the stage; null after an error.
  func::FuncOp write();

 private:
  Value getOwn(Value value) const { return mapping.lookup(value); }
  void cloneOwn();
  void exchange(Value value);
  void writeOutside(Operation* op);
  void writeLoop(unsigned loop);
  void writeTask(LoopWriter& writer, const SlotContent& content, SlotKind kind);
  void writeOp(LoopWriter& writer, Operation* op);
  void sendPart(LoopWriter& writer, Value value);
  void setResults();
  void setAttributes(const llvm::BitVector& droppedArguments, const llvm::BitVector& droppedResults);
  void dropOthers();

  const PipelinePlan& plan;
  unsigned stage;
  const SequentialAxis* axis;
  MeshAxisAttr attr;
  LoopContext context;
  func::FuncOp function;
  IRMapping mapping;  // from the plan's function
  llvm::DenseSet<Operation*> written;
};

}  // namespace mlir::sgd

#endif
