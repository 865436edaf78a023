// The plan-level dialect: buffers and instructions. Include this one header.
#ifndef SGD_DIALECTS_PLAN_PLAN_DIALECT_H
#define SGD_DIALECTS_PLAN_PLAN_DIALECT_H

#include "dialects/cost/work.h"
#include "dialects/fusion/epilogue.h"
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/plan/instruction_interface.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/spmd/channel_resource.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime/comm/collectives/collective_kind.h"

#include "dialects/plan/plan_dialect.h.inc"
#include "dialects/plan/plan_enums.h.inc"

namespace mlir::plan {

using mlir::sgd::getByteSize;
using mlir::sgd::getElementBytes;
using ::sgd::comm::CollectiveKind;
using ::sgd::library::Epilogue;
using ::sgd::library::EpilogueStep;

/// A memref of static shape and row-major layout whose memory space is a SpaceAttr.
bool isBuffer(Type type);

/// The row-major memref of `tensor`'s shape in `space`.
MemRefType getBufferType(RankedTensorType tensor, Space space);

/// Names of the discardable attributes on function arguments and results.
inline constexpr llvm::StringLiteral kOffsetAttr =
    "plan.offset";  // IntegerAttr on an argument: bytes from the start of its space
inline constexpr llvm::StringLiteral kTensorAttr = "plan.tensor";  // TensorAttr

}  // namespace mlir::plan

#define GET_ATTRDEF_CLASSES
#include "dialects/plan/plan_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/plan/plan_types.h.inc"

#define GET_OP_CLASSES
#include "dialects/plan/plan_ops.h.inc"

namespace mlir::plan {

/// The space of a buffer type.
Space getSpace(Type bufferType);

/// Where a buffer lies: the argument, alloc or constant behind all views, and the bytes from its start.
struct BufferRoot {
  Value root;
  int64_t byteOffset = 0;
};
BufferRoot getRoot(Value buffer);

/// The functions that `op` runs when it is a loop or case: the condition, if any, then the body; or the branches. Empty
/// for every other op.
SmallVector<func::FuncOp> getCallees(Operation* op);

/// Whether `op` sends or receives messages, or runs what does: the order of these is part of a program.
bool usesChannels(Operation* op);

/// How often a step runs each of these functions for one execution of `op`; loops of unknown trips and branches count
/// once.
int64_t getTrips(Operation* op);

/// Where these functions' own buffers of `space`, private or window, lie: an operand that may be absent.
MutableOperandRange getScratch(Operation* op, Space space);

/// The buffers that are passed to these functions, in order: inputs, then iter_args or outputs.
SmallVector<Value> getPassedBuffers(Operation* op);

}  // namespace mlir::plan

#endif
