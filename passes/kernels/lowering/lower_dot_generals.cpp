// Lowers sgd.dot_general to fusion.matmul on local shapes, with neighbouring transposes folded into the labels wherever
// matmuls can read or write the other order with strides. A sweep over the function: transposes are composed and
// hoisted everywhere before the first matmul decides which of them it takes.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/tensor_type.h"
#include "dialects/spmd/spmd_dialect.h"
#include "passes/kernels/library/library_model.h"
#include "passes/kernels/lowering/expand_dot_general.h"
#include "passes/kernels/lowering/folded_views.h"
#include "passes/kernels/lowering/passes.h"
#include "passes/kernels/order/buffers.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_LOWERDOTGENERALSPASS
#include "passes/kernels/lowering/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

using Labels = SmallVector<int64_t>;

/// An operand with the names of its dimensions, and what moving its elements first would cost.
struct Operand {
  Value value;
  Labels labels;
  int64_t movedElements = 0;
};

/// A form of the whole contraction, and its cost in elements moved.
struct Candidate {
  Operand lhs, rhs;
  Labels result;
  bool foldsResult = false;
  int64_t cost = 0;
};

/// reshape(transpose(x)) -> transpose(reshape(x)) where the reshape only adds or drops dimensions of size 1; null when
/// it does more.
TransposeOp moveReshapeUp(OpBuilder& builder, ReshapeOp reshape) {
  auto transpose = reshape.getInput().getDefiningOp<TransposeOp>();
  if (!transpose) return {};
  RankedTensorType from = tensorType(reshape.getInput()), to = tensorType(reshape.getResult());
  if (withoutOnes(from.getShape()) != withoutOnes(to.getShape())) return {};
  // Result dimensions larger than 1 correspond in order; the new ones are put in front before the transposition.
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  SmallVector<int64_t> kept;  // operand dimensions of the transpose that stay, in operand order
  for (auto [dim, size] : llvm::enumerate(tensorType(transpose.getInput()).getShape()))
    if (size != 1) kept.push_back(dim);
  int64_t ones = to.getRank() - kept.size();
  SmallVector<int64_t> shape(ones, 1), newPermutation;
  for (int64_t dim : kept) shape.push_back(tensorType(transpose.getInput()).getDimSize(dim));
  SmallVector<int64_t> large;  // positions in the new shape, in the order of the transposed dimensions
  for (int64_t dim : permutation)
    if (from.getRank() && tensorType(transpose.getInput()).getDimSize(dim) != 1)
      large.push_back(ones + (llvm::find(kept, dim) - kept.begin()));
  int64_t nextOne = 0, nextLarge = 0;
  for (int64_t size : to.getShape()) newPermutation.push_back(size == 1 ? nextOne++ : large[nextLarge++]);
  auto flat = ReshapeOp::create(builder, reshape.getLoc(), RankedTensorType::get(shape, to.getElementType()),
                                transpose.getInput());
  return TransposeOp::create(builder, transpose.getLoc(), to, flat, newPermutation);
}

/// The operand as it is, and behind each transpose above it.
SmallVector<Operand> getOperandChoices(OpBuilder& builder, Value value, Labels labels) {
  SmallVector<Operand> choices = {{value, labels, 0}};
  int64_t moved = 0;
  while (true) {
    auto transpose = value.getDefiningOp<TransposeOp>();
    if (auto reshape = value.getDefiningOp<ReshapeOp>()) transpose = moveReshapeUp(builder, reshape);
    if (!transpose) return choices;
    // Whoever stays below this transpose pays for it.
    moved = tensorType(value).getNumElements();
    for (Operand& choice : choices) choice.movedElements += moved;
    Labels above(labels.size());
    for (auto [dim, source] : llvm::enumerate(transpose.getPermutation())) above[source] = labels[dim];
    value = transpose.getInput();
    labels = above;
    choices.push_back({value, labels, 0});
  }
}

/// The permutation that every user applies to the result, if they agree.
std::optional<SmallVector<int64_t>> getCommonTranspose(Value result) {
  std::optional<SmallVector<int64_t>> common;
  for (Operation* user : result.getUsers()) {
    auto transpose = dyn_cast<TransposeOp>(user);
    if (!transpose || (common && ArrayRef<int64_t>(*common) != transpose.getPermutation())) return std::nullopt;
    common = SmallVector<int64_t>(transpose.getPermutation());
  }
  return common;
}

/// transpose(transpose(x)) -> one transpose of x, or x.
void composeTransposes(func::FuncOp function) {
  SmallVector<TransposeOp> transposes;
  function.walk([&](TransposeOp transpose) { transposes.push_back(transpose); });
  for (TransposeOp outer : transposes) {
    auto inner = outer.getInput().getDefiningOp<TransposeOp>();
    if (!inner) continue;
    auto permutation =
        llvm::map_to_vector(outer.getPermutation(), [&](int64_t dim) { return inner.getPermutation()[dim]; });
    outer.getInputMutable().assign(inner.getInput());
    outer.setPermutation(permutation);
    if (!llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()))) continue;
    outer.replaceAllUsesWith(inner.getInput());
    outer.erase();
  }
}

/// A collective that acts on each operand alone, element by element or along one dimension: its dimensions, to be
/// permuted with the operand.
std::optional<SmallVector<int64_t>> getCollectiveDims(Operation* op) {
  if (isa<spmd::AllReduceOp>(op)) return SmallVector<int64_t>();
  if (auto scatter = dyn_cast<spmd::ReduceScatterOp>(op)) return SmallVector<int64_t>(scatter.getDims());
  return std::nullopt;
}

/// transpose(all_reduce(dot)) -> all_reduce(transpose(dot)), likewise reduce_scatter: there the matmul can write the
/// other order.
void hoistTransposes(func::FuncOp function) {
  SmallVector<Operation*> collectives;
  function.walk([&](Operation* op) {
    if (getCollectiveDims(op)) collectives.push_back(op);
  });
  for (Operation* op : collectives) {
    SmallVector<int64_t> dims = *getCollectiveDims(op);
    for (auto [index, operand, result] : llvm::enumerate(op->getOperands(), op->getResults())) {
      std::optional<SmallVector<int64_t>> permutation = getCommonTranspose(result);
      if (!permutation || !operand.getDefiningOp<DotGeneralOp>()) continue;
      OpBuilder builder(op);
      auto permute = [&](Type type) {
        return cast<RankedTensorType>(type).clone(llvm::map_to_vector(
            *permutation, [&](int64_t dim) { return cast<RankedTensorType>(type).getDimSize(dim); }));
      };
      Value transposed = TransposeOp::create(builder, op->getLoc(), permute(operand.getType()), operand, *permutation);
      op->setOperand(index, transposed);
      result.setType(permute(result.getType()));
      if (!dims.empty()) dims[index] = llvm::find(*permutation, dims[index]) - permutation->begin();
      for (Operation* user : llvm::make_early_inc_range(result.getUsers())) {
        user->replaceAllUsesWith(ValueRange(result));
        user->erase();
      }
    }
    if (auto scatter = dyn_cast<spmd::ReduceScatterOp>(op)) scatter.setDims(dims);
  }
}

/// Labels of a dot_general: those of the lhs are its dimensions, new ones follow for free dimensions of the rhs.
void getDotLabels(DotGeneralOp dot, Labels& lhs, Labels& rhs, Labels& result) {
  int64_t next = tensorType(dot.getLhs()).getRank();
  lhs = llvm::to_vector(llvm::seq<int64_t>(0, next));
  rhs.assign(tensorType(dot.getRhs()).getRank(), -1);
  for (auto [l, r] : llvm::zip(dot.getLhsBatching(), dot.getRhsBatching())) rhs[r] = l;
  for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting())) rhs[r] = l;
  llvm::append_range(result, dot.getLhsBatching());
  llvm::append_range(result, dot.getLhsFree());
  for (int64_t dim : dot.getRhsFree()) result.push_back(rhs[dim] = next++);
}

SmallVector<int64_t> getSizes(ArrayRef<int64_t> labels, const llvm::DenseMap<int64_t, int64_t>& sizes) {
  return llvm::map_to_vector(labels, [&](int64_t label) { return sizes.lookup(label); });
}

struct LowerDotGeneralsPass : mlir::sgd::impl::LowerDotGeneralsPassBase<LowerDotGeneralsPass> {
  LowerDotGeneralsPass() = default;
  explicit LowerDotGeneralsPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    composeTransposes(getOperation());
    hoistTransposes(getOperation());
    SmallVector<DotGeneralOp> dots;
    getOperation().walk([&](DotGeneralOp dot) { dots.push_back(dot); });
    for (DotGeneralOp dot : dots)
      if (failed(form(dot))) return signalPassFailure();
    eraseUnused<TransposeOp, ReshapeOp>(getOperation());
  }

  LogicalResult form(DotGeneralOp dot) {
    if (dot.getResult().use_empty()) return dot.erase(), success();
    if (dot.getType().getElementType().isInteger(1))
      return dot.emitOpError("of booleans is not supported; convert the operands to i32 first");
    OpBuilder builder(dot);
    if (replaceEmpty(builder, dot)) return success();
    std::optional<Candidate> best;
    if (isFloat8(getElement(dot.getLhs())) && isMultiplied(dot)) best = findFloat8(builder, dot);
    if (!best) {
      dot = unifyTypes(builder, dot);
      if (!isMultiplied(dot)) return expandDotGeneral(dot), success();
      best = findBest(builder, dot);
    }
    if (!best) best = makeCanonical(builder, dot, /*contractedLast=*/false);
    emit(builder, dot, *best);
    return success();
  }

  static Type getElement(Value value) { return tensorType(value).getElementType(); }

  bool isMultiplied(DotGeneralOp dot) const {
    return libraries->multiplies(getElement(dot.getLhs()), getElement(dot.getRhs()), getElement(dot));
  }

  /// The cheapest of all ways to fold the neighbouring transposes in; none where an operand must be transposed first.
  std::optional<Candidate> findBest(OpBuilder& builder, DotGeneralOp dot) {
    Labels lhsLabels, rhsLabels, resultLabels;
    getDotLabels(dot, lhsLabels, rhsLabels, resultLabels);
    std::optional<Candidate> best;
    std::optional<SmallVector<int64_t>> transpose = getCommonTranspose(dot.getResult());
    for (Operand& lhs : getOperandChoices(builder, dot.getLhs(), lhsLabels))
      for (Operand& rhs : getOperandChoices(builder, dot.getRhs(), rhsLabels))
        for (bool folds : {true, false}) {
          if (folds && !transpose) continue;
          Labels order =
              folds ? llvm::map_to_vector(*transpose, [&](int64_t dim) { return resultLabels[dim]; }) : resultLabels;
          int64_t moved = transpose && !folds ? dot.getType().getNumElements() : 0;
          consider({lhs, rhs, order, folds, lhs.movedElements + rhs.movedElements + moved}, getElement(dot), best);
        }
    return best;
  }

  /// A form that kernels for f8 take, operands transposed where that alone gives one.
  std::optional<Candidate> findFloat8(OpBuilder& builder, DotGeneralOp dot) {
    if (std::optional<Candidate> best = findBest(builder, dot)) return best;
    std::optional<Candidate> best;
    consider(makeCanonical(builder, dot, /*contractedLast=*/true), getElement(dot), best);
    return best;
  }

  /// An empty sum is zero, and an empty result needs no matmul.
  bool replaceEmpty(OpBuilder& builder, DotGeneralOp dot) {
    RankedTensorType type = dot.getType();
    if (tensorType(dot.getLhs()).getNumElements() != 0 && tensorType(dot.getRhs()).getNumElements() != 0) return false;
    auto zero = DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType()));
    dot.replaceAllUsesWith(arith::ConstantOp::create(builder, dot.getLoc(), type, zero).getResult());
    dot.erase();
    return true;
  }

  static Value convert(OpBuilder& builder, Location loc, Value value, Type element) {
    RankedTensorType type = tensorType(value), wanted = type.clone(element);
    if (type == wanted) return value;
    bool widens = type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth();
    if (isa<FloatType>(element) && widens) return arith::ExtFOp::create(builder, loc, wanted, value);
    // Between types of one width, of which neither holds the other.
    if (isa<FloatType>(element) && type.getElementTypeBitWidth() == element.getIntOrFloatBitWidth())
      return convert(builder, loc, convert(builder, loc, value, builder.getF32Type()), element);
    if (isa<FloatType>(element)) return arith::TruncFOp::create(builder, loc, wanted, value);
    if (widens) return arith::ExtSIOp::create(builder, loc, wanted, value);
    return arith::TruncIOp::create(builder, loc, wanted, value);
  }

  /// Converts the operands, and the result where it is narrower than they are. Returns the matmul between them.
  DotGeneralOp unifyTypes(OpBuilder& builder, DotGeneralOp dot) {
    Type result = getElement(dot);
    CallTypes types = libraries->getMatmulTypes(getElement(dot.getLhs()), getElement(dot.getRhs()), result);
    for (OpOperand& operand : dot->getOpOperands())
      operand.set(convert(builder, dot.getLoc(), operand.get(), types.operand));
    if (result == types.result || result == getAccumulatorType(types.operand)) return dot;
    auto wide = cast<DotGeneralOp>(builder.clone(*dot));
    wide.getResult().setType(dot.getType().clone(types.result));
    dot.replaceAllUsesWith(convert(builder, dot.getLoc(), wide.getResult(), result));
    builder.setInsertionPoint(wide);
    dot.erase();
    return wide;
  }

  /// `sums`: the result's element type.
  void consider(Candidate candidate, Type sums, std::optional<Candidate>& best) {
    llvm::DenseMap<int64_t, int64_t> sizes;
    for (const Operand* operand : {&candidate.lhs, &candidate.rhs})
      for (auto [label, size] : llvm::zip(operand->labels, tensorType(operand->value).getShape())) sizes[label] = size;
    SmallVector<int64_t> resultSizes = getSizes(candidate.result, sizes);
    MatmulLimits limits = libraries->getMatmulLimits();
    auto shape = getContractionShape({candidate.lhs.labels, tensorType(candidate.lhs.value).getShape()},
                                     {candidate.rhs.labels, tensorType(candidate.rhs.value).getShape()},
                                     {candidate.result, resultSizes}, canAccumulateInPlace(sums), limits);
    if (!shape ||
        !libraries->takes({getElement(candidate.lhs.value), getElement(candidate.rhs.value), sums, *shape, false, {}}))
      return;
    candidate.cost += getContractionCost(*shape, limits) * limits.elementsPerCall;
    if (!best || candidate.cost < best->cost) best = candidate;
  }

  /// [batch, free, contracted] x [batch, contracted, free]: always possible; or x [batch, free, contracted].
  Candidate makeCanonical(OpBuilder& builder, DotGeneralOp dot, bool contractedLast) {
    Operand lhs{dot.getLhs(), {}, 0}, rhs{dot.getRhs(), {}, 0};
    Labels result;
    getDotLabels(dot, lhs.labels, rhs.labels, result);
    auto order = [&](ArrayRef<int64_t> first, ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
      SmallVector<int64_t> permutation(first);
      llvm::append_range(permutation, second);
      llvm::append_range(permutation, third);
      return permutation;
    };
    SmallVector<int64_t> free = dot.getRhsFree(), contracted(dot.getRhsContracting());
    if (contractedLast) std::swap(free, contracted);
    transposeOperand(builder, dot.getLoc(), lhs,
                     order(dot.getLhsBatching(), dot.getLhsFree(), dot.getLhsContracting()));
    transposeOperand(builder, dot.getLoc(), rhs, order(dot.getRhsBatching(), contracted, free));
    return {lhs, rhs, result};
  }

  void transposeOperand(OpBuilder& builder, Location loc, Operand& operand, ArrayRef<int64_t> permutation) {
    RankedTensorType type = tensorType(operand.value);
    SmallVector<int64_t> shape;
    Labels labels;
    for (int64_t dim : permutation) {
      shape.push_back(type.getDimSize(dim));
      labels.push_back(operand.labels[dim]);
    }
    operand.value = TransposeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()),
                                        operand.value, permutation);
    operand.labels = labels;
  }

  void emit(OpBuilder& builder, DotGeneralOp dot, const Candidate& candidate) {
    SmallVector<Operation*> users(dot->getUsers().begin(), dot->getUsers().end());
    Type type = candidate.foldsResult ? users.front()->getResult(0).getType() : dot.getType();
    auto matmul = fusion::MatmulOp::create(builder, dot.getLoc(), type, candidate.lhs.value, candidate.rhs.value,
                                           candidate.lhs.labels, candidate.rhs.labels, candidate.result, dot.getTf32());
    if (!candidate.foldsResult) {
      dot.replaceAllUsesWith(matmul.getResult());
    } else {
      for (Operation* user : users) {
        user->replaceAllUsesWith(matmul);
        user->erase();
      }
    }
    dot.erase();
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createLowerDotGeneralsPass(const LibraryModel& libraries) {
  return std::make_unique<LowerDotGeneralsPass>(libraries);
}
