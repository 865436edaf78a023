// Manual computations: their bodies are imported like those of functions; shardings keep their free axes.
#include "frontends/stablehlo/importer.h"

#include "dialects/spmd/spmd_dialect.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/prepare/prepare.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The shardings, unreduced over manual axes alone: along others values come in and go out whole.
ArrayAttr withManualSums(ArrayAttr shardings, AxisListAttr manual) {
  SmallVector<Attribute> converted;
  for (auto sharding : shardings.getAsRange<ShardingAttr>()) {
    auto summed = llvm::filter_to_vector(sharding.getUnreduced(),
                                         [&](AxisRefAttr axis) { return llvm::is_contained(manual.getAxes(), axis); });
    converted.push_back(ShardingAttr::get(sharding.getContext(), sharding.getMesh(), sharding.getDims(),
                                          sharding.getReplicated(), summed, ReduceKind::Add));
  }
  return ArrayAttr::get(shardings.getContext(), converted);
}

}  // namespace

/// The shardings of operands or results; what says nothing is open.
FailureOr<ArrayAttr> Importer::importManualShardings(ArrayRef<sdy::ShardingAttr> attributes, TypeRange types,
                                                     Location loc, StringRef what) {
  SmallVector<Attribute> converted;
  for (auto [index, attribute, type] : llvm::enumerate(attributes, types)) {
    auto tensor = convertTensorType(type);
    if (!tensor) return reportUnsupportedType(loc, what + " " + Twine(index) + " of 'sdy.manual_computation'", type);
    auto sharding = shardings.convert(attribute, tensor, loc, what + " " + Twine(index));
    if (failed(sharding)) return failure();
    if (!*sharding) {
      auto open = DimShardingAttr::get(module.getContext(), {}, /*isOpen=*/true, std::nullopt);
      SmallVector<DimShardingAttr> dims(tensor.getRank(), open);
      sharding = ShardingAttr::get(module.getContext(), FlatSymbolRefAttr::get(getMesh(module).getSymNameAttr()), dims,
                                   {}, {}, ReduceKind::Add);
    }
    converted.push_back(*sharding);
  }
  return builder.getArrayAttr(converted);
}

LogicalResult Importer::importManual(Operation* op, Location loc) {
  auto manual = cast<sdy::ManualComputationOp>(op);
  MeshOp mesh = getMesh(module);
  if (!mesh)
    return emitError(loc) << "'sdy.manual_computation' names axes, and the program has no mesh; expected a mesh with "
                             "these axes; declare it by 'sdy.mesh'";
  FailureOr<ArrayAttr> in =
      importManualShardings(manual.getInShardings().getShardings(), op->getOperandTypes(), loc, "operand");
  FailureOr<ArrayAttr> out =
      failed(in) ? FailureOr<ArrayAttr>(failure())
                 : importManualShardings(manual.getOutShardings().getShardings(), op->getResultTypes(), loc, "result");
  if (failed(out)) return failure();
  SmallVector<AxisRefAttr> axes;
  for (StringAttr name : manual.getManualAxes().getNames()) axes.push_back(AxisRefAttr::get(op->getContext(), name));

  SmallVector<Value> inputs;
  for (Value operand : op->getOperands()) inputs.push_back(values.lookup(operand));
  SmallVector<Type> resultTypes;
  for (Type type : op->getResultTypes()) resultTypes.push_back(convertTensorType(type));
  auto list = AxisListAttr::get(op->getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()), axes);
  auto imported = ManualComputationOp::create(builder, loc, resultTypes, inputs, withManualSums(*in, list),
                                              withManualSums(*out, list), list);

  Block& body = imported.getBody().emplaceBlock();
  for (BlockArgument argument : manual.getBody().getArguments()) {
    RankedTensorType type = convertTensorType(argument.getType());
    if (!type)
      return reportUnsupportedType(loc, "argument of the body of 'sdy.manual_computation'", argument.getType());
    values[argument] = body.addArgument(type, argument.getLoc());
  }
  SmallVector<Value> returned;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&body);
    if (importBlock(manual.getBody().front(), returned).failed()) return failure();
    // No rank may draw a number again that another rank has drawn.
    if (op->hasAttr(kGeneratorMayDifferAttr))
      returned.back() = spmd::AllReduceOp::create(builder, loc, TypeRange{returned.back().getType()},
                                                  ValueRange{returned.back()}, ReduceKind::UMax, list)
                            .getResult(0);
    YieldOp::create(builder, loc, returned);
  }
  if (failed(imported.verify())) return failure();
  return mapResults(op, imported.getResults(), loc);
}
