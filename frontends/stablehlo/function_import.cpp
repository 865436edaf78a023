// Arguments and results of public functions: names, signedness, shardings and donation become
// attributes of the graph level.
#include "dialects/sgd/complex_pairs.h"
#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "frontends/stablehlo/importer.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The name that JAX gave an argument: as location with debug information, as attribute in older
/// exports.
StringAttr getArgumentName(BlockArgument argument, DictionaryAttr attributes) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc())) return name.getName();
  return attributes ? attributes.getAs<StringAttr>("jax.arg_info") : StringAttr();
}

bool hasUnsignedElements(Type type) { return cast<RankedTensorType>(type).getElementType().isUnsignedInteger(); }

/// Files and other programs hold reduced values. Unless unreduced borders are kept, an argument that is unreduced in
/// JAX comes in whole, as if the first rank held it and the others zero; a result goes out reduced.
ShardingAttr getBorder(ShardingAttr sharding, const ImportOptions& options) {
  if (!sharding || sharding.getUnreduced().empty() || options.keepUnreduced) return sharding;
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), sharding.getDims(), sharding.getReplicated(), {},
                           ReduceKind::Add);
}

std::string describe(const Twine& kind, unsigned index, StringAttr name) {
  std::string text = (kind + " " + Twine(index)).str();
  return name ? text + " ('" + name.str() + "')" : text;
}

}  // namespace

LogicalResult Importer::importFunction(func::FuncOp function) {
  if (function.isExternal())
    return function.emitError("'")
           << function.getSymName()
           << "' has no body; expected a definition; export the program with the functions that it calls";
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    RankedTensorType converted = convertTensorType(type);
    if (!converted)
      return reportUnsupportedType(locate(function, function.getArgument(index)),
                                   describe("argument", index, getArgumentName(function.getArgument(index), {})), type);
    FailureOr<DictionaryAttr> attributes = importArgumentAttributes(function, index, converted);
    if (failed(attributes)) return failure();
    argumentTypes.push_back(converted);
    argumentAttributes.push_back(*attributes);
  }
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    RankedTensorType converted = convertTensorType(type);
    if (!converted) return reportUnsupportedType(function.getLoc(), "result " + Twine(index), type);
    FailureOr<DictionaryAttr> attributes = importResultAttributes(function, index, converted);
    if (failed(attributes)) return failure();
    resultTypes.push_back(converted);
    resultAttributes.push_back(*attributes);
  }

  builder.setInsertionPoint(function);
  auto type = builder.getFunctionType(argumentTypes, resultTypes);
  auto imported = func::FuncOp::create(builder, function.getLoc(), function.getSymName(), type,
                                       ArrayRef<NamedAttribute>{}, argumentAttributes);
  imported.setAllResultAttrs(resultAttributes);
  for (StringRef kept : {StringRef(kCarryIsKnownAttr), StringRef(kEvenResultsAttr)})
    if (function->hasAttr(kept)) imported->setAttr(kept, builder.getUnitAttr());
  builder.setInsertionPointToStart(imported.addEntryBlock());
  for (auto [from, to] : llvm::zip_equal(function.getArguments(), imported.getArguments())) {
    to.setLoc(from.getLoc());
    values[from] = to;
  }
  SmallVector<Value> returned;
  if (importBody(function, std::nullopt, returned).failed()) return failure();
  func::ReturnOp::create(builder, function.getBody().front().getTerminator()->getLoc(), returned);
  return success();
}

FailureOr<DictionaryAttr> Importer::importArgumentAttributes(func::FuncOp function, unsigned index,
                                                             RankedTensorType type) {
  BlockArgument argument = function.getArgument(index);
  DictionaryAttr old = function.getArgAttrDict(index);
  StringAttr name = getArgumentName(argument, old);
  NamedAttrList attributes;
  if (name) attributes.append(kNameAttr, name);
  if (hasUnsignedElements(argument.getType())) attributes.append(kUnsignedAttr, builder.getUnitAttr());
  if (old && old.contains(kComplexAttr)) attributes.append(kComplexAttr, builder.getUnitAttr());
  for (StringRef kept : {StringRef(kNarrowBitsAttr), StringRef(kRoleAttr)})
    if (Attribute value = old ? old.get(kept) : Attribute()) attributes.append(kept, value);
  auto sharding = shardings.find(old, 0, 1, type, locate(function, argument), describe("argument", index, name));
  if (failed(sharding) || importDonation(function, index, attributes).failed()) return failure();
  if (*sharding) attributes.append(kShardingAttr, getBorder(*sharding, options));
  return attributes.getDictionary(module.getContext());
}

FailureOr<DictionaryAttr> Importer::importResultAttributes(func::FuncOp function, unsigned index,
                                                           RankedTensorType type) {
  DictionaryAttr old = function.getResultAttrDict(index);
  auto name = old ? old.getAs<StringAttr>("jax.result_info") : StringAttr();
  NamedAttrList attributes;
  if (name && !name.getValue().empty()) attributes.append(kNameAttr, name);
  if (hasUnsignedElements(function.getResultTypes()[index])) attributes.append(kUnsignedAttr, builder.getUnitAttr());
  if (old && old.contains(kComplexAttr)) attributes.append(kComplexAttr, builder.getUnitAttr());
  if (Attribute role = old ? old.get(kRoleAttr) : Attribute()) attributes.append(kRoleAttr, role);
  auto sharding = shardings.find(old, 0, 1, type, function.getLoc(), describe("result", index, name));
  if (failed(sharding)) return failure();
  if (*sharding) attributes.append(kShardingAttr, getBorder(*sharding, options));
  return attributes.getDictionary(module.getContext());
}

LogicalResult Importer::importDonation(func::FuncOp function, unsigned index, NamedAttrList& attributes) {
  if (auto donated = function.getArgAttrOfType<BoolAttr>(index, "jax.buffer_donor"); donated && donated.getValue())
    attributes.append(kDonatedAttr, builder.getUnitAttr());
  Attribute attribute = function.getArgAttr(index, "tf.aliasing_output");
  if (!attribute) return success();
  auto alias = dyn_cast<IntegerAttr>(attribute);
  auto reject = [&](const Twine& why) {
    BlockArgument argument = function.getArgument(index);
    return emitError(locate(function, argument)) << describe("argument", index, getArgumentName(argument, {}))
                                                 << ": tf.aliasing_output = " << attribute << " " << why;
  };
  if (!alias || alias.getValue().isNegative() || alias.getValue().uge(function.getNumResults()))
    return reject("names no result");
  unsigned result = alias.getInt();
  if (function.getResultTypes()[result] != function.getArgumentTypes()[index])
    return reject("names a result of another type");
  if (auto [other, isNew] = aliasedResults.try_emplace({function, result}, index); !isNew)
    return reject("names the result that argument " + Twine(other->second) + " aliases");
  attributes.append(kAliasOutputAttr, builder.getI64IntegerAttr(result));
  return success();
}
