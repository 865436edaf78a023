// Where a search begins, and how it goes on from a candidate.
#ifndef SGD_COMPILER_AUTO_SHARDING_NEIGHBOURS_H
#define SGD_COMPILER_AUTO_SHARDING_NEIGHBOURS_H

#include "compiler/auto_sharding/candidate.h"

namespace mlir::sgd {

/// The whole step on one rank, without annotations.
Candidate getOneRank(const StepFacts& facts);

/// One of each kind: data parallelism with each stage of ZeRO, the text's own annotations on some meshes of its axes,
/// pipelines of each number of stages, tensor parallelism by each group of dimensions and by sets of them that fit
/// together, and experts' form of it over the data axis. Some are not sensible.
std::vector<Candidate> findSeeds(const StepFacts& facts, int64_t ranks);

/// Candidates that differ in one respect: a group of dimensions is sharded or not, a prime factor of the ranks is on
/// another axis, another stage of ZeRO, twice or half as many parts of the batch, another schedule. `groups` are those
/// that one without a model axis gets with it; null: it gets none. A batch that is whole stays so unless the candidate
/// is short of memory: in smaller parts more is in caches by the model, but measured steps are longer. Of the text's
/// own annotations, other meshes alone.
std::vector<Candidate> findNeighbours(const Candidate& candidate, const StepFacts& facts,
                                      const std::vector<GroupAxis>* groups, bool isShortOfMemory);

/// Seconds that a step takes at least, where one rank takes at least `oneRank`: what each rank computes, with the waits
/// of the schedule that has fewest.
double getBound(const Candidate& candidate, const StepFacts& facts, double oneRank);

}  // namespace mlir::sgd

#endif
