// Shardings in the form of the graph level; an annotation of the program's own gives way, and that is said.
#include "compiler/recipe/annotator.h"

#include "llvm/ADT/StringExtras.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult Annotator::checkAxes(ArrayRef<std::string> axes, const Twine& field) {
  SmallVector<StringRef> names;
  for (MeshAxisAttr axis : mesh.getMesh().getAxes()) names.push_back(axis.getName());
  for (StringRef axis : axes) {
    if (llvm::is_contained(names, axis)) continue;
    InFlightDiagnostic message = error() << "field '" << field << "' names the axis '" << axis
                                         << "', which the mesh does not have";
    StringRef nearest = findNearestName(axis, names);
    if (!nearest.empty()) return message << "; did you mean '" << nearest << "'?";
    if (names.empty())
      return message << "; the model has no mesh: give its axes by --mesh " << axis << "=N, or in the field 'mesh'";
    return message << "; its axes are " << llvm::join(names, ", ");
  }
  return success();
}

int64_t Annotator::getSize(ArrayRef<std::string> axes) {
  int64_t size = 1;
  for (StringRef axis : axes) size *= *mesh.getMesh().getAxisSize(axis);
  return size;
}

FailureOr<ShardingAttr> Annotator::getSharding(ArrayRef<RecipeDim> dims, const Twine& field) {
  MLIRContext* context = mesh.getContext();
  SmallVector<DimShardingAttr> attrs;
  SmallVector<StringRef> used;
  for (const RecipeDim& dim : dims) {
    if (failed(checkAxes(dim.axes, field))) return failure();
    SmallVector<AxisRefAttr> axes;
    for (StringRef axis : dim.axes) {
      if (llvm::is_contained(used, axis)) {
        error() << "field '" << field << "' has the axis '" << axis << "' twice; expected each axis at most once";
        return failure();
      }
      used.push_back(axis);
      axes.push_back(AxisRefAttr::get(context, axis));
    }
    attrs.push_back(DimShardingAttr::get(context, axes, dim.isOpen, std::nullopt));
  }
  return ShardingAttr::get(context, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), attrs, {}, {}, ReduceKind::Add);
}

void Annotator::sayOverruled(const Twine& what, ShardingAttr before, ShardingAttr after) {
  if (before && before != after)
    remark() << what << " is sharded as " << after << " by the recipe, where the program says " << before;
}

void Annotator::annotateArguments(func::FuncOp function, ArrayRef<ShardingAttr> shardings) {
  MLIRContext* context = function.getContext();
  // All attributes at once: to set one makes a new list of those of all arguments, which the context keeps.
  SmallVector<DictionaryAttr> ofArguments, ofResults;
  for (auto [argument, sharding] : llvm::enumerate(shardings)) {
    NamedAttrList attrs(function.getArgAttrDict(argument));
    if (sharding) {
      sayOverruled(getArgumentName(function, argument),
                   function.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr), sharding);
      attrs.set(kShardingAttr, sharding);
    }
    ofArguments.push_back(attrs.getDictionary(context));
  }
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    NamedAttrList attrs(function.getResultAttrDict(result));
    std::optional<unsigned> argument = getCarriedArgument(function, result);
    if (argument && shardings[*argument]) attrs.erase(kShardingAttr);
    ofResults.push_back(attrs.getDictionary(context));
  }
  function.setAllArgAttrs(ofArguments);
  function.setAllResultAttrs(ofResults);
}

void Annotator::annotateArgument(func::FuncOp function, unsigned argument, ShardingAttr sharding) {
  SmallVector<ShardingAttr> shardings(function.getNumArguments());
  shardings[argument] = sharding;
  annotateArguments(function, shardings);
}

void Annotator::annotateResult(func::FuncOp function, unsigned result, ShardingAttr sharding) {
  sayOverruled("result " + Twine(result), function.getResultAttrOfType<ShardingAttr>(result, kShardingAttr), sharding);
  function.setResultAttr(result, kShardingAttr, sharding);
}

void Annotator::annotateValue(Value value, ShardingAttr sharding) {
  for (Operation* user : value.getUsers())
    if (auto constraint = dyn_cast<ShardingConstraintOp>(user)) {
      sayOverruled("a value", constraint.getSharding(), sharding);
      constraint.setShardingAttr(sharding);
      return;
    }
  constrain(value, sharding);
}

Value Annotator::constrain(Value value, ShardingAttr sharding) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto constraint = ShardingConstraintOp::create(builder, value.getLoc(), value, sharding);
  value.replaceAllUsesExcept(constraint.getResult(), constraint);
  return constraint;
}

std::string mlir::sgd::getArgumentName(func::FuncOp function, unsigned argument) {
  if (auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr)) return name.str();
  return "argument " + std::to_string(argument);
}
