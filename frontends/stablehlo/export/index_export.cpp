// Exports of ops that move elements to places known when the program runs.
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/chlo_dialect.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/input/shape_ops.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

LogicalResult exportDynamicSlice(OpExport& e) {
  auto op = cast<DynamicSliceOp>(e.op);
  return e.finish(
      e.createWith<stablehlo::DynamicSliceOp>(e.getResultType(), e.operands, {{"slice_sizes", op.getSizesAttr()}})
          ->getResults());
}

LogicalResult exportDynamicUpdateSlice(OpExport& e) {
  return e.finish(e.createNamed("stablehlo.dynamic_update_slice", e.getResultType(), e.operands));
}

LogicalResult exportGather(OpExport& e) {
  auto op = cast<GatherOp>(e.op);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      op.getContext(), op.getOffsetDims(), op.getCollapsedSliceDims(), op.getOperandBatchingDims(),
      op.getIndicesBatchingDims(), op.getStartIndexMap(), op.getIndexVectorDim());
  Value indices = op.getUnsignedIndices() ? e.toUnsigned(e.operands[1]) : e.operands[1];
  return e.finish(e.createWith<stablehlo::GatherOp>(e.getResultType(), {e.operands[0], indices},
                                                    {{"dimension_numbers", numbers},
                                                     {"slice_sizes", op.getSliceSizesAttr()},
                                                     {"indices_are_sorted", e.builder.getBoolAttr(false)}})
                      ->getResults());
}

/// How an update combines with the value that it meets; nullopt: it replaces it.
std::optional<ReduceKind> getReduceKind(ScatterKind kind) {
  if (kind == ScatterKind::Set) return std::nullopt;
  std::optional<ReduceKind> same = symbolizeReduceKind(stringifyScatterKind(kind));
  assert(same && "the kinds have the same names");
  return same;
}

LogicalResult exportScatter(OpExport& e) {
  auto op = cast<ScatterOp>(e.op);
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      op.getContext(), op.getUpdateWindowDims(), op.getInsertedWindowDims(), op.getInputBatchingDims(),
      op.getIndicesBatchingDims(), op.getScatterDimsToOperandDims(), op.getIndexVectorDim());
  std::optional<ReduceKind> kind = getReduceKind(op.getKind());
  const bool isUnsigned = kind && isUnsignedKind(*kind);
  SmallVector<Value> operands(e.operands);
  if (op.getUnsignedIndices()) operands[1] = e.toUnsigned(operands[1]);
  if (isUnsigned) operands[0] = e.toUnsigned(operands[0]), operands[2] = e.toUnsigned(operands[2]);
  Type element = cast<RankedTensorType>(operands[0].getType()).getElementType();
  auto scatter = e.createWith<stablehlo::ScatterOp>(operands[0].getType(), operands,
                                                    {{"scatter_dimension_numbers", numbers},
                                                     {"indices_are_sorted", e.builder.getBoolAttr(false)},
                                                     {"unique_indices", e.builder.getBoolAttr(op.getUniqueIndices())}});
  if (kind) {
    createCombinerRegion(e, scatter.getUpdateComputation(), *kind, element);
  } else {
    OpBuilder::InsertionGuard guard(e.builder);
    Type scalar = getExportedType(element);
    Block* body = e.builder.createBlock(&scatter.getUpdateComputation(), {}, {scalar, scalar}, {e.loc, e.loc});
    e.create<stablehlo::ReturnOp>(body->getArgument(1));
  }
  return e.finish(e.toSignless(scatter->getResult(0)));
}

LogicalResult exportTopK(OpExport& e) {
  auto op = cast<TopKOp>(e.op);
  Value input = op.getUnsignedElements() ? e.toUnsigned(e.operands[0]) : e.operands[0];
  RankedTensorType values = e.getResultType(0);
  if (op.getUnsignedElements()) values = withUnsigned(values);
  auto top = e.createWith<chlo::TopKOp>({values, e.getResultType(1)}, input, {{"k", op.getKAttr()}});
  return e.finish({e.toSignless(top->getResult(0)), top->getResult(1)});
}

}  // namespace

void mlir::sgd::addIndexExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"sgd.dynamic_slice", exportDynamicSlice},
      {"sgd.dynamic_update_slice", exportDynamicUpdateSlice},
      {"sgd.gather", exportGather},
      {"sgd.scatter", exportScatter},
      {"sgd.top_k", exportTopK},
  };
  for (auto [name, fn] : entries) table[name] = fn;
}
