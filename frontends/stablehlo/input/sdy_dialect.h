// The input dialect `sdy`: meshes and shardings as JAX prints them.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_SDY_DIALECT_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_SDY_DIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "frontends/stablehlo/input/sdy_dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "frontends/stablehlo/input/sdy_attrs.h.inc"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/sdy_ops.h.inc"

#endif
