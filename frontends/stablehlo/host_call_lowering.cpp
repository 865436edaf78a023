// Lowers @sgd.host_call, as the JAX plugin writes calls of Python functions. Its `mhlo.backend_config` has the
// function's number `id`, its `name` for people, and `each_rank` where every rank calls with its own values.
#include "frontends/stablehlo/host_call_lowering.h"

#include "dialects/sgd/host_call.h"
#include "frontends/stablehlo/input/library_ops.h"

using namespace mlir;
using namespace mlir::sgd;

LogicalResult mlir::sgd::lowerHostCall(OpLowering& l) {
  auto config = l.op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto id = config ? config.getAs<IntegerAttr>("id") : IntegerAttr();
  auto name = config ? config.getAs<StringAttr>("name") : StringAttr();
  if (!id || id.getValue().getBitWidth() > 64 || !name)
    return l.error() << "@" << kHostCallTarget
                     << " has no function; expected an integer 'id' of at most 64 bits and a string 'name' in "
                        "mhlo.backend_config; write them";
  auto eachRank = config.getAs<BoolAttr>("each_rank");
  SmallVector<Type> types;
  for (unsigned result = 0; result < l.op->getNumResults(); ++result) types.push_back(l.getResultType(result));
  auto call = HostCallOp::create(l.builder, l.loc, types, l.operands, /*when=*/Value(), name,
                                 l.builder.getI64IntegerAttr(static_cast<int64_t>(id.getValue().getZExtValue())),
                                 eachRank && eachRank.getValue() ? l.builder.getUnitAttr() : UnitAttr(),
                                 l.builder.getI64IntegerAttr(0));
  llvm::append_range(l.results, call.getResults());
  return success();
}
