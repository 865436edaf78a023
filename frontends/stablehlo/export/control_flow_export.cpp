// Exports of loops, branches and sorts. Regions of the graph level get all that they use as arguments.
#include "frontends/stablehlo/export/op_export.h"
#include "frontends/stablehlo/input/region_ops.h"

using namespace mlir;
using namespace mlir::sgd;
using stablehlo::ComparisonDirection;

namespace {

LogicalResult exportInto(OpExport& e, Block& from, ValueRange arguments, ValueRange further = {}) {
  FailureOr<SmallVector<Value>> yielded = e.module.exportBlock(from, arguments, e.builder);
  if (failed(yielded)) return failure();
  yielded->append(further.begin(), further.end());
  e.create<stablehlo::ReturnOp>(*yielded);
  return success();
}

Block* addBlock(OpExport& e, Region& region, TypeRange types) {
  SmallVector<Location> locations(types.size(), e.loc);
  return e.builder.createBlock(&region, {}, types, locations);
}

/// A loop with known trips counts them in an iter_arg of its own.
LogicalResult exportWhile(OpExport& e) {
  auto op = cast<WhileOp>(e.op);
  SmallVector<Value> inits(e.operands);
  RankedTensorType counterType = RankedTensorType::get({}, e.builder.getI64Type());
  const std::optional<int64_t> trips = op.getTrips();
  if (trips) inits.push_back(e.splat(counterType, 0));
  SmallVector<Type> types = llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
  auto loop = e.createWith<stablehlo::WhileOp>(types, inits, {});
  const size_t carried = op.getNumResults();

  OpBuilder::InsertionGuard guard(e.builder);
  Block* condition = addBlock(e, loop.getCond(), types);
  if (trips) {
    Value more = e.compare(ComparisonDirection::LT, condition->getArgument(carried), e.splat(counterType, *trips));
    e.create<stablehlo::ReturnOp>(more);
  } else if (failed(exportInto(e, op.getCondition().front(), condition->getArguments()))) {
    return failure();
  }
  Block* body = addBlock(e, loop.getBody(), types);
  SmallVector<Value> counters;
  if (trips)
    counters.push_back(
        e.createNamed("stablehlo.add", counterType, {body->getArgument(carried), e.splat(counterType, 1)}));
  if (failed(exportInto(e, op.getBody().front(), body->getArguments().take_front(carried), counters))) return failure();
  return e.finish(loop->getResults().take_front(carried));
}

LogicalResult exportCase(OpExport& e) {
  auto op = cast<CaseOp>(e.op);
  SmallVector<Type> types =
      llvm::map_to_vector(op.getResultTypes(), [](Type type) -> Type { return getExportedType(type); });
  RankedTensorType indexType = e.getOperandType(0);
  if (indexType.getRank() > 0)
    return op.emitError() << "chooses by coordinates behind partitioning; please report this program";
  Value index = e.operands[0];
  if (!indexType.getElementType().isInteger(32))
    index = e.convert(index, RankedTensorType::get({}, e.builder.getI32Type()));
  OperationState state(e.loc, stablehlo::CaseOp::getOperationName(), index, types);
  for (size_t i = 0; i < op.getBranches().size(); ++i) state.addRegion();
  auto branches = cast<stablehlo::CaseOp>(e.builder.create(state));
  OpBuilder::InsertionGuard guard(e.builder);
  for (auto [from, to] : llvm::zip_equal(op.getBranches(), branches.getBranches())) {
    addBlock(e, to, {});
    if (failed(exportInto(e, from.front(), e.operands.drop_front()))) return failure();
  }
  return e.finish(branches->getResults());
}

LogicalResult exportSort(OpExport& e) {
  auto op = cast<SortOp>(e.op);
  SmallVector<Type> types = llvm::map_to_vector(e.operands, [](Value value) { return value.getType(); });
  auto sort = e.createWith<stablehlo::SortOp>(
      types, e.operands, {{"dimension", op.getDimensionAttr()}, {"is_stable", e.builder.getBoolAttr(true)}});
  Block& from = op.getComparator().front();
  SmallVector<Type> scalars =
      llvm::map_to_vector(from.getArgumentTypes(), [](Type type) -> Type { return getExportedType(type); });
  OpBuilder::InsertionGuard guard(e.builder);
  Block* comparator = addBlock(e, sort.getComparator(), scalars);
  if (failed(exportInto(e, from, comparator->getArguments()))) return failure();
  return e.finish(sort->getResults());
}

}  // namespace

void mlir::sgd::addControlFlowExports(ExportTable& table) {
  const std::pair<StringRef, ExportFn> entries[] = {
      {"sgd.while", exportWhile}, {"sgd.case", exportCase}, {"sgd.sort", exportSort}};
  for (auto [name, fn] : entries) table[name] = fn;
}
