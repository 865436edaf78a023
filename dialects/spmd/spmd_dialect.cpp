// Registration of the SPMD-level dialect, and the checks of groups and ranges that the plan level shares.
#include "dialects/spmd/spmd_dialect.h"

#include "dialects/sgd/stages.h"
#include "dialects/spmd/collective_models.h"
#include "dialects/spmd/work.h"

using namespace mlir;
using namespace mlir::spmd;
using mlir::sgd::AxisListAttr;

#include "dialects/spmd/spmd_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/spmd/spmd_ops.cpp.inc"

void SpmdDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/spmd/spmd_ops.cpp.inc"
      >();
  attachCollectiveModels(*getContext());
  attachWork(*getContext());
}

std::optional<int64_t> mlir::spmd::getGroupSize(Operation* from, AxisListAttr axes) {
  sgd::MeshAttr mesh = sgd::lookupMesh(from, axes.getMesh());
  if (!mesh) return std::nullopt;
  int64_t size = 1;
  for (sgd::AxisRefAttr axis : axes.getAxes()) {
    if (!mesh.getAxisSize(axis.getName())) return std::nullopt;
    size *= axis.getNumShards(mesh);
  }
  return size;
}

LogicalResult mlir::spmd::verifyRange(Operation* op, sgd::RangeAttr range, ArrayRef<int64_t> source,
                                      ArrayRef<int64_t> target, int64_t tiles) {
  int64_t dim = range.getDim();
  if (dim >= static_cast<int64_t>(source.size()))
    return op->emitOpError() << "has no dimension " << dim << " among " << source.size()
                             << "; expected one of the operand, counted from 0; correct the range";
  if (source[dim] * tiles < range.getSize())
    return op->emitOpError() << tiles << " tiles of " << source[dim] << " elements do not hold a dimension of size "
                             << range.getSize() << "; expected as many elements; correct the range";
  SmallVector<int64_t> shape(source);
  if (dim < static_cast<int64_t>(target.size())) shape[dim] = target[dim];
  if (target != ArrayRef<int64_t>(shape))
    return op->emitOpError() << "has the result shape [" << target << "]; expected [" << shape
                             << "], with any size of dimension " << dim << "; correct the result's type";
  return success();
}

/// The numbers of a send or receive; the stages that there are and where channels begin and end are facts of all stages
/// together (sgd-verify-channels).
static LogicalResult verifyNumbers(Operation* op, int64_t stage, int64_t channel) {
  if (stage < 0 || channel < 0)
    return op->emitOpError() << "names stage " << stage << " and channel " << channel
                             << "; expected numbers from 0; correct them";
  auto function = op->getParentOfType<func::FuncOp>();
  std::optional<int64_t> own = function ? mlir::sgd::getStage(function) : std::nullopt;
  if (own && *own == stage)
    return op->emitOpError() << "connects stage " << stage << " with itself; expected another one; use the value";
  return success();
}

LogicalResult SendOp::verify() {
  if (getDepth() < 1 || getDepth() > kMaxChannelDepth)
    return emitOpError() << "has a channel of depth " << getDepth() << "; expected 1 to " << kMaxChannelDepth
                         << "; correct it";
  return verifyNumbers(*this, getStage(), getChannel());
}

LogicalResult ReceiveOp::verify() { return verifyNumbers(*this, getStage(), getChannel()); }

bool mlir::spmd::usesChannels(Operation* op) {
  if (isa<SendOp, ReceiveOp>(op)) return true;
  if (op->getNumRegions() == 0) return false;
  return op
      ->walk([](Operation* inner) {
        return isa<SendOp, ReceiveOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
