// One view or one allocation each.
#include "passes/plan/lowering/call_buffers.h"

using namespace mlir;
using namespace mlir::sgd;

Value mlir::sgd::viewFrom(OpBuilder& builder, Location loc, Value buffer, int64_t offset) {
  if (offset == 0) return buffer;
  auto type = cast<MemRefType>(buffer.getType());
  auto part = MemRefType::get({type.getNumElements() - offset}, type.getElementType(), MemRefLayoutAttrInterface(),
                              type.getMemorySpace());
  return plan::ViewOp::create(builder, loc, part, buffer, offset * getElementBytes(type.getElementType()));
}

Value mlir::sgd::createWorkspace(OpBuilder& builder, Location loc, int64_t bytes) {
  if (bytes == 0) return {};
  auto type = MemRefType::get({bytes}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                              plan::SpaceAttr::get(builder.getContext(), plan::Space::Private));
  return plan::AllocOp::create(builder, loc, type, IntegerAttr());
}
