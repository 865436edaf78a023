// A kernel computes what its ops do, and moves its operands and results alone.
#include "dialects/fusion/work.h"

#include "dialects/cost/cost_op.h"
#include "dialects/fusion/attention.h"
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/fusion/library_calls.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::fusion;
using mlir::sgd::CostOpInterface;
using mlir::sgd::OperationKind;
using mlir::sgd::Precision;
using mlir::sgd::tensorType;
using mlir::sgd::Work;

static double getBytes(Value value) { return static_cast<double>(mlir::sgd::getByteSize(value.getType())); }
static double countElements(Value value) { return static_cast<double>(tensorType(value).getNumElements()); }

void mlir::fusion::addEpilogue(Work& work, const ::sgd::library::Epilogue& epilogue, double elements) {
  using ::sgd::library::EpilogueStep;
  for (EpilogueStep step : epilogue) {
    bool isFunction = step == EpilogueStep::kGelu || step == EpilogueStep::kGeluGradient;
    work.add(isFunction ? OperationKind::Transcendental : OperationKind::Vector, Precision::Single, elements);
  }
}

/// The multiplications of an einsum: one for each combination of labels.
static double countProducts(Value lhs, Value rhs, ArrayRef<int64_t> lhsLabels, ArrayRef<int64_t> rhsLabels) {
  double products = countElements(lhs);
  for (auto [label, size] : llvm::zip(rhsLabels, tensorType(rhs).getShape()))
    if (!llvm::is_contained(lhsLabels, label)) products *= static_cast<double>(size);
  return products;
}

template <typename Op>
static Work getMatmulWork(Op op) {
  Work work = mlir::sgd::getMoves(op->getOperands(), op->getResults());
  return mlir::sgd::addMatmul(work, op.getLhs(),
                              countProducts(op.getLhs(), op.getRhs(), op.getLhsLabels(), op.getRhsLabels()));
}

/// Zeros between elements of the lhs are left out.
template <typename Op>
static Work getConvolutionWork(Op op) {
  double window = 1, outputs = 1;
  for (auto [label, size] : llvm::zip(op.getRhsLabels(), tensorType(op.getRhs()).getShape())) {
    if (label == ConvolutionOp::kInput || label >= ConvolutionOp::kSpatial) window *= static_cast<double>(size);
    if (label == ConvolutionOp::kOutput) outputs = static_cast<double>(std::max<int64_t>(size, 1));
  }
  for (int64_t dilation : op.getLhsDilations()) window /= static_cast<double>(std::max<int64_t>(dilation, 1));
  Work work = mlir::sgd::getMoves(op->getOperands(), op->getResults());
  double products = countElements(op.getResult()) * window;
  return mlir::sgd::addMatmul(work, op.getLhs(), products, products / outputs);
}

/// Pairs of a row and a column that the mask leaves visible.
static double countScores(AttentionOpInterface op) {
  SmallVector<int64_t> sizes = getAttentionSizes(op);
  double rows = static_cast<double>(sizes[AttentionOpInterface::kRow]);
  double columns = static_cast<double>(sizes[AttentionOpInterface::kColumn]), scores = rows * columns;
  if (std::optional<uint64_t> diagonal = op.getDiagonal()) {
    double first = std::min(columns, static_cast<double>(*diagonal) + 1), last = std::min(columns, first + rows - 1);
    scores = rows * (first + last) / 2;
  }
  for (int64_t size : ArrayRef(sizes).drop_front(AttentionOpInterface::kBatch)) scores *= static_cast<double>(size);
  return scores;
}

/// The work of our own kernels: each op of the gradient computes the scores again.
static Work getAttentionWork(AttentionOpInterface op) {
  SmallVector<int64_t> sizes = getAttentionSizes(op);
  double depth = static_cast<double>(sizes[AttentionOpInterface::kDepth]);
  double valueDepth = static_cast<double>(sizes[AttentionOpInterface::kValueDepth]);
  // For each score: for itself, for its weight's gradient, for the accumulated matmuls.
  double products = isa<AttentionOp>(op)              ? depth + valueDepth
                    : isa<AttentionKeyGradientOp>(op) ? 2 * (depth + valueDepth)
                                                      : 2 * depth + valueDepth;
  double scores = countScores(op);
  Work work = mlir::sgd::getMoves(op->getOperands(), op->getResults());
  mlir::sgd::addMatmul(work, op.getQuery(), scores * products);
  return work.add(OperationKind::Transcendental, Precision::Single, scores);
}

namespace {
/// An argument that only slices read counts as the slices; a result that is updated in place, as the update.
struct ClusterWork : CostOpInterface::ExternalModel<ClusterWork, ClusterOp> {
  Work getWork(Operation* op) const {
    auto cluster = cast<ClusterOp>(op);
    Work work;
    for (Operation& inner : cluster.getBody().front()) work.addOperations(mlir::sgd::getWork(&inner), 1);
    for (BlockArgument argument : cluster.getBody().getArguments()) work.readBytes += getReadBytes(argument);
    for (unsigned result = 0; result < cluster.getNumResults(); ++result) {
      mlir::sgd::DynamicUpdateSliceOp update = cluster.getUpdate(result);
      work.writtenBytes += getBytes(update ? update.getUpdate() : Value(cluster.getResult(result)));
    }
    return work;
  }

 private:
  static double getReadBytes(BlockArgument argument) {
    double sliced = 0;
    bool isSliced = llvm::all_of(argument.getUsers(), [&](Operation* user) {
      if (isa<mlir::sgd::DynamicSliceOp>(user)) sliced += getBytes(user->getResult(0));
      return isa<mlir::sgd::DynamicSliceOp, mlir::sgd::DynamicUpdateSliceOp>(user) && user->getOperand(0) == argument;
    });
    bool isUpdated = !argument.use_empty() && isa<mlir::sgd::DynamicUpdateSliceOp>(*argument.user_begin());
    double all = getBytes(argument);
    return isSliced && (!isUpdated || argument.hasOneUse()) ? std::min(sliced, all) : all;
  }
};

/// Values between its steps stay in caches.
struct TiledWork : CostOpInterface::ExternalModel<TiledWork, TiledOp> {
  Work getWork(Operation* op) const {
    auto tiled = cast<TiledOp>(op);
    Work work = mlir::sgd::getMoves(op->getOperands(), op->getResults());
    for (Operation& inner : tiled.getBody().front())
      work.addOperations(mlir::sgd::getWork(&inner), static_cast<double>(tiled.getNumTiles()));
    return work;
  }
};

struct MatmulWork : CostOpInterface::ExternalModel<MatmulWork, MatmulOp> {
  Work getWork(Operation* op) const { return getMatmulWork(cast<MatmulOp>(op)); }
};

struct ConvolutionWork : CostOpInterface::ExternalModel<ConvolutionWork, ConvolutionOp> {
  Work getWork(Operation* op) const { return getConvolutionWork(cast<ConvolutionOp>(op)); }
};

struct LibraryMatmulWork : CostOpInterface::ExternalModel<LibraryMatmulWork, LibraryMatmulOp> {
  Work getWork(Operation* op) const {
    auto matmul = cast<LibraryMatmulOp>(op);
    Work work = getMatmulWork(matmul);
    addEpilogue(work, matmul.getEpilogue(), countElements(matmul.getResult()));
    return work;
  }
};

struct LibraryConvolutionWork : CostOpInterface::ExternalModel<LibraryConvolutionWork, LibraryConvolutionOp> {
  Work getWork(Operation* op) const {
    auto convolution = cast<LibraryConvolutionOp>(op);
    Work work = getConvolutionWork(convolution);
    addEpilogue(work, convolution.getEpilogue(), countElements(convolution.getResult()));
    return work;
  }
};

template <typename Op>
struct AttentionWork : CostOpInterface::ExternalModel<AttentionWork<Op>, Op> {
  Work getWork(Operation* op) const { return getAttentionWork(cast<AttentionOpInterface>(op)); }
};

/// A library's kernels, whose rates are given for all scores, masked ones included.
template <typename Op>
struct LibraryAttentionWork : CostOpInterface::ExternalModel<LibraryAttentionWork<Op>, Op> {
  Work getWork(Operation* op) const {
    auto attention = cast<AttentionOpInterface>(op);
    SmallVector<int64_t> sizes = getAttentionSizes(attention);
    bool isForward = isa<LibraryAttentionOp>(op);
    double products = static_cast<double>((isForward ? 1 : 3) * sizes[AttentionOpInterface::kDepth] +
                                          (isForward ? 1 : 2) * sizes[AttentionOpInterface::kValueDepth]);
    for (int64_t label : {AttentionOpInterface::kRow, AttentionOpInterface::kColumn})
      products *= static_cast<double>(sizes[label]);
    for (int64_t size : ArrayRef(sizes).drop_front(AttentionOpInterface::kBatch)) products *= static_cast<double>(size);
    return mlir::sgd::getMoves(op->getOperands(), op->getResults())
        .add(OperationKind::Attention, mlir::sgd::getPrecision(tensorType(attention.getQuery()).getElementType()),
             2 * products);
  }
};

struct SortRowsWork : CostOpInterface::ExternalModel<SortRowsWork, SortRowsOp> {
  Work getWork(Operation* op) const {
    auto sort = cast<SortRowsOp>(op);
    RankedTensorType type = tensorType(sort.getInputs().front());
    auto comparison = static_cast<int64_t>(sort.getComparator().front().getOperations().size());
    double operations = mlir::sgd::getSortOperations(static_cast<double>(type.getNumElements()), type.getShape().back(),
                                                     comparison, op->getNumOperands());
    return mlir::sgd::getMoves(op->getOperands(), op->getResults())
        .add(OperationKind::Vector, mlir::sgd::getPrecision(type.getElementType()), operations);
  }
};
}  // namespace

void mlir::fusion::attachWork(MLIRContext& context) {
  ClusterOp::attachInterface<ClusterWork>(context);
  TiledOp::attachInterface<TiledWork>(context);
  MatmulOp::attachInterface<MatmulWork>(context);
  ConvolutionOp::attachInterface<ConvolutionWork>(context);
  SortRowsOp::attachInterface<SortRowsWork>(context);
  AttentionOp::attachInterface<AttentionWork<AttentionOp>>(context);
  AttentionQueryGradientOp::attachInterface<AttentionWork<AttentionQueryGradientOp>>(context);
  AttentionKeyGradientOp::attachInterface<AttentionWork<AttentionKeyGradientOp>>(context);
  LibraryAttentionOp::attachInterface<LibraryAttentionWork<LibraryAttentionOp>>(context);
  LibraryAttentionGradientOp::attachInterface<LibraryAttentionWork<LibraryAttentionGradientOp>>(context);
  LibraryMatmulOp::attachInterface<LibraryMatmulWork>(context);
  LibraryConvolutionOp::attachInterface<LibraryConvolutionWork>(context);
}
