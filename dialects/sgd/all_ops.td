// Everything of the dialect in one file: what its reference is generated from.
include "dialects/sgd/compression_ops.td"
include "dialects/sgd/grouped_dot_ops.td"
include "dialects/sgd/host_call_ops.td"
include "dialects/sgd/linear_algebra_ops.td"
include "dialects/sgd/roles.td"
include "dialects/sgd/sgd_ops.td"
