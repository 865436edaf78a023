// How a message is cut between ranks that would all send it whole. No IR but types.
#ifndef SGD_PASSES_TIME_STAGES_MESSAGE_PARTS_H
#define SGD_PASSES_TIME_STAGES_MESSAGE_PARTS_H

#include "mlir/IR/BuiltinTypes.h"
#include "passes/cost/cost_model.h"

namespace mlir::sgd {

struct MessageParts {
  AxisParts axes;              ///< a part for each rank over these; none: the message stays whole
  std::optional<int64_t> dim;  ///< that is cut; none: all elements, in their order
  double wholeSeconds = 0;     ///< of the message as it is
  double partSeconds = 0;      ///< of a part, and of what cuts it and gathers it again; infinite where nothing divides

  bool isCut() const { return !axes.empty(); }
  int64_t getCount() const { return getGroupSize(axes); }
};

/// The best way to send a tensor of `type` from stage `from` to stage `to` that ranks over `replicated` have alike. Of
/// a part the elements are next to each other: it is cut along its first dimension that has several, or where that does
/// not divide, as one dimension of all elements.
MessageParts chooseMessageParts(RankedTensorType type, int64_t from, int64_t to, llvm::ArrayRef<AxisPart> replicated,
                                const CostModel& cost);

}  // namespace mlir::sgd

#endif
