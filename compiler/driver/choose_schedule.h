// The choice between schedules of a pipeline by the times that reports give.
#ifndef SGD_COMPILER_CHOOSE_SCHEDULE_H
#define SGD_COMPILER_CHOOSE_SCHEDULE_H

#include "compiler/driver/lowering.h"

namespace mlir::sgd {

/// The schedules that the recipe of `programs` leaves a choice of: several, or none. Without parts of the batch all
/// schedules are one.
std::vector<std::string> getSchedulesToChoose(ArrayRef<ModuleOp> programs, const LoweringContext& context);

/// Lowers `local`, programs of one coordinate of the sequential axis as addLocalizeStage leaves them, by each of
/// `names`, and returns the lowering with the least estimate of a step: with buffers, and without a memory limit with
/// planned memory. A schedule that fits the memory limit precedes one that does not; where none fits, the one
/// with the smallest peak is taken. Schedules that cannot be faster
/// than the best one so far are not lowered. Fails with the error of the first one if none can be lowered.
FailureOr<Lowering> chooseSchedule(Lowering local, ArrayRef<std::string> names, const LoweringContext& context);

}  // namespace mlir::sgd

#endif
