// The interface of an op's lowering, and the table that maps op names to lowerings.
#ifndef SGD_FRONTENDS_STABLEHLO_OP_LOWERING_H
#define SGD_FRONTENDS_STABLEHLO_OP_LOWERING_H

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "llvm/ADT/StringMap.h"
#include "mlir/IR/Builders.h"

namespace mlir::sgd {

/// One op being lowered. `operands` are graph-level values; the op itself tells original types,
/// which carry signedness.
class OpLowering {
 public:
  OpLowering(Operation* op, ValueRange operands, OpBuilder& builder, Location loc)
      : op(op), operands(operands), builder(builder), loc(loc) {}

  /// Element type of operand `index` in the input program: integers may be unsigned.
  Type getElementType(unsigned index = 0) const {
    return cast<RankedTensorType>(op->getOperand(index).getType()).getElementType();
  }
  /// Graph-level type of result `index`.
  RankedTensorType getResultType(unsigned index = 0) const;
  /// Graph-level type of operand `index`.
  RankedTensorType getOperandType(unsigned index = 0) const {
    return cast<RankedTensorType>(operands[index].getType());
  }

  /// The op's only result.
  LogicalResult finish(Value value) {
    results.push_back(value);
    return success();
  }
  /// `OpTy(arguments...)` as the op's only result.
  template <typename OpTy, typename... Args>
  LogicalResult replace(Args&&... args) {
    return finish(create<OpTy>(std::forward<Args>(args)...));
  }
  template <typename OpTy, typename... Args>
  Value create(Args&&... args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  /// A constant of `type` with all elements `value`.
  Value splat(RankedTensorType type, double value);
  Value splat(RankedTensorType type, const APInt& value);
  /// Elements first, first + stride, ... of dimension `dim`, `count` of them.
  Value takeEvery(Value value, int64_t dim, int64_t first, int64_t stride, int64_t count);
  /// `value` itself when it has the shape of `type`, or a scalar repeated to that shape.
  Value broadcastScalar(Value value, RankedTensorType type);
  /// Negates floats and complements integers: the smallest element becomes the largest.
  Value invertOrder(Value value);

  bool isF32Matmul() const {
    return getElementType(0).isF32() && getElementType(1).isF32() && getResultType().getElementType().isF32();
  }
  /// Whether a matmul of operands 0 and 1 with these precisions may be computed in TF32: the default
  /// of f32, where the user allows it.
  bool mayUseTf32(std::optional<ArrayAttr> precisions) const;

  /// An error at the user's location that begins with the op's name.
  InFlightDiagnostic error() const { return mlir::emitError(loc) << "'" << op->getName() << "' "; }
  LogicalResult unsupportedType() const;

  Operation* op;
  ValueRange operands;
  OpBuilder& builder;
  Location loc;
  bool allowsTf32 = false;  ///< ImportOptions::allowTf32
  SmallVector<Value> results;
};

using LowerFn = LogicalResult (*)(OpLowering&);
using LoweringTable = llvm::StringMap<LowerFn>;

void addElementwiseLowerings(LoweringTable& table);
void addCollectiveLowerings(LoweringTable& table);
void addConversionLowerings(LoweringTable& table);
void addCustomCallLowerings(LoweringTable& table);
void addConvolutionLowerings(LoweringTable& table);
void addShapeLowerings(LoweringTable& table);
void addNormalizationLowerings(LoweringTable& table);
void addRaggedLowerings(LoweringTable& table);
void addRandomLowerings(LoweringTable& table);
void addSpecialFunctionLowerings(LoweringTable& table);

/// Lowerings of single custom calls, which addCustomCallLowerings enters under their names.
LogicalResult lowerApproxTopK(OpLowering& l);
LogicalResult lowerRaggedAllToAll(OpLowering& l);
/// Lowers the call of jax.random on GPUs: two words of key and two words of counter each.
LogicalResult lowerThreeFryCall(OpLowering& l);

/// Unsigned integers, and booleans, whose `true` is 1 and not -1.
inline bool isUnsigned(Type element) { return element.isUnsignedInteger() || element.isInteger(1); }

/// The graph-level form of `type`: a tensor of static shape with signless integer or float
/// elements; null where there is none.
RankedTensorType convertTensorType(Type type);

/// Says at `loc` why `type` has no graph-level form. `what` is the subject, such as "result 0".
LogicalResult reportUnsupportedType(Location loc, const Twine& what, Type type);

/// The value that all elements of `value` are known to have, or null. Looks through broadcasts and
/// sharding constraints, which JAX puts around scalar constants.
TypedAttr getSplatConstant(Value value);

/// `elements` with signless integers.
DenseElementsAttr toSignless(DenseElementsAttr elements);

}  // namespace mlir::sgd

#endif
