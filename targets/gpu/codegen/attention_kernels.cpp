// Which blocks compute attention and its gradients, and what they cost.
#include "targets/gpu/codegen/attention_kernels.h"

#include "dialects/fusion/fusion_dialect.h"
#include "targets/gpu/codegen/attention_emitter.h"
#include "targets/kernels/in_place.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;
using Form = fusion::AttentionOpInterface;

/// Accumulators that a thread of 128 keeps in registers at most; more threads share more.
static constexpr int64_t kMostAccumulators = 64, kMostGradientAccumulators = 48;
/// Registers of a multiprocessor, and of a thread at most.
static constexpr unsigned kRegisters = 65536, kMostRegisters = 255;

Form mlir::sgd::gpu::getAttention(fusion::ClusterOp cluster) {
  return dyn_cast<Form>(cluster.getBody().front().front());
}

/// Columns of all matmuls that a block accumulates.
static int64_t getAccumulatedColumns(Form op) {
  SmallVector<int64_t> sizes = fusion::getAttentionSizes(op);
  auto columns = [](int64_t depth) { return AttentionTiles::numChunks(depth) * AttentionTiles::chunkWidth(depth); };
  int64_t depth = columns(sizes[Form::kDepth]), valueDepth = columns(sizes[Form::kValueDepth]);
  if (isa<fusion::AttentionOp>(op)) return valueDepth;
  return isa<fusion::AttentionQueryGradientOp>(op) ? depth : depth + valueDepth;
}

unsigned mlir::sgd::gpu::attentionThreads(Form op) {
  int64_t most = isa<fusion::AttentionOp>(op) ? kMostAccumulators : kMostGradientAccumulators;
  return getAccumulatedColumns(op) / 16 * AttentionTiles::rowsOfThread(128) <= most ? 128 : 256;
}

unsigned mlir::sgd::gpu::attentionBlocksPerProcessor(Form op) {
  return kRegisters / (attentionThreads(op) * kMostRegisters);
}

FailureOr<KernelInterface> mlir::sgd::gpu::describeAttention(Form op) {
  SmallVector<int64_t> sizes = fusion::getAttentionSizes(op);
  if (sizes[Form::kDepth] > kMostDepth || sizes[Form::kValueDepth] > kMostDepth)
    return op->emitOpError() << "has a depth of " << std::max(sizes[Form::kDepth], sizes[Form::kValueDepth])
                             << "; expected at most " << kMostDepth << " on a GPU; use more heads of less depth";
  for (int64_t size : sizes)
    if (size > (int64_t{1} << 30))
      return op->emitOpError() << "has a dimension of " << size << "; expected at most 2^30 on a GPU; shard it";
  for (Value value : op->getOperands())
    if (getElementTypeOrSelf(value.getType()).isF64())
      return op->emitOpError("is of f64; expected f32, f16 or bf16 on a GPU; convert the operands");
  bool isByKey = isa<fusion::AttentionKeyGradientOp>(op);
  KernelInterface kernel;
  kernel.range = llvm::divideCeil(sizes[isByKey ? Form::kColumn : Form::kRow], kSquare);
  for (int64_t label = Form::kBatch; label < static_cast<int64_t>(sizes.size()); ++label)
    if (!isByKey || llvm::is_contained(op.getKeyLabels(), label)) kernel.range *= sizes[label];
  return kernel;
}

void mlir::sgd::gpu::emitAttentionKernel(llvm::Module& module, Form op, const KernelRequest& request) {
  if (isa<fusion::AttentionOp>(op)) return emitAttentionForward(module, op, request);
  isa<fusion::AttentionQueryGradientOp>(op) ? emitQueryGradient(module, op, request)
                                            : emitKeyGradient(module, op, request);
}
