// Messages between the stages of a pipeline, whose axis is the first of the mesh.
#ifndef SGD_PASSES_COST_MESSAGE_COST_H
#define SGD_PASSES_COST_MESSAGE_COST_H

#include "passes/cost/cost_model.h"

namespace mlir::sgd {

/// The innermost links that join every rank of stage `from` with its peer in stage `to`, of `stageRanks` ranks each.
const LinkClass& getMessageLink(const Topology& topology, int64_t stageRanks, int64_t from, int64_t to);

/// That a message of `bytes` takes from stage `from` to stage `to` while all ranks of the stage send.
double getMessageSeconds(const CostModel& cost, int64_t from, int64_t to, double bytes);

/// Ranks that copy what they send and receive themselves.
bool sharesMemory(const LinkClass& link);

/// How long a message is on its way while its sender goes on. Ranks that share memory have copied it before: what is
/// left is the time in which the receiver sees it.
double getTransitSeconds(const CostModel& cost, int64_t from, int64_t to, double bytes);

}  // namespace mlir::sgd

#endif
