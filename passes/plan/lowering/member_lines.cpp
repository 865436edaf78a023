// The lines are metadata of a fused location: equal clusters of different lines share a kernel, but no launch.
#include "passes/plan/lowering/member_lines.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/source_line.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::sgd;

constexpr size_t kMostLines = 6;

/// Poles, undefined values, and growth beyond all floats for moderate arguments.
static bool hasPoles(Operation* op) {
  return isa<arith::DivFOp, arith::RemFOp, arith::TruncFOp, math::AcosOp, math::AcoshOp, math::AsinOp, math::AtanhOp,
             math::CoshOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::FPowIOp, math::LogOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::PowFOp, math::RsqrtOp, math::SinhOp, math::SqrtOp, math::TanOp>(op);
}

static bool mayOverflow(Operation* op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::Add || reduce.getKind() == ReduceKind::Mul;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(op);
}

Location mlir::sgd::getLocationWithMembers(fusion::ClusterOp cluster) {
  SmallVector<Attribute> lines;
  for (auto isListed : {hasPoles, mayOverflow})
    for (Operation& op : cluster.getBody().front().without_terminator()) {
      if (!isListed(&op) || lines.size() == kMostLines) continue;
      std::string line = getSourceLine(op.getLoc());
      if (line.empty()) continue;
      auto text = StringAttr::get(op.getContext(), op.getName().stripDialect() + " at " + line);
      if (!llvm::is_contained(lines, text)) lines.push_back(text);
    }
  if (lines.empty()) return cluster.getLoc();
  return FusedLoc::get(cluster.getContext(), cluster.getLoc(), ArrayAttr::get(cluster.getContext(), lines));
}

SmallVector<StringRef> mlir::sgd::getMemberLines(Location location) {
  auto fused = dyn_cast<FusedLocWith<ArrayAttr>>(location);
  if (!fused) return {};
  return llvm::map_to_vector(fused.getMetadata().getAsRange<StringAttr>(),
                             [](StringAttr line) { return line.getValue(); });
}
