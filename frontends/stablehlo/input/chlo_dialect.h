// The input dialect `chlo`.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_CHLO_DIALECT_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_CHLO_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "frontends/stablehlo/input/chlo_dialect.h.inc"
#include "frontends/stablehlo/input/chlo_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/chlo_attrs.h.inc"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/chlo_ops.h.inc"

#endif
