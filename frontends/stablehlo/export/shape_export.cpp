// Exports of ops that move elements to places known at compile time.
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

LogicalResult exportBroadcast(OpExport& e) {
  auto op = cast<BroadcastInDimOp>(e.op);
  return e.finish(e.createWith<stablehlo::BroadcastInDimOp>(e.getResultType(), e.operands,
                                                            {{"broadcast_dimensions", op.getDimsAttr()}})
                      ->getResults());
}

LogicalResult exportTranspose(OpExport& e) {
  auto op = cast<TransposeOp>(e.op);
  return e.finish(
      e.createWith<stablehlo::TransposeOp>(e.getResultType(), e.operands, {{"permutation", op.getPermutationAttr()}})
          ->getResults());
}

LogicalResult exportReshape(OpExport& e) {
  return e.finish(e.createNamed("stablehlo.reshape", e.getResultType(), e.operands));
}

LogicalResult exportSlice(OpExport& e) {
  auto op = cast<SliceOp>(e.op);
  return e.finish(e.createWith<stablehlo::SliceOp>(e.getResultType(), e.operands,
                                                   {{"start_indices", op.getStartsAttr()},
                                                    {"limit_indices", op.getLimitsAttr()},
                                                    {"strides", op.getStridesAttr()}})
                      ->getResults());
}

LogicalResult exportPad(OpExport& e) {
  auto op = cast<PadOp>(e.op);
  return e.finish(e.createWith<stablehlo::PadOp>(e.getResultType(), e.operands,
                                                 {{"edge_padding_low", op.getLowAttr()},
                                                  {"edge_padding_high", op.getHighAttr()},
                                                  {"interior_padding", op.getInteriorAttr()}})
                      ->getResults());
}

LogicalResult exportConcatenate(OpExport& e) {
  auto op = cast<ConcatenateOp>(e.op);
  return e.finish(
      e.createWith<stablehlo::ConcatenateOp>(e.getResultType(), e.operands, {{"dimension", op.getDimensionAttr()}})
          ->getResults());
}

LogicalResult exportReverse(OpExport& e) {
  auto op = cast<ReverseOp>(e.op);
  return e.finish(
      e.createWith<stablehlo::ReverseOp>(e.getResultType(), e.operands, {{"dimensions", op.getDimensionsAttr()}})
          ->getResults());
}

LogicalResult exportIota(OpExport& e) {
  auto op = cast<IotaOp>(e.op);
  return e.finish(e.createWith<stablehlo::IotaOp>(e.getResultType(), {}, {{"iota_dimension", op.getDimensionAttr()}})
                      ->getResults());
}

LogicalResult exportBarrier(OpExport& e) {
  auto types = llvm::map_to_vector(e.operands, [](Value value) { return value.getType(); });
  return e.finish(e.createWith<stablehlo::OptimizationBarrierOp>(types, e.operands, {})->getResults());
}

}  // namespace

void mlir::sgd::addShapeExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"sgd.broadcast_in_dim", exportBroadcast},
      {"sgd.transpose", exportTranspose},
      {"sgd.reshape", exportReshape},
      {"sgd.slice", exportSlice},
      {"sgd.pad", exportPad},
      {"sgd.concatenate", exportConcatenate},
      {"sgd.reverse", exportReverse},
      {"sgd.iota", exportIota},
      {"sgd.optimization_barrier", exportBarrier},
  };
  for (auto [name, fn] : entries) table[name] = fn;
}
