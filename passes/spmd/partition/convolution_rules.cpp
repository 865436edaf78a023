// Every window of a rank covers one range of the padded, dilated lhs; what of it are elements is fetched.
#include "passes/spmd/partition/local_rules.h"

#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/explain_movement.h"
#include "passes/spmd/partition/range_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// One spatial dimension: the positions of the padded lhs that a rank's windows cover, `scale` further on each rank.
struct Cover {
  AxisParts axes;
  int64_t scale = 0;
  int64_t length = 0;
};
}  // namespace

/// How far `windows` windows of `elements` elements reach.
static int64_t getReach(int64_t windows, int64_t stride, int64_t elements, int64_t dilation) {
  if (windows == 0 || elements == 0) return 0;
  return (windows - 1) * stride + (elements - 1) * dilation + 1;
}

static Cover getCover(ConvolutionOp op, const LocalisedOp& localised, MeshAttr mesh, int64_t spatial) {
  int64_t stride = op.getStrides()[spatial], dilation = op.getRhsDilations()[spatial];
  int64_t elements = cast<RankedTensorType>(op.getRhs().getType()).getDimSize(spatial);  // of a rank
  int64_t windows = localised.localResults[0].getDimSize(spatial + 1);
  Cover cover;
  cover.length = getReach(windows, stride, elements, dilation);
  cover.axes = getShardState(mesh, getSharding(localised.globalResults[0])).dims[spatial + 1];
  cover.scale = windows * stride;
  AxisParts window = getShardState(mesh, getSharding(localised.globalOperands[1])).dims[spatial];
  if (window.empty()) return cover;
  cover.axes = window;
  cover.scale = elements * dilation;
  return cover;
}

static FailureOr<Value> localizeConvolution(ConvolutionOp op, const LocalisedOp& localised, ReshardEmitter& emitter) {
  OpBuilder builder(op);
  RangeEmitter ranges(emitter, builder, op.getLoc(), explainMovement(op));
  SmallVector<int64_t> low(op.getLow()), high(op.getHigh()), dilations(op.getLhsDilations());
  ShardState lhs = getShardState(emitter.getMesh(), getSharding(localised.globalOperands[0]));
  Value value = op.getLhs();
  for (int64_t spatial = 0; spatial < op.getNumSpatialDims(); ++spatial) {
    Cover cover = getCover(op, localised, emitter.getMesh(), spatial);
    int64_t dim = spatial + 1;
    if (cover.axes.empty() && lhs.dims[dim].empty()) continue;
    WantedRange wanted{.dim = dim,
                       .size = localised.globalOperands[0].getDimSize(dim),
                       .length = cover.length,
                       .results = cover.axes,
                       .scale = cover.scale,
                       .offset = -low[spatial]};
    int64_t spacing = dilations[spatial];
    low[spatial] = high[spatial] = 0;
    std::optional<SpreadRange> spread;
    if (spacing > 1 && wanted.scale % spacing == 0) spread = getSpread(wanted, spacing);
    if (spread) {
      // Ranks begin at the same distance from an element: the convolution spreads the elements itself.
      low[spatial] = spread->low;
      high[spatial] = spread->high;
      value = ranges.emit(value, lhs.dims[dim], spread->elements);
    } else if (spacing > 1) {
      dilations[spatial] = 1;
      value = ranges.emitSpread(value, lhs.dims[dim], wanted, spacing, Value());
    } else {
      value = ranges.emit(value, lhs.dims[dim], wanted);
    }
  }
  op.getLhsMutable().assign(value);
  op.setLow(low);
  op.setHigh(high);
  op.setLhsDilations(dilations);
  op.getResult().setType(localised.localResults[0]);
  return Value();
}

void mlir::sgd::attachConvolutionRules(MLIRContext& context) {
  attachLocalRule<ConvolutionOp, localizeConvolution>(context);
}
