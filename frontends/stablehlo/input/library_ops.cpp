// Registers the ops of library_ops.td.
#include "frontends/stablehlo/input/library_ops.h"

#include "frontends/stablehlo/input/assembly_format.h"

using namespace mlir;
using namespace mlir::stablehlo;

LogicalResult OptimizationBarrierOp::verify() {  // optimization_barrier_C1
  if (getOperandTypes() != getResultTypes())
    return emitOpError("has the results ") << getResultTypes() << "; expected the operands' types " << getOperandTypes()
                                           << "; correct the results' types";
  return success();
}

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/library_ops.cpp.inc"

void StablehloDialect::registerLibraryOps() {
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/library_ops.cpp.inc"
      >();
}
