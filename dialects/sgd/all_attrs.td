// All attributes of the dialect in one file: what their parser is generated from.
include "dialects/sgd/roles.td"
include "dialects/sgd/sgd_attrs.td"
