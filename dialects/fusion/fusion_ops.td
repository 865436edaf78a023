// Kernels and the contractions beside them; attention and library calls have headers of their own.
#ifndef SGD_DIALECTS_FUSION_OPS_TD
#define SGD_DIALECTS_FUSION_OPS_TD

include "dialects/fusion/cluster_ops.td"
include "dialects/fusion/contraction_ops.td"

#endif
