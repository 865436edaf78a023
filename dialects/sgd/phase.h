// Which part of a training step an op belongs to, and of which micro-batch: for timelines. Marks are metadata of
// locations, so that they follow ops through every rewrite.
#ifndef SGD_DIALECTS_SGD_PHASE_H
#define SGD_DIALECTS_SGD_PHASE_H

#include <cstdint>
#include <optional>

#include "mlir/IR/Location.h"

namespace mlir::sgd {

/// In the order of artifact::Phase.
enum class Phase { None, Forward, Backward, WeightGradients };

/// Iteration i of the outermost loop around an op is for part `first` + i * `stride` of the batch. Without a loop the
/// op is for part `first`.
struct PartOfBatch {
  int64_t first = 0;
  int64_t stride = 1;
  bool operator==(const PartOfBatch&) const = default;
};

/// `location` with the mark. Of several marks of one kind the outermost one, which was set last, counts.
Location markPhase(Location location, Phase phase);
Location markPart(Location location, PartOfBatch part);

/// The marked phase, else the one that the names of JAX's transformations tell (getScope): backward in a transposed
/// scope, forward in another differentiated one.
Phase getPhase(Location location);
std::optional<PartOfBatch> getPart(Location location);

}  // namespace mlir::sgd

#endif
