// Limits are those of the library's documentation and of NVIDIA/cudnn-frontend (validate_sdpa_support_surface and the
// backward node's checks); workspaces as 9.19 tells for an H200 and a B200.
#include "targets/gpu/libraries/cudnn_attention.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr int64_t kHalfBytes = 2, kFloatBytes = 4, kTile = 128, kAlignment = 256;

/// For fewer scores the tiles of tensor cores are mostly padding; cuDNN refuses gradients of one.
constexpr int64_t kLeastScores = 256;

bool isTaken(const AttentionCall& call, ArrayRef<int> capabilities) {
  for (int capability : capabilities) {
    if (capability < 80) return false;
    // Backward passes go to 256 elements on Hopper alone.
    int64_t most = capability / 10 == 9 ? 256 : 128;
    for (int64_t depth : {call.depth, call.valueDepth})
      if (depth % 8 != 0 || depth > most) return false;
  }
  return call.rows * call.columns >= kLeastScores;
}

/// Of one batch of one head. The backward pass gives the same bits every time where it keeps the gradient of the
/// scores, in tiles, for a second matmul; heads that share a key are summed afterwards.
int64_t getHeadBytes(const AttentionCall& call) {
  if (!call.isGradient) return 0;
  int64_t rows = llvm::alignTo(call.rows, kTile), columns = llvm::alignTo(call.columns, kTile);
  int64_t bytes = rows * columns * kHalfBytes + rows * kFloatBytes;
  if (call.heads != call.keyHeads) bytes += columns * (call.depth + call.valueDepth) * kHalfBytes;
  return bytes;
}

/// The largest divisor of `count`, a multiple of `unit`, that is at most `most`; 0: there is none.
int64_t getStep(int64_t count, int64_t unit, int64_t most) {
  for (int64_t step = std::min(count, most / unit * unit); step >= unit; step -= unit)
    if (count % step == 0) return step;
  return 0;
}

/// As many at once as keep a GPU busy: 128 pairs of a batch and a head for 512 rows and columns.
std::optional<AttentionParts> getParts(const AttentionCall& call) {
  constexpr int64_t kMostBytes = 128 << 20, kFixedBytes = 64 << 10;
  int64_t each = getHeadBytes(call), most = each == 0 ? INT64_MAX : kMostBytes / each;
  AttentionParts parts{call.batch, call.heads, 0};
  if (most < call.batch * call.heads) {
    parts.batch = getStep(call.batch, 1, most / call.heads);
    if (parts.batch == 0) {
      parts.batch = 1;
      parts.heads = getStep(call.heads, call.heads / call.keyHeads, most);
      if (parts.heads == 0) return std::nullopt;
    }
  }
  parts.workspaceBytes = llvm::alignTo(parts.batch * parts.heads * each + kFixedBytes, kAlignment);
  return parts;
}

}  // namespace

std::optional<AttentionParts> mlir::sgd::gpu::getCudnnAttentionParts(const AttentionCall& call,
                                                                     ArrayRef<int> capabilities) {
  return isTaken(call, capabilities) ? getParts(call) : std::nullopt;
}
