// Types and attributes at the boundary; see boundary.h.
#include "frontends/stablehlo/complex/boundary.h"

#include "dialects/sgd/complex_pairs.h"
#include "frontends/stablehlo/complex/complex_op.h"
#include "frontends/stablehlo/input/sdy_dialect.h"
#include "frontends/stablehlo/op_lowering.h"

using namespace mlir;
using namespace mlir::sgd;

RankedTensorType mlir::sgd::getPairType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.push_back(2);
  return RankedTensorType::get(shape, cast<ComplexType>(tensor.getElementType()).getElementType());
}

std::string mlir::sgd::appendWholeDim(StringRef text) {
  size_t list = text.find("devices=[");
  size_t end = list == StringRef::npos ? list : text.find(']', list);
  if (end == StringRef::npos) return text.str();
  // Behind the dimensions the list may have sizes of groups that hold the same: one, or as many as are named.
  size_t trailing = text.contains("last_tile_dim_replicate") ? 1 : 0;
  size_t kinds = text.find("last_tile_dims={");
  if (kinds != StringRef::npos) trailing = text.drop_front(kinds).split('}').first.count(',') + 1;
  size_t at = end;
  for (size_t i = 0; i < trailing && at != StringRef::npos; ++i) at = text.take_front(at).rfind(',');
  if (at == StringRef::npos || at < list) return (text.take_front(list + 9) + "1," + text.drop_front(list + 9)).str();
  return (text.take_front(at) + ",1" + text.drop_front(at)).str();
}

static sdy::ShardingAttr appendWholeDim(sdy::ShardingAttr sharding) {
  SmallVector<sdy::DimShardingAttr> dims(sharding.getDims());
  // One that leaves everything open goes on doing so: it says nothing.
  bool saysNothing =
      !dims.empty() && sharding.getReplicated().empty() && sharding.getUnreduced().empty() &&
      llvm::all_of(dims, [](sdy::DimShardingAttr dim) { return dim.getIsOpen() && dim.getAxes().empty(); });
  dims.push_back(sdy::DimShardingAttr::get(sharding.getContext(), {}, saysNothing, std::nullopt));
  return sdy::ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims, sharding.getReplicated(),
                                sharding.getUnreduced());
}

/// The attributes of an argument or result of the complex type `type`.
static DictionaryAttr pairAttributes(DictionaryAttr old, Type type) {
  MLIRContext* context = type.getContext();
  NamedAttrList attributes(old ? old : DictionaryAttr::get(context));
  if (auto sharding = dyn_cast_or_null<sdy::ShardingAttr>(attributes.get("sdy.sharding")))
    attributes.set("sdy.sharding", appendWholeDim(sharding));
  if (auto text = dyn_cast_or_null<StringAttr>(attributes.get("mhlo.sharding")))
    attributes.set("mhlo.sharding", StringAttr::get(context, appendWholeDim(text.getValue())));
  // Tensor files have no complex128: such tensors stay what they are, pairs of f64.
  if (cast<RankedTensorType>(getPartType(type)).getElementType().isF32())
    attributes.set(kComplexAttr, UnitAttr::get(context));
  return attributes.getDictionary(context);
}

LogicalResult mlir::sgd::pairBoundary(func::FuncOp function) {
  MLIRContext* context = function.getContext();
  FunctionType old = function.getFunctionType();
  auto convert = [&](TypeRange types, StringRef what, function_ref<DictionaryAttr(unsigned)> get,
                     SmallVectorImpl<Type>& converted, SmallVectorImpl<DictionaryAttr>& attributes) -> LogicalResult {
    for (auto [index, type] : llvm::enumerate(types)) {
      if (isComplex(type) && !convertTensorType(getPartType(type)))
        return reportUnsupportedType(function.getLoc(), what + " " + Twine(index), type);
      converted.push_back(isComplex(type) ? getPairType(type) : type);
      DictionaryAttr own = get(index);
      attributes.push_back(isComplex(type) ? pairAttributes(own, type) : own ? own : DictionaryAttr::get(context));
    }
    return success();
  };
  SmallVector<Type> inputs, outputs;
  SmallVector<DictionaryAttr> inputAttributes, outputAttributes;
  auto ofArgument = [&](unsigned index) { return function.getArgAttrDict(index); };
  auto ofResult = [&](unsigned index) { return function.getResultAttrDict(index); };
  if (convert(old.getInputs(), "argument", ofArgument, inputs, inputAttributes).failed() ||
      convert(old.getResults(), "result", ofResult, outputs, outputAttributes).failed())
    return failure();
  function.setFunctionType(FunctionType::get(context, inputs, outputs));
  function.setAllArgAttrs(inputAttributes);
  function.setAllResultAttrs(outputAttributes);
  return success();
}
