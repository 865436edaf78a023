// The pass sgd-print-sharding-rules: one remark per op, for tests of rules and for a look at why a
// sharding did not spread.
#include "passes/sharding/propagation/passes.h"

#include "dialects/sgd/sharding_rule.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_PRINTSHARDINGRULESPASS
#include "passes/sharding/propagation/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// i, j, ..., z, then i1, j1, ...
std::string factorName(unsigned factor) {
  constexpr unsigned kLetters = 'z' - 'i' + 1;
  std::string name(1, static_cast<char>('i' + factor % kLetters));
  return factor < kLetters ? name : name + std::to_string(factor / kLetters);
}

void printMapping(llvm::raw_ostream& os, const TensorMapping& mapping) {
  os << "[";
  llvm::interleaveComma(mapping, os, [&](ArrayRef<unsigned> factors) {
    if (factors.empty()) os << "-";
    for (unsigned factor : factors) os << factorName(factor);
  });
  os << "]";
}

StringRef kindName(const Factor& factor) {
  switch (factor.kind) {
    case FactorKind::PassThrough:
      return "";
    case FactorKind::Reduction:
      return stringifyReduceKind(factor.reduceKind);
    case FactorKind::NeedReplication:
      return "whole";
    case FactorKind::Permutation:
      return "permutes";
  }
  llvm_unreachable("all kinds are handled");
}

std::string toString(const ShardingRule& rule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(rule.operands, os, [&](const TensorMapping& mapping) { printMapping(os, mapping); });
  os << ") -> ";
  llvm::interleaveComma(rule.results, os, [&](const TensorMapping& mapping) { printMapping(os, mapping); });
  for (auto [index, factor] : llvm::enumerate(rule.factors)) {
    os << " " << factorName(index) << "=" << factor.size;
    if (!kindName(factor).empty()) os << ":" << kindName(factor);
  }
  return text;
}

struct PrintShardingRulesPass : sgd::impl::PrintShardingRulesPassBase<PrintShardingRulesPass> {
  void runOnOperation() override {
    getOperation().walk<WalkOrder::PreOrder>([](Operation* op) {
      if (auto ruled = dyn_cast<ShardingRuleOpInterface>(op)) op->emitRemark() << toString(ruled.getShardingRule());
      return hasScalarBody(op) ? WalkResult::skip() : WalkResult::advance();
    });
    markAllAnalysesPreserved();
  }
};
}  // namespace
