// Custom calls that name the functions which compute them; see prepare.h.
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr StringRef kCustomPartitioning = "CustomSPMDPartitioning";

LogicalResult callBody(stablehlo::CustomCallOp call) {
  ArrayAttr bodies = call.getCalledComputations();
  auto body = bodies.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(bodies[0]) : FlatSymbolRefAttr();
  if (!body)
    return emitError(call.getLoc()) << "'stablehlo.custom_call' @" << kCustomPartitioning
                                    << " names a Python object of the process that exported the program where its body "
                                       "should be; expected the body among its "
                                       "called_computations; call the function without "
                                       "jax.experimental.custom_partitioning, or within jax.shard_map over all axes "
                                       "of the mesh, where JAX exports its body";
  OpBuilder builder(call);
  auto direct = func::CallOp::create(builder, call.getLoc(), call.getResultTypes(), body, call.getOperands());
  if (Attribute sharding = call->getAttr("sdy.sharding")) direct->setAttr("sdy.sharding", sharding);
  call->replaceAllUsesWith(direct.getResults());
  call->erase();
  return success();
}

}  // namespace

LogicalResult mlir::sgd::callBodies(ModuleOp module) {
  SmallVector<stablehlo::CustomCallOp> calls;
  SymbolTable symbols(module);
  module.walk([&](stablehlo::CustomCallOp call) {
    // A function that ops call is no program of its own, although JAX leaves comparators public.
    for (Attribute name : call.getCalledComputations())
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
        if (auto function = symbols.lookup<func::FuncOp>(symbol.getAttr())) function.setPrivate();
    if (call.getCallTargetName() == kCustomPartitioning) calls.push_back(call);
  });
  for (stablehlo::CustomCallOp call : calls)
    if (callBody(call).failed()) return failure();
  return success();
}
