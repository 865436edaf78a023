// The plan's instruction for linear algebra (linear_algebra_ops.td).
#ifndef SGD_DIALECTS_PLAN_LINEAR_ALGEBRA_H
#define SGD_DIALECTS_PLAN_LINEAR_ALGEBRA_H

#include "dialects/plan/plan_dialect.h"
#include "dialects/sgd/linear_algebra.h"

#define GET_OP_CLASSES
#include "dialects/plan/linear_algebra_ops.h.inc"

#endif
