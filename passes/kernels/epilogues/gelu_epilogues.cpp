// Fuses gelu of a matmul, and the multiplication of a matmul with gelu's derivative.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/kernels/epilogues/epilogues.h"
#include "passes/kernels/epilogues/gelu_reader.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Whether the library fuses gelu, or its gradient, into a matmul whose rows are those of the result.
bool mayHaveActivation(fusion::MatmulOp matmul, const fusion::Epilogue& epilogue, const LibraryModel& libraries) {
  RankedTensorType lhs = tensorType(matmul.getLhs()), rhs = tensorType(matmul.getRhs()), result = matmul.getType();
  if (result.getRank() == 0) return false;
  auto shape = getContractionShape({matmul.getLhsLabels(), lhs.getShape()}, {matmul.getRhsLabels(), rhs.getShape()},
                                   {matmul.getResultLabels(), result.getShape()}, /*mayRepeat=*/false);
  return shape && shape->n == result.getShape().back() &&
         libraries.takes({lhs.getElementType(), rhs.getElementType(), result.getElementType(), *shape,
                          static_cast<bool>(matmul.getTf32()), epilogue});
}

/// The values that can be computed from `root` by elementwise ops alone, `root` excepted, users after their operands.
SmallVector<Value> getElementwiseUsers(Value root) {
  llvm::SetVector<Value> values;
  values.insert(root);
  for (size_t next = 0; next < values.size(); ++next)
    for (Operation* user : values[next].getUsers())
      if (user->hasTrait<OpTrait::Elementwise>() && user->getNumResults() == 1) values.insert(user->getResult(0));
  return SmallVector<Value>(values.begin() + 1, values.end());
}

/// The vector that `value` repeats along its rows, or null.
Value getRowVector(OpBuilder& builder, Value value) {
  RankedTensorType type = tensorType(value);
  int64_t columns = type.getShape().back();
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
    RankedTensorType from = tensorType(broadcast.getInput()), to = broadcast.getType();
    if (from.getRank() == 0 || from.getShape().back() != columns || to.getShape().back() != columns ||
        broadcast.getDims().back() != to.getRank() - 1)
      break;
    value = broadcast.getInput();
  }
  RankedTensorType vector = RankedTensorType::get({columns}, type.getElementType());
  if (value.getType() == vector) return value;
  if (tensorType(value).getNumElements() != columns) return {};
  return ReshapeOp::create(builder, value.getLoc(), vector, value);
}

/// The operand of gelu: a matmul, perhaps with a bias.
struct PreActivation {
  Value value;
  Value bias;
};

class GeluForward {
 public:
  GeluForward(fusion::MatmulOp matmul, const LibraryModel& libraries) : matmul(matmul), libraries(libraries) {}

  /// The op with gelu in it, or null where something else reads the matmul.
  fusion::LibraryMatmulOp form() {
    for (PreActivation x : getPreActivations()) {
      GeluReader reader(x.value);
      SmallVector<Value> users = getElementwiseUsers(x.value);
      auto gelu = llvm::find_if(
          users, [&](Value value) { return value.getType() == x.value.getType() && reader.isGelu(value); });
      if (gelu != users.end()) return replace(x, *gelu);
    }
    return {};
  }

 private:
  /// The matmul itself and, where nothing else reads it, its sum with a bias.
  SmallVector<PreActivation, 2> getPreActivations() {
    SmallVector<PreActivation, 2> result;
    if (matmul->hasOneUse()) {
      if (auto add = dyn_cast<arith::AddFOp>(*matmul->user_begin())) {
        OpBuilder builder(matmul->getContext());
        builder.setInsertionPointAfter(add);
        Value other = add.getLhs() == matmul.getResult() ? add.getRhs() : add.getLhs();
        if (mayHaveActivation(matmul, {fusion::EpilogueStep::kBias, fusion::EpilogueStep::kGelu}, libraries))
          if (Value bias = getRowVector(builder, other)) result.push_back({add.getResult(), bias});
      }
    }
    result.push_back({matmul.getResult(), {}});
    return result;
  }

  fusion::LibraryMatmulOp replace(PreActivation x, Value gelu) {
    OpBuilder builder(matmul.getContext());
    builder.setInsertionPointAfterValue(x.bias ? x.value : matmul.getResult());
    if (x.bias && isa_and_nonnull<ReshapeOp>(x.bias.getDefiningOp())) builder.setInsertionPointAfterValue(x.bias);
    fusion::Epilogue epilogue;
    if (x.bias) epilogue.Append(fusion::EpilogueStep::kBias);
    epilogue.Append(fusion::EpilogueStep::kGelu);
    auto op = createCall(builder, matmul, {.bias = x.bias}, epilogue, matmul.getType());
    gelu.replaceAllUsesWith(op.getResult());
    x.value.replaceAllUsesWith(op.getExtra());
    return op;
  }

  fusion::MatmulOp matmul;
  const LibraryModel& libraries;
};

/// Fuses gelu's derivative at `preActivation` into `matmul`, which is only multiplied with it.
bool formGradient(fusion::MatmulOp matmul, Value preActivation, const LibraryModel& libraries) {
  if (matmul.getType() != preActivation.getType() ||
      !mayHaveActivation(matmul, {fusion::EpilogueStep::kGeluGradient}, libraries))
    return false;
  GeluReader reader(preActivation, matmul.getResult());
  SmallVector<Value> users = getElementwiseUsers(matmul.getResult());
  auto gradient = llvm::find_if(
      users, [&](Value value) { return value.getType() == matmul.getType() && reader.isGradient(value); });
  if (gradient == users.end()) return false;
  // Nothing else may need the matmul: all its uses end in the gradient.
  llvm::SmallPtrSet<Operation*, 16> inside;
  SmallVector<Value> pending = {*gradient};
  while (!pending.empty()) {
    Operation* op = pending.pop_back_val().getDefiningOp();
    if (!op || op == matmul || !inside.insert(op).second) continue;
    llvm::append_range(pending, op->getOperands());
  }
  auto feedsGradient = [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation* user) { return inside.contains(user); });
  };
  if (!feedsGradient(matmul.getResult())) return false;
  for (Value value : users)
    if (value != *gradient && inside.contains(value.getDefiningOp()) && !feedsGradient(value)) return false;
  OpBuilder builder(gradient->getDefiningOp());
  auto op = createCall(builder, matmul, {.preActivation = preActivation}, {fusion::EpilogueStep::kGeluGradient});
  gradient->replaceAllUsesWith(op.getResult());
  return true;
}

void eraseUnused(Block& block) {
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) op.erase();
}

}  // namespace

void mlir::sgd::fuseGelu(Block& block, const LibraryModel& libraries) {
  SmallVector<Value> preActivations;
  for (fusion::MatmulOp matmul : llvm::to_vector(block.getOps<fusion::MatmulOp>()))
    if (mayHaveActivation(matmul, {fusion::EpilogueStep::kGelu}, libraries))
      if (fusion::LibraryMatmulOp gelu = GeluForward(matmul, libraries).form())
        preActivations.push_back(gelu.getExtra());
  if (preActivations.empty()) return;
  eraseUnused(block);
  for (fusion::MatmulOp matmul : llvm::to_vector(block.getOps<fusion::MatmulOp>()))
    llvm::find_if(preActivations, [&](Value preActivation) { return formGradient(matmul, preActivation, libraries); });
  eraseUnused(block);
}
