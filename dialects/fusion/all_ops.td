// Everything of the dialect in one file: what its reference is generated from.
include "dialects/fusion/attention_ops.td"
include "dialects/fusion/fusion_ops.td"
include "dialects/fusion/library_ops.td"
