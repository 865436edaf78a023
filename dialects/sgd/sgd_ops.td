// Structured ops of the graph level, by family. Every op is free of side effects; shapes are static.
#ifndef SGD_DIALECTS_SGD_OPS_TD
#define SGD_DIALECTS_SGD_OPS_TD

include "dialects/sgd/control_flow_ops.td"
include "dialects/sgd/mesh_ops.td"
include "dialects/sgd/index_ops.td"
include "dialects/sgd/contraction_ops.td"
include "dialects/sgd/order_ops.td"
include "dialects/sgd/total_ops.td"

#endif
