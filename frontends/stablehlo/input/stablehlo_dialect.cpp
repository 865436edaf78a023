// The dialect `stablehlo`: each file of ops registers its own.
#include "frontends/stablehlo/input/stablehlo_dialect.h"

using namespace mlir;
using namespace mlir::stablehlo;

#include "frontends/stablehlo/input/stablehlo_dialect.cpp.inc"

void StablehloDialect::initialize() {
  registerAttributes();
  registerElementwiseOps();
  registerShapeOps();
  registerRegionOps();
  registerLibraryOps();
}
