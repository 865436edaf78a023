// The plan's instructions for attention by a library (attention_ops.td).
#ifndef SGD_DIALECTS_PLAN_ATTENTION_H
#define SGD_DIALECTS_PLAN_ATTENTION_H

#include "dialects/plan/plan_dialect.h"

#define GET_OP_CLASSES
#include "dialects/plan/attention_ops.h.inc"

#endif
