// Registration of the dialect of kernels and library calls.
#include "dialects/fusion/fusion_dialect.h"

#include "dialects/fusion/attention.h"
#include "dialects/fusion/library_calls.h"
#include "dialects/fusion/work.h"

using namespace mlir;
using namespace mlir::fusion;

#include "dialects/fusion/fusion_dialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/fusion/fusion_ops.cpp.inc"

void FusionDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/fusion/fusion_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/fusion/attention_ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/fusion/library_ops.cpp.inc"
      >();
  attachWork(*getContext());
}
