// Everything of the dialect in one file: what its reference is generated from.
include "dialects/plan/attention_ops.td"
include "dialects/plan/host_call_ops.td"
include "dialects/plan/host_copy_ops.td"
include "dialects/plan/linear_algebra_ops.td"
