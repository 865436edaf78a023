// Labels of a dot_general: dimensions of the lhs by their numbers, those that only the rhs has behind them.
#include "passes/graph/attention/labelled_matmul.h"

#include "dialects/fusion/fusion_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

LabelledMatmul::LabelledMatmul(Operation* candidate) {
  if (auto matmul = dyn_cast_or_null<fusion::MatmulOp>(candidate)) {
    op = matmul;
    lhsLabels.assign(matmul.getLhsLabels().begin(), matmul.getLhsLabels().end());
    rhsLabels.assign(matmul.getRhsLabels().begin(), matmul.getRhsLabels().end());
    resultLabels.assign(matmul.getResultLabels().begin(), matmul.getResultLabels().end());
    return;
  }
  auto dot = dyn_cast_or_null<DotGeneralOp>(candidate);
  if (!dot) return;
  op = dot;
  int64_t rank = cast<RankedTensorType>(dot.getLhs().getType()).getRank();
  lhsLabels = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  rhsLabels.resize(cast<RankedTensorType>(dot.getRhs().getType()).getRank());
  for (auto [left, right] : llvm::zip(dot.getLhsBatching(), dot.getRhsBatching())) rhsLabels[right] = left;
  for (auto [left, right] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting())) rhsLabels[right] = left;
  for (int64_t dim : dot.getRhsFree()) rhsLabels[dim] = rank + dim;
  llvm::append_range(resultLabels, dot.getLhsBatching());
  llvm::append_range(resultLabels, dot.getLhsFree());
  for (int64_t dim : dot.getRhsFree()) resultLabels.push_back(rank + dim);
}
