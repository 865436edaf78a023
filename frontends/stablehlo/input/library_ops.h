// Op classes of library_ops.td.
#ifndef SGD_FRONTENDS_STABLEHLO_INPUT_LIBRARY_OPS_H
#define SGD_FRONTENDS_STABLEHLO_INPUT_LIBRARY_OPS_H

#include "frontends/stablehlo/input/stablehlo_dialect.h"

#define GET_OP_CLASSES
#include "frontends/stablehlo/input/library_ops.h.inc"

#endif
