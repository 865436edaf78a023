// The pass sgd-align-rows.
#include "dialects/sgd/stage_rows.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/time/layers/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ALIGNROWSPASS
#include "passes/time/layers/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Of a tensor in rows, by its position: how its first rows are sharded.
using FirstShardings = DenseMap<int64_t, ShardingAttr>;

/// The sharding that a part with these attributes, of type `type`, has to have; null where it has it.
ShardingAttr getOther(FirstShardings& firsts, DictionaryAttr attrs, Type type) {
  auto whole = attrs ? attrs.getAs<DenseI64ArrayAttr>(kWholeAttr) : DenseI64ArrayAttr();
  if (!whole || !attrs.contains(kRowsAttr)) return {};
  ShardingAttr own = getSharding(type);
  ShardingAttr first = firsts.try_emplace(whole[0], own).first->second;
  return first == own ? ShardingAttr() : first;
}

struct AlignRowsPass : mlir::sgd::impl::AlignRowsPassBase<AlignRowsPass> {
  using AlignRowsPassBase::AlignRowsPassBase;

  void alignArguments(func::FuncOp function, OpBuilder& builder) {
    FirstShardings firsts;
    for (BlockArgument argument : function.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      ShardingAttr other = getOther(firsts, function.getArgAttrDict(argument.getArgNumber()), type);
      if (!other) continue;
      builder.setInsertionPointToStart(&function.front());
      argument.setType(withSharding(type, other));
      auto resharded = ReshardOp::create(builder, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(resharded, resharded);
      function.setArgAttr(argument.getArgNumber(), kShardingAttr, other);
      ++numChanged;
    }
  }

  /// After arguments, as which carried ones are.
  void alignResults(func::FuncOp function, OpBuilder& builder) {
    FirstShardings firsts;
    Operation* terminator = function.front().getTerminator();
    builder.setInsertionPoint(terminator);
    for (OpOperand& result : terminator->getOpOperands()) {
      unsigned number = result.getOperandNumber();
      auto type = cast<RankedTensorType>(result.get().getType());
      ShardingAttr other = getOther(firsts, function.getResultAttrDict(number), type);
      if (std::optional<unsigned> argument = getCarriedArgument(function, number)) {
        ShardingAttr wanted = getSharding(function.getArgument(*argument).getType());
        if (function.getResultAttr(number, kRowsAttr)) other = wanted == getSharding(type) ? ShardingAttr() : wanted;
      }
      if (!other) continue;
      result.set(ReshardOp::create(builder, result.get().getLoc(), withSharding(type, other), result.get()));
      function.setResultAttr(number, kShardingAttr, other);
      ++numChanged;
    }
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      OpBuilder builder(function.getContext());
      alignArguments(function, builder);
      alignResults(function, builder);
      function.setFunctionType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                                 function.front().getTerminator()->getOperandTypes()));
    }
  }
};
}  // namespace
