// Attention and its gradients, which share statistics of rows, become calls of the target's library together.
#include <cmath>

#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/splat.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/kernels/library/attention_layout.h"
#include "passes/kernels/library/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_OFFLOADATTENTIONPASS
#include "passes/kernels/library/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using Form = fusion::AttentionOpInterface;

/// Whether `value` is computed with a constant that hides scores: those do not add up to what a row's logarithm can
/// tell apart from the constant.
static bool hasHidingConstant(Value value) {
  constexpr double kHides = 1e4;
  SmallVector<Value> next = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!next.empty()) {
    Value current = next.pop_back_val();
    if (!seen.insert(current).second) continue;
    if (std::optional<double> splat = getSplat(current); splat && !(std::abs(*splat) < kHides)) return true;
    DenseElementsAttr constant;
    if (auto op = current.getDefiningOp<arith::ConstantOp>()) constant = dyn_cast<DenseElementsAttr>(op.getValue());
    if (constant && isa<FloatType>(constant.getElementType()) && !constant.isSplat() &&
        llvm::any_of(constant.getValues<APFloat>(), [&](const APFloat& element) {
          bool losesInfo = false;
          APFloat wide = element;
          wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
          return !(std::abs(wide.convertToDouble()) < kHides);
        }))
      return true;
    if (Operation* op = current.getDefiningOp()) llvm::append_range(next, op->getOperands());
  }
  return false;
}

namespace {

/// The ops of one softmax: `fusion.attention` and those of its gradients that there are.
class Attention {
 public:
  explicit Attention(fusion::AttentionOp forward)
      : forward(forward), element(tensorType(forward.getQuery()).getElementType()) {}

  /// Whether all of them can become calls.
  bool prepare(const LibraryModel& libraries) {
    if (!findGradients() || forward.getMask()) return false;
    if (forward.getBias() && hasGradients() && hasHidingConstant(forward.getBias())) return false;
    if (!isNarrow(forward.getOut()) || (hasGradients() && !prepareGradients())) return false;
    for (bool asProgram : {true, false}) {
      keepsLayouts = asProgram;
      if (tryCalls(libraries)) return true;
    }
    return false;
  }

  void replace() {
    if (byQuery)
      replaceResult(byQuery.getGradient(), byQuery.getGradientLabels(), gradientCall.getQueryGradient(),
                    gradientCall.getQueryGradientLabels());
    if (byKey) {
      replaceResult(byKey.getKeyGradient(), byKey.getKeyGradientLabels(), gradientCall.getKeyGradient(),
                    gradientCall.getKeyGradientLabels());
      replaceResult(byKey.getValueGradient(), byKey.getValueGradientLabels(), gradientCall.getValueGradient(),
                    gradientCall.getValueGradientLabels());
    }
    if (byQuery) byQuery.erase();
    if (byKey) byKey.erase();
    // Ops that only the gradients have read: reductions over `out` and its gradient.
    for (Operation& op : llvm::make_early_inc_range(llvm::reverse(*forward->getBlock())))
      if (isOpTriviallyDead(&op) && !isa<Form>(op)) op.erase();
    replaceResult(forward.getOut(), forward.getOutLabels(), call.getOut(), call.getOutLabels());
    forward.erase();
  }

 private:
  /// Makes the calls to ask for their layout; they are erased again where the library does not take them.
  bool tryCalls(const LibraryModel& libraries) {
    OpBuilder builder(forward);
    call = createForward(builder);
    gradientCall = {};
    if (hasGradients()) {
      builder.setInsertionPoint(getLastGradient());
      gradientCall = createGradient(builder);
    }
    if (cut(call, libraries) && (!gradientCall || cut(gradientCall, libraries))) return true;
    if (gradientCall) gradientCall.erase();
    call.erase();
    return false;
  }

  bool hasGradients() const { return byQuery || byKey; }

  /// Finds the gradients that read the statistics of rows; false unless there is one of each kind.
  bool findGradients() {
    for (Value statistic : {forward.getRowMax(), forward.getRowSum()})
      for (Operation* user : statistic.getUsers()) {
        auto query = dyn_cast<fusion::AttentionQueryGradientOp>(user);
        auto key = dyn_cast<fusion::AttentionKeyGradientOp>(user);
        if ((!query && !key) || (query && byQuery && query != byQuery) || (key && byKey && key != byKey)) return false;
        if (query) byQuery = query;
        if (key) byKey = key;
      }
    return true;
  }

  Operation* getLastGradient() {
    if (!byQuery) return byKey;
    if (!byKey) return byQuery;
    return byQuery->isBeforeInBlock(byKey) ? byKey.getOperation() : byQuery.getOperation();
  }

  /// They read what the forward pass reads, and nobody reads one before the last is there.
  bool prepareGradients() {
    if (byQuery && byKey &&
        (byQuery.getOutGradient() != byKey.getOutGradient() || byQuery.getOutLabels() != byKey.getOutLabels()))
      return false;
    Operation* last = getLastGradient();
    for (Operation* op : {byQuery ? byQuery.getOperation() : nullptr, byKey ? byKey.getOperation() : nullptr}) {
      if (!op) continue;
      if (!readsAsForward(cast<Form>(op)) || op->getBlock() != forward->getBlock()) return false;
      for (Value result : op->getResults()) {
        if (!isNarrow(result)) return false;
        for (Operation* user : result.getUsers())
          if (user->getBlock() == op->getBlock() && user->isBeforeInBlock(last)) return false;
      }
    }
    return tensorType(getOutGradient()).getElementType() == element;
  }

  bool readsAsForward(Form op) {
    Form own = forward;
    return op.getQuery() == own.getQuery() && op.getKey() == own.getKey() && op.getValue() == own.getValue() &&
           op.getBias() == own.getBias() && !op.getMask() && op.getQueryLabels() == own.getQueryLabels() &&
           op.getKeyLabels() == own.getKeyLabels() && op.getValueLabels() == own.getValueLabels() &&
           op.getBiasLabels() == own.getBiasLabels() && op.getScale() == own.getScale() &&
           op.getDiagonal() == own.getDiagonal();
  }

  /// Of the operands' type, or f32 that everyone but the gradients rounds to it, perhaps moved first.
  bool isNarrow(Value result) {
    Type own = tensorType(result).getElementType();
    if (own == element) return true;
    return own.isF32() && llvm::all_of(result.getUsers(), [&](Operation* user) {
             if (isa<TransposeOp, ReshapeOp>(user) && !user->use_empty() && isNarrow(user->getResult(0))) return true;
             auto trunc = dyn_cast<arith::TruncFOp>(user);
             return trunc ? tensorType(trunc).getElementType() == element : isForGradients(user);
           });
  }

  bool isForGradients(Operation* op) {
    if (op == byQuery || op == byKey) return true;
    return op->getNumResults() == 1 && !op->use_empty() &&
           llvm::all_of(op->getUsers(), [&](Operation* user) { return isForGradients(user); });
  }

  /// `to` has the elements of `from` under other labels.
  void replaceResult(Value from, ArrayRef<int64_t> fromLabels, Value to, ArrayRef<int64_t> toLabels) {
    SmallVector<int64_t> permutation;
    for (int64_t label : fromLabels) permutation.push_back(llvm::find(toLabels, label) - toLabels.begin());
    replaceTransposed(from, to, permutation);
  }

  /// `from` is `to` transposed, and of f32 what isNarrow says of it. Transposes behind it become one.
  void replaceTransposed(Value from, Value to, ArrayRef<int64_t> permutation) {
    OpBuilder builder(to.getContext());
    builder.setInsertionPointAfterValue(to);
    auto move = [&](Value like) -> Value {
      if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()))) return to;
      return TransposeOp::create(builder, to.getLoc(), narrow(like), to, permutation);
    };
    bool isWide = tensorType(from).getElementType() != element;
    for (Operation* user : llvm::make_early_inc_range(from.getUsers())) {
      if (auto transpose = dyn_cast<TransposeOp>(user)) {
        SmallVector<int64_t> both;
        for (int64_t dim : transpose.getPermutation()) both.push_back(permutation[dim]);
        replaceTransposed(transpose, to, both);
      } else if (isWide && isa<arith::TruncFOp>(user)) {
        replaceTransposed(user->getResult(0), to, permutation);
      } else if (isWide && isa<ReshapeOp>(user)) {
        Value result = user->getResult(0), moved = move(from);
        Value reshaped = ReshapeOp::create(builder, user->getLoc(), narrow(result), moved);
        auto same = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(result).getRank()));
        replaceTransposed(result, reshaped, same);
      } else {
        continue;
      }
      user->erase();
    }
    if (!from.use_empty()) from.replaceAllUsesWith(move(from));
  }

  /// Without a model the op is left whole.
  template <typename OpTy>
  static bool cut(OpTy op, const LibraryModel& libraries) {
    std::optional<AttentionLayout> layout = getLayout(op);
    std::optional<AttentionParts> parts = layout ? libraries.getAttentionParts(layout->call) : std::nullopt;
    if (!parts) return false;
    op.setSteps(SmallVector<int64_t>({parts->batch, parts->heads}));
    op.setWorkspaceBytes(parts->workspaceBytes);
    return true;
  }

  Value getOutGradient() { return byQuery ? byQuery.getOutGradient() : byKey.getOutGradient(); }
  RankedTensorType narrow(Value value) const { return tensorType(value).clone(element); }

  /// A result as the program has it where its depth comes last and layouts are kept; else as the operand that it goes
  /// with.
  struct Result {
    RankedTensorType type;
    SmallVector<int64_t> labels;
  };
  Result chooseResult(Value result, ArrayRef<int64_t> labels, Value operand, ArrayRef<int64_t> operandLabels,
                      int64_t operandDepth, int64_t depth) {
    if (result && keepsLayouts && labels.back() == depth) return {narrow(result), SmallVector<int64_t>(labels)};
    Result like{narrow(operand), SmallVector<int64_t>(operandLabels)};
    llvm::replace(like.labels, operandDepth, depth);
    if (!result) return like;
    SmallVector<int64_t> sizes;
    for (int64_t label : like.labels)
      sizes.push_back(tensorType(result).getDimSize(llvm::find(labels, label) - labels.begin()));
    return {RankedTensorType::get(sizes, element), like.labels};
  }

  fusion::LibraryAttentionOp createForward(OpBuilder& builder) {
    Result out = chooseResult(forward.getOut(), forward.getOutLabels(), forward.getQuery(), forward.getQueryLabels(),
                              Form::kDepth, Form::kValueDepth);
    return fusion::LibraryAttentionOp::create(
        builder, forward.getLoc(), out.type, forward.getRowSum().getType(), forward.getQuery(), forward.getKey(),
        forward.getValue(), forward.getBias(), Value(), forward.getQueryLabelsAttr(), forward.getKeyLabelsAttr(),
        forward.getValueLabelsAttr(), builder.getDenseI64ArrayAttr(out.labels), forward.getBiasLabelsAttr(),
        DenseI64ArrayAttr(), forward.getScaleAttr(), FloatAttr(), forward.getDiagonalAttr(), DenseI64ArrayAttr());
  }

  /// A gradient that nobody asks for is laid out as its operand.
  fusion::LibraryAttentionGradientOp createGradient(OpBuilder& builder) {
    auto choose = [&](Value result, ArrayRef<int64_t> labels, Value operand, ArrayRef<int64_t> own, int64_t depth) {
      return chooseResult(result, labels, operand, own, depth, depth);
    };
    ArrayRef<int64_t> none;
    Result query = choose(byQuery ? byQuery.getGradient() : Value(), byQuery ? byQuery.getGradientLabels() : none,
                          forward.getQuery(), forward.getQueryLabels(), Form::kDepth);
    Result key = choose(byKey ? byKey.getKeyGradient() : Value(), byKey ? byKey.getKeyGradientLabels() : none,
                        forward.getKey(), forward.getKeyLabels(), Form::kDepth);
    Result value = choose(byKey ? byKey.getValueGradient() : Value(), byKey ? byKey.getValueGradientLabels() : none,
                          forward.getValue(), forward.getValueLabels(), Form::kValueDepth);
    auto labels = [&](const Result& result) { return builder.getDenseI64ArrayAttr(result.labels); };
    return fusion::LibraryAttentionGradientOp::create(
        builder, forward.getLoc(), query.type, key.type, value.type, forward.getQuery(), forward.getKey(),
        forward.getValue(), call.getOut(), getOutGradient(), call.getLogSum(), forward.getBias(), Value(),
        forward.getQueryLabelsAttr(), forward.getKeyLabelsAttr(), forward.getValueLabelsAttr(), call.getOutLabelsAttr(),
        forward.getBiasLabelsAttr(), DenseI64ArrayAttr(), forward.getScaleAttr(), FloatAttr(),
        forward.getDiagonalAttr(), byQuery ? byQuery.getOutLabelsAttr() : byKey.getOutLabelsAttr(), labels(query),
        labels(key), labels(value), DenseI64ArrayAttr());
  }

  fusion::AttentionOp forward;
  Type element;
  fusion::AttentionQueryGradientOp byQuery;  // null: there is none
  fusion::AttentionKeyGradientOp byKey;
  bool keepsLayouts = true;
  fusion::LibraryAttentionOp call;
  fusion::LibraryAttentionGradientOp gradientCall;
};

struct OffloadAttentionPass : mlir::sgd::impl::OffloadAttentionPassBase<OffloadAttentionPass> {
  OffloadAttentionPass() = default;
  explicit OffloadAttentionPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    SmallVector<fusion::AttentionOp> ops;
    getOperation().walk([&](fusion::AttentionOp op) { ops.push_back(op); });
    for (fusion::AttentionOp op : ops) {
      Attention attention(op);
      if (attention.prepare(*libraries)) attention.replace();
    }
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createOffloadAttentionPass(const LibraryModel& libraries) {
  return std::make_unique<OffloadAttentionPass>(libraries);
}
