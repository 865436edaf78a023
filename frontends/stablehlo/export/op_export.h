// The interface of an op's export, and the table that maps op names to exports.
#ifndef SGD_FRONTENDS_STABLEHLO_EXPORT_OP_EXPORT_H
#define SGD_FRONTENDS_STABLEHLO_EXPORT_OP_EXPORT_H

#include "dialects/spmd/spmd_dialect.h"
#include "frontends/stablehlo/input/stablehlo_dialect.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::sgd {

/// The tensor that an exported value of `type` is: scalars of bodies become tensors without dimensions.
RankedTensorType getExportedType(Type type);

/// `type` with integers of the same width that are unsigned, or signless.
RankedTensorType withUnsigned(RankedTensorType type);
RankedTensorType withSignless(RankedTensorType type);

class ModuleExport;

/// One op being exported. `operands` are exported values; integers in them are signless.
class OpExport {
 public:
  OpExport(Operation* op, ValueRange operands, OpBuilder& builder, Location loc, ModuleExport& module)
      : op(op), operands(operands), builder(builder), loc(loc), module(module) {}

  RankedTensorType getResultType(unsigned index = 0) const { return getExportedType(op->getResult(index).getType()); }
  RankedTensorType getOperandType(unsigned index = 0) const {
    return cast<RankedTensorType>(operands[index].getType());
  }

  template <typename OpTy, typename... Args>
  OpTy create(Args&&... args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  /// With attributes by their names.
  template <typename OpTy>
  OpTy createWith(TypeRange types, ValueRange operands, ArrayRef<std::pair<StringRef, Attribute>> attributes) {
    SmallVector<NamedAttribute> named;
    for (auto [name, attribute] : attributes) named.push_back(builder.getNamedAttr(name, attribute));
    return OpTy::create(builder, loc, types, operands, named);
  }
  Attribute getI64(int64_t value) { return builder.getI64IntegerAttr(value); }
  Attribute getI64s(ArrayRef<int64_t> values) { return builder.getDenseI64ArrayAttr(values); }
  /// The only result of the op called `name`, which has no attributes.
  Value createNamed(StringRef name, RankedTensorType type, ValueRange operands);
  /// `value` with the same bits as integers that are unsigned, or signless; itself where it is so, or has no integers.
  Value toUnsigned(Value value) { return reinterpret(value, withUnsigned(cast<RankedTensorType>(value.getType()))); }
  Value toSignless(Value value) { return reinterpret(value, withSignless(cast<RankedTensorType>(value.getType()))); }
  /// `value` with the same bits as elements of `type`.
  Value reinterpret(Value value, RankedTensorType type);
  /// `value` with elements converted to those of `type`, as XLA converts them.
  Value convert(Value value, RankedTensorType type);
  /// A constant with all elements `value`.
  Value splat(RankedTensorType type, int64_t value);
  Value constant(DenseElementsAttr elements);
  Value compare(stablehlo::ComparisonDirection direction, Value lhs, Value rhs);

  /// The op's results.
  LogicalResult finish(ValueRange values) {
    results.append(values.begin(), values.end());
    return success();
  }

  Operation* op;
  ValueRange operands;
  OpBuilder& builder;
  Location loc;
  ModuleExport& module;
  SmallVector<Value> results;
};

using ExportFn = LogicalResult (*)(OpExport&);
using ExportTable = llvm::StringMap<ExportFn>;

void addElementwiseExports(ExportTable& table);
void addShapeExports(ExportTable& table);
void addIndexExports(ExportTable& table);
void addContractionExports(ExportTable& table);
void addControlFlowExports(ExportTable& table);
void addCollectiveExports(ExportTable& table);

/// Any op without regions: a call whose target is the op's name.
LogicalResult exportAsCall(OpExport& e);

/// Fills `region` with the function of two scalars that combines values by `kind`. Operands of kinds on unsigned
/// integers are unsigned, as isUnsignedKind says.
void createCombinerRegion(OpExport& e, Region& region, ReduceKind kind, Type element);
bool isUnsignedKind(ReduceKind kind);

/// The program that is exported, beyond an op.
class ModuleExport {
 public:
  explicit ModuleExport(ModuleOp program);

  /// The exported program; null after an error.
  OwningOpRef<ModuleOp> run();

  /// Exports the ops of `from`, whose arguments are `arguments`, to where `builder` is. Returns what the terminator has
  /// as operands.
  FailureOr<SmallVector<Value>> exportBlock(Block& from, ValueRange arguments, OpBuilder& builder);

  /// The mesh of the program; null where there is none.
  MeshAttr getMesh() const { return mesh; }
  int64_t getNumRanks() const { return mesh ? mesh.getNumRanks() : 1; }
  /// A number that no other collective has.
  int64_t takeChannel() { return nextChannel++; }

 private:
  LogicalResult exportFunction(func::FuncOp function, OpBuilder& builder);
  LogicalResult exportOp(Operation* op, IRMapping& values, OpBuilder& builder);

  ModuleOp program;
  MeshAttr mesh;
  int64_t nextChannel = 1;
};

}  // namespace mlir::sgd

#endif
