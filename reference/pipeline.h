// The stages of a pipeline, evaluated together.
#ifndef SGD_REFERENCE_PIPELINE_H
#define SGD_REFERENCE_PIPELINE_H

#include "reference/evaluate.h"

namespace mlir::sgd::reference {

/// Results of the functions of one program's stages, by stage, each as of `evaluate` on its `arguments`; `ranks` is the
/// size of the mesh, whose first axis is the stages'. Ranks of other stages take part in a function's evaluation, and
/// what they compute means nothing. Channels have room for any number of messages. Fails where a function does, where
/// all stages wait for messages, and where one is never received.
FailureOr<std::vector<std::vector<RankTensors>>> evaluatePipeline(ArrayRef<func::FuncOp> stages,
                                                                  std::vector<std::vector<RankTensors>> arguments,
                                                                  int64_t ranks);

}  // namespace mlir::sgd::reference

#endif
