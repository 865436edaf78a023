// The dialect of kernels and library calls: classes of its ops. Attention and calls with epilogues have headers of
// their own.
#ifndef SGD_DIALECTS_FUSION_FUSION_DIALECT_H
#define SGD_DIALECTS_FUSION_FUSION_DIALECT_H

#include "dialects/sgd/sgd_dialect.h"

#include "dialects/fusion/fusion_dialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/fusion/fusion_ops.h.inc"

#endif
