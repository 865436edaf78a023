// A matmul reads its weights in blocks of columns fastest. In a loop they are packed so once, in front of it.
#include "dialects/fusion/fusion_dialect.h"
#include "dialects/sgd/decision.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/kernels/epilogues/passes.h"
#include "passes/kernels/library/library_model.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "passes/kernels/epilogues/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// A matmul of a loop's body whose result has the columns of its weights as its last dimension.
struct WeightedMatmul {
  fusion::MatmulOp op;
  bool isLeft = false;        ///< weights are the lhs
  bool isTransposed = false;  ///< of shape [n, k]
  int64_t m = 1, n = 1, k = 1;

  Value getWeights() {
    fusion::MatmulOp matmul = op;
    return isLeft ? matmul.getLhs() : matmul.getRhs();
  }
  ArrayRef<int64_t> getLabels(bool left) {
    fusion::MatmulOp matmul = op;
    return left ? matmul.getLhsLabels() : matmul.getRhsLabels();
  }
  /// Whether the operand on this side is of a matrix of weights that `loop` leaves as it is.
  bool setWeights(WhileOp loop, bool left);
};

}  // namespace

bool WeightedMatmul::setWeights(WhileOp loop, bool left) {
  isLeft = left;
  auto argument = dyn_cast<BlockArgument>(getWeights());
  ArrayRef<int64_t> labels = getLabels(left), others = getLabels(!left), result = op.getResultLabels();
  if (!argument || !loop.isInvariant(argument.getArgNumber()) || labels.size() != 2 || result.empty()) return false;
  isTransposed = labels[0] == result.back();
  int64_t columns = result.back(), rows = labels[isTransposed ? 1 : 0];
  if (labels[isTransposed ? 0 : 1] != columns || llvm::is_contained(others, columns) ||
      !llvm::is_contained(others, rows) || llvm::is_contained(result, rows))
    return false;
  ArrayRef<int64_t> shape = tensorType(getWeights()).getShape();
  n = shape[isTransposed ? 0 : 1], k = shape[isTransposed ? 1 : 0];
  m = op.getType().getNumElements() / std::max<int64_t>(n, 1);
  return true;
}

/// [k, n] or [n, k] as [n / columns, k, columns].
static Value pack(OpBuilder& builder, Location loc, Value weights, bool isTransposed, int64_t columns) {
  RankedTensorType type = tensorType(weights);
  int64_t n = type.getDimSize(isTransposed ? 0 : 1), k = type.getDimSize(isTransposed ? 1 : 0), blocks = n / columns;
  SmallVector<int64_t> split = {k, blocks, columns}, permutation = {1, 0, 2};
  if (isTransposed) split = {blocks, columns, k}, permutation = {0, 2, 1};
  Value parts = ReshapeOp::create(builder, loc, type.clone(split), weights);
  return TransposeOp::create(builder, loc, type.clone({blocks, k, columns}), parts, permutation);
}

/// The matmul with `packed` weights, of the shape that `matmul` has.
static void replace(WeightedMatmul& matmul, Value packed) {
  fusion::MatmulOp op = matmul.op;
  OpBuilder builder(op);
  int64_t columns = op.getResultLabels().back(), blocks = columns;
  for (ArrayRef<int64_t> labels : {op.getLhsLabels(), op.getRhsLabels(), op.getResultLabels()})
    for (int64_t label : labels) blocks = std::max(blocks, label);
  ++blocks;
  ArrayRef<int64_t> own = matmul.getLabels(matmul.isLeft);
  int64_t rows = own[matmul.isTransposed ? 1 : 0];
  SmallVector<int64_t> labels = {blocks, rows, columns}, result(op.getResultLabels()), shape(op.getType().getShape());
  ArrayRef<int64_t> packedShape = tensorType(packed).getShape();
  result.insert(result.end() - 1, blocks);
  shape.back() = packedShape[0];
  shape.push_back(packedShape[2]);
  Value other = matmul.isLeft ? op.getRhs() : op.getLhs();
  ArrayRef<int64_t> otherLabels = matmul.getLabels(!matmul.isLeft);
  RankedTensorType type = op.getType().clone(shape);
  Value product = matmul.isLeft ? fusion::MatmulOp::create(builder, op.getLoc(), type, packed, other, labels,
                                                           otherLabels, result, op.getTf32())
                                : fusion::MatmulOp::create(builder, op.getLoc(), type, other, packed, otherLabels,
                                                           labels, result, op.getTf32());
  op.replaceAllUsesWith(Value(ReshapeOp::create(builder, op.getLoc(), op.getType(), product)));
  op.erase();
}

namespace {
struct PackWeightsPass : mlir::sgd::impl::PackWeightsPassBase<PackWeightsPass> {
  PackWeightsPass() = default;
  explicit PackWeightsPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    // With fewer trips, packing once is no less than packing in each.
    constexpr int64_t kLeastTrips = 4;
    for (Block* block : getProgramBlocks(getOperation()))
      for (WhileOp loop : llvm::to_vector(block->getOps<WhileOp>()))
        if (loop.getTrips().value_or(0) >= kLeastTrips) visit(loop);
  }

 private:
  void visit(WhileOp loop) {
    Decision decision = Decision::at(DecisionKind::Pack, loop.getLoc());
    int64_t held = 0;
    DenseMap<std::pair<Value, int64_t>, Value> packed;  // by weights and columns of a block
    for (fusion::MatmulOp op : llvm::to_vector(loop.getBody().getOps<fusion::MatmulOp>())) {
      WeightedMatmul matmul{op};
      if (!matmul.setWeights(loop, /*left=*/false) && !matmul.setWeights(loop, /*left=*/true)) continue;
      RankedTensorType type = tensorType(matmul.getWeights());
      bool hasOneType = type.getElementType() == op.getType().getElementType();
      int64_t columns =
          hasOneType ? libraries->getPackedColumns(type.getElementType(), matmul.m, matmul.n, matmul.k) : 0;
      if (columns == 0) continue;
      Value weights = matmul.getWeights();
      Value& own = packed[{weights, matmul.isTransposed ? -columns : columns}];
      if (!own) {
        OpBuilder builder(loop);
        Value init = loop.getInits()[cast<BlockArgument>(weights).getArgNumber()];
        own = getInBody(loop, pack(builder, op.getLoc(), init, matmul.isTransposed, columns));
        held += getByteSize(type);
      }
      replace(matmul, own);
    }
    if (packed.empty()) return;
    decision.chosen = "in front of the loop";
    llvm::raw_string_ostream(decision.why)
        << "loop at " << decision.source << ": weights that it multiplies by are packed once, in front of it; " << held
        << " bytes are held for that";
    addDecision(getOperation(), decision);
  }

  const LibraryModel* libraries = nullptr;
};
}  // namespace

std::unique_ptr<Pass> mlir::sgd::createPackWeightsPass(const LibraryModel& libraries) {
  return std::make_unique<PackWeightsPass>(libraries);
}
