// Local rule of convolutions whose spatial dimensions are sharded.
#ifndef SGD_PASSES_PARTITION_CONVOLUTION_RULES_H
#define SGD_PASSES_PARTITION_CONVOLUTION_RULES_H

#include "passes/partition/local_rules.h"

namespace mlir::sgd {

/// Gives the convolution the part of its lhs that a rank's windows cover: halos where the result is sharded, the
/// elements that meet its part of the rhs where that is (the result is then partial). In place.
void localizeConvolution(ConvolutionOp op, const LocalisedOp& localised, ReshardEmitter& emitter);

}  // namespace mlir::sgd

#endif
