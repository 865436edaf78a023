// Matmuls of rows by group, each element by its definition.
#include "dialects/sgd/grouped_dot.h"
#include "reference/ops.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::reference;

namespace {

/// Sums products of elements of two tensors.
class Sum {
 public:
  explicit Sum(Tensor& out) : out(out) {}

  void add(const Tensor& lhs, int64_t l, const Tensor& rhs, int64_t r) {
    if (out.isFloat())
      floats += lhs.floats[l] * rhs.floats[r];
    else
      integers += static_cast<uint64_t>(lhs.integers[l]) * static_cast<uint64_t>(rhs.integers[r]);
  }
  void store(int64_t at) {
    out.isFloat() ? out.setFloat(at, floats) : out.setInteger(at, static_cast<int64_t>(integers));
  }

 private:
  Tensor& out;
  double floats = 0;
  uint64_t integers = 0;
};

}  // namespace

static void evaluateGroupedDot(GroupedDotOp op, Operands in, Results results) {
  const Tensor &lhs = *in[0], &rhs = *in[1], &rows = *in[2], &groups = *in[3];
  Tensor& out = *results[0];
  GroupedDotSizes sizes(op);
  auto [m, k, n, g] = std::tuple(sizes.m, sizes.k, sizes.n, sizes.groups);
  int64_t columnStride = op.getTransposed() ? k : 1, depthStride = op.getTransposed() ? 1 : n;
  for (int64_t b = 0; b < llvm::product_of(sizes.batch); ++b) {
    auto belongs = [&](int64_t row, int64_t group) {
      return rows.integers[b * m + row] == groups.integers[b * g + group];
    };
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t row = 0; row < m && !op.getContracted(); ++row) {
        Sum sum(out);
        for (int64_t group = 0; group < g; ++group)
          for (int64_t depth = 0; belongs(row, group) && depth < k; ++depth)
            sum.add(lhs, (b * m + row) * k + depth, rhs,
                    (b * g + group) * k * n + depth * depthStride + column * columnStride);
        sum.store((b * m + row) * n + column);
      }
      for (int64_t at = 0; at < g * k && op.getContracted(); ++at) {
        Sum sum(out);
        int64_t group = at / k, depth = at % k;
        for (int64_t row = 0; row < m; ++row)
          if (belongs(row, group)) sum.add(lhs, (b * m + row) * k + depth, rhs, (b * m + row) * n + column);
        sum.store((b * g * k + at) * n + column);
      }
    }
  }
}

void reference::addGroupedDot(Evaluations& evaluations) { evaluations.add<GroupedDotOp>(evaluateGroupedDot); }
