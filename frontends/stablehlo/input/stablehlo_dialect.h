// Classes of the input dialect `stablehlo`: dialect, attributes and types. Its ops are in
// elementwise_ops.h, shape_ops.h, region_ops.h, library_ops.h.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_STABLEHLO_DIALECT_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_STABLEHLO_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "frontends/stablehlo/input/stablehlo_dialect.h.inc"
#include "frontends/stablehlo/input/stablehlo_enums.h.inc"

namespace mlir::stablehlo {

/// Says whether an operand or a result has a dynamic shape. Verifiers skip such ops: the import refuses them with a
/// clearer message.
inline bool hasDynamicShape(Operation* op) {
  auto isDynamic = [](Type type) { return !cast<RankedTensorType>(type).hasStaticShape(); };
  return llvm::any_of(op->getOperandTypes(), isDynamic) || llvm::any_of(op->getResultTypes(), isDynamic);
}

/// Trait of ops whose operands and results all have one type.
template <typename ConcreteOp>
class SameTypes : public OpTrait::TraitBase<ConcreteOp, SameTypes> {
 public:
  static LogicalResult verifyTrait(Operation* op) {
    auto differs = [&](Type type) { return type != op->getResult(0).getType(); };
    if (llvm::none_of(op->getOperandTypes(), differs)) return success();
    return op->emitOpError("expects operands and result of one type, but has ")
           << op->getOperandTypes() << " and " << op->getResult(0).getType();
  }
};

}  // namespace mlir::stablehlo

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/stablehlo_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "frontends/stablehlo/input/stablehlo_types.h.inc"

#endif
