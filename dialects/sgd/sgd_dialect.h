// The graph-level dialect: classes of its attributes and ops. Include this one header.
#ifndef SGD_DIALECTS_SGD_SGD_DIALECT_H
#define SGD_DIALECTS_SGD_SGD_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/sgd/data_flow.h"
#include "dialects/sgd/linear_op.h"
#include "dialects/sgd/scalar_body.h"
#include "dialects/sgd/sgd_dialect.h.inc"
#include "dialects/sgd/sgd_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/sgd/sgd_attrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/sgd/sgd_ops.h.inc"

namespace mlir::sgd {

/// Names of the discardable attributes on function arguments and results.
inline constexpr llvm::StringLiteral kShardingAttr = "sgd.sharding";  // ShardingAttr, before propagation
inline constexpr llvm::StringLiteral kNameAttr = "sgd.name";          // StringAttr: the model's own name
inline constexpr llvm::StringLiteral kUnsignedAttr = "sgd.unsigned";  // UnitAttr: integers are unsigned for the user
inline constexpr llvm::StringLiteral kAliasOutputAttr =
    "sgd.alias_output";  // IntegerAttr on an argument: the result that takes its buffer
inline constexpr llvm::StringLiteral kDonatedAttr =
    "sgd.donated";  // UnitAttr on an argument: any result may take its buffer

/// The only mesh of the module (`sgd.mesh`), or null when it has none.
MeshOp getMesh(ModuleOp module);

/// The mesh that `sharding` names, or null.
MeshAttr lookupMesh(Operation* from, FlatSymbolRefAttr name);

/// The sharding in the type's encoding, or null.
ShardingAttr getSharding(Type type);

/// `type` with `sharding` as its encoding (null drops it).
RankedTensorType withSharding(RankedTensorType type, ShardingAttr sharding);

/// The accumulator type of reductions of the scalar type `type`: f32 for f8, f16 and bf16, i32 for narrower integers,
/// otherwise `type`.
Type getAccumulatorType(Type type);
/// Whether a reduction of elements of `type` may be of type `result`: of the accumulator type or, for floats, of
/// `type`, to which it is rounded once.
bool isReducedType(Type result, Type type);
/// f8E4M3FN and f8E5M2: the floats of 8 bits that programs may have.
bool isFloat8(Type type);
/// Whether a matmul of elements of these types may have elements of type `result`: operands of one type and the
/// accumulator type or, rounded once, theirs; or of f8, of both kinds, and f32, bf16 or f16.
bool mayMultiply(Type lhs, Type rhs, Type result);

/// A loop or branch: an op whose blocks are program, not kernel.
bool isControlFlow(Operation* op);

/// Every block of the program that `function` is: its own, and those of loops and branches in it before the block that
/// holds them. Each is closed: an op takes values from its own block only.
SmallVector<Block*> getProgramBlocks(func::FuncOp function);

/// The neutral element of `kind` for the scalar type `type` (max of floats: -inf).
TypedAttr getNeutralElement(OpBuilder& builder, ReduceKind kind, Type type);

/// A scalar op that combines two values by `kind` (`lhs` and `rhs` may be tensors of one type).
Value createCombiner(OpBuilder& builder, Location loc, ReduceKind kind, Value lhs, Value rhs);

}  // namespace mlir::sgd

#endif
