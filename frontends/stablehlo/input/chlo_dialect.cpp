// The dialect `chlo`.
#include "frontends/stablehlo/input/chlo_dialect.h"

using namespace mlir;
using namespace mlir::chlo;

#include "frontends/stablehlo/input/chlo_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/chlo_ops.cpp.inc"

void ChloDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "frontends/stablehlo/input/chlo_ops.cpp.inc"
      >();
}
