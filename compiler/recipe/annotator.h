// Annotations that a recipe adds to a program: shardings in the program's mesh, and what is said about them.
#ifndef SGD_COMPILER_RECIPE_ANNOTATOR_H
#define SGD_COMPILER_RECIPE_ANNOTATOR_H

#include "compiler/recipe/recipe.h"
#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Puts shardings on arguments, results and values of one program. Errors and remarks have no place in the program's
/// source: whoever prints them names the recipe's file.
class Annotator {
 public:
  /// Only a module with a mesh can be annotated.
  explicit Annotator(ModuleOp module) : mesh(getMesh(module)) {}

  /// Whether the mesh has any; one without, as sgd-set-stages makes it, shards nothing.
  bool hasAxes() { return mesh && !mesh.getMesh().getAxes().empty(); }

  /// The sharding of a tensor with as many dimensions as `dims`. `field` names where the recipe has it; axes that the
  /// mesh has not, and axes that stand twice, are errors.
  FailureOr<ShardingAttr> getSharding(ArrayRef<RecipeDim> dims, const Twine& field);

  /// Checks that the mesh has `axes`.
  LogicalResult checkAxes(ArrayRef<std::string> axes, const Twine& field);

  /// Ranks along `axes`, which exist.
  int64_t getSize(ArrayRef<std::string> axes);

  /// By argument; null: it keeps what it has. A result that is the argument on the next step follows it.
  void annotateArguments(func::FuncOp function, ArrayRef<ShardingAttr> shardings);
  /// One of them: many take time and memory by the square of their number.
  void annotateArgument(func::FuncOp function, unsigned argument, ShardingAttr sharding);
  void annotateResult(func::FuncOp function, unsigned result, ShardingAttr sharding);
  /// By a constraint, or by a constraint that the program has already.
  void annotateValue(Value value, ShardingAttr sharding);
  /// By a constraint behind others. Returns its result, which all users of `value` now read.
  Value constrain(Value value, ShardingAttr sharding);

  InFlightDiagnostic error() { return emitError(getLoc()); }
  InFlightDiagnostic remark() { return emitRemark(getLoc()); }

 private:
  Location getLoc() { return UnknownLoc::get(mesh.getContext()); }
  void sayOverruled(const Twine& what, ShardingAttr before, ShardingAttr after);

  MeshOp mesh;
};

/// The name of an argument in the program's text, or `argument 3`.
std::string getArgumentName(func::FuncOp function, unsigned argument);

}  // namespace mlir::sgd

#endif
