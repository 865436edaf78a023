// Which stage each parameter is on where nobody says so.
#ifndef SGD_PASSES_TIME_STAGES_BALANCE_H
#define SGD_PASSES_TIME_STAGES_BALANCE_H

#include "passes/time/stages/placement.h"
#include "passes/timing/op_times.h"

namespace mlir::sgd {

/// The time of neighbouring parameters together, and the bytes sent if a cut separates them.
struct Piece {
  double seconds = 0;
  int64_t bytes = 0;  ///< sent from here to behind it when a stage ends here
};

/// The stage of each piece, in order: no stage takes more than a tenth longer than the slowest must, and of such ways
/// the one that sends fewest bytes. Every stage has a piece while there are enough.
SmallVector<unsigned> balance(ArrayRef<Piece> pieces, unsigned numStages);

/// By parameter of `flow`, in the order of the forward pass: what is computed with it, and what is sent behind it.
SmallVector<Piece> getPieces(const ProgramFlow& flow, const OpTimes& times);

/// All parameters of `flow`: those in `given` stay there, and others are with what they are first used with. Where none
/// is given, `pieces`, those of the flow, are balanced.
DenseMap<Value, unsigned> placeParameters(const ProgramFlow& flow, const DenseMap<Value, unsigned>& given,
                                          unsigned numStages, ArrayRef<Piece> pieces);

}  // namespace mlir::sgd

#endif
