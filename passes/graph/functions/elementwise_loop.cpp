// The condition reduces to one boolean, which all ranks get alike.
#include "passes/graph/functions/elementwise_loop.h"

using namespace mlir;
using namespace mlir::sgd;

SmallVector<Value> mlir::sgd::writeWhile(TensorMath& math, ValueRange inits,
                                         function_ref<Value(TensorMath&, ValueRange)> goesOn,
                                         function_ref<SmallVector<Value>(TensorMath&, ValueRange)> body) {
  OpBuilder& builder = math.getBuilder();
  Location loc = math.getLoc();
  auto loop = WhileOp::create(builder, loc, inits, std::nullopt, [&](OpBuilder& inside, ValueRange arguments) {
    TensorMath at(inside, loc);
    return body(at, arguments);
  });
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations(inits.size(), loc);
  Block* condition = builder.createBlock(&loop.getCondition(), {}, inits.getTypes(), locations);
  TensorMath at(builder, loc);
  Value flags = goesOn(at, condition->getArguments());
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, tensorType(flags).getRank()));
  YieldOp::create(builder, loc, dims.empty() ? flags : at.reduce(flags, ReduceKind::Or, dims));
  return llvm::to_vector_of<Value>(loop.getResults());
}
