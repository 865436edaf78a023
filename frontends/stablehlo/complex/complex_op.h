// The interface of an op's expansion, and the table that maps op names to expansions.
#ifndef SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_OP_H
#define SGD_FRONTENDS_STABLEHLO_COMPLEX_COMPLEX_OP_H

#include "frontends/stablehlo/complex/real_math.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::sgd {

/// A tensor of complex elements.
bool isComplex(Type type);

/// The type of the real parts of `type`, a complex tensor; other types are their own.
Type getPartType(Type type);

/// `types` with two part types instead of each complex one.
SmallVector<Type> expandTypes(TypeRange types);

class ComplexExpander;

/// One op with complex operands or results, being replaced. Its ops are written before it.
class ComplexOp : public RealMath {
 public:
  ComplexOp(Operation* op, OpBuilder& builder, ComplexExpander& expander)
      : RealMath(builder, op->getLoc()), op(op), expander(expander) {}

  bool isComplexOperand(unsigned index) const { return isComplex(op->getOperand(index).getType()); }
  /// The parts of operand `index`; a real one's imaginary part is zero.
  Complex operand(unsigned index = 0);
  /// The operands, with two instead of each complex one.
  SmallVector<Value> getExpandedOperands();

  /// The op's only result, which is complex.
  LogicalResult finish(Complex value);
  /// The op's only result, which is real.
  LogicalResult finish(Value value);
  /// The results, with two instead of each complex one.
  LogicalResult finishAll(ValueRange expanded);

  /// The same op with `operands`, and with the types of parts for its results; regions come with it.
  Operation* cloneForParts(ValueRange operands);
  /// The same op on `expanded` operands and with expanded results; its regions, moved to the new op, are left to the
  /// caller. Shardings of results are repeated for both parts.
  Operation* rebuild(ValueRange expanded);

  /// An error at the op that begins with its name.
  InFlightDiagnostic error() const { return mlir::emitError(loc) << "'" << op->getName() << "' "; }

  Operation* op;
  ComplexExpander& expander;
};

using ExpandFn = LogicalResult (*)(ComplexOp&);
using ExpansionTable = llvm::StringMap<ExpandFn>;

void addComplexArithmetic(ExpansionTable& table);
void addComplexFunctions(ExpansionTable& table);
void addComplexInverseFunctions(ExpansionTable& table);
void addComplexMovement(ExpansionTable& table);
void addComplexLinearAlgebra(ExpansionTable& table);
void addComplexMatmuls(ExpansionTable& table);
void addComplexRegions(ExpansionTable& table);
void addFft(ExpansionTable& table);

/// The walk: knows the parts of values, and expands regions.
class ComplexExpander {
 public:
  ComplexExpander(ModuleOp module, bool transformsByMatmuls);
  LogicalResult run();

  Complex getParts(Value value) const { return parts.lookup(value); }
  void setParts(Value value, Complex both) { parts[value] = both; }
  SmallVector<Value> expand(ValueRange values) const;
  /// The ops of `region`'s blocks, whose complex arguments have parts already, and their terminators.
  LogicalResult expandBody(Region& region);
  /// The same, each complex argument being replaced by two that follow one another.
  LogicalResult expandRegion(Region& region);
  /// Replaces argument `index` of `block` by two, the second before argument `imaginary` of the block as it is then.
  void splitArgument(Block& block, unsigned index, unsigned imaginary);

  func::FuncOp getFunction(StringRef name) const { return functions.lookup(name); }

  const bool transformsByMatmuls;  ///< ImportOptions::transformsByMatmuls

 private:
  LogicalResult expandOp(Operation* op);
  LogicalResult expandTerminator(Operation* op);
  LogicalResult expandPrivate(func::FuncOp function);
  LogicalResult expandPublic(func::FuncOp function);

  OpBuilder builder;
  ModuleOp module;
  ExpansionTable table;
  llvm::StringMap<func::FuncOp> functions;
  DenseMap<Value, Complex> parts;
  SmallVector<Operation*> replaced;              // in the order of uses after definitions
  SmallVector<BlockArgument> replacedArguments;  // later ones of a block behind earlier ones
};

}  // namespace mlir::sgd

#endif
