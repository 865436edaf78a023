// The plan's instructions for copies between a device and its host (host_copy_ops.td).
#ifndef SGD_DIALECTS_PLAN_HOST_COPY_H
#define SGD_DIALECTS_PLAN_HOST_COPY_H

#include "dialects/plan/plan_dialect.h"

#define GET_OP_CLASSES
#include "dialects/plan/host_copy_ops.h.inc"

#endif
