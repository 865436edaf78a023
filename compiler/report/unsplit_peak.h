// The memory of a step whose batch is not cut.
#ifndef SGD_COMPILER_REPORT_UNSPLIT_PEAK_H
#define SGD_COMPILER_REPORT_UNSPLIT_PEAK_H

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// IntegerAttr of the module of a compilation whose batch is cut over a sequential axis: the bytes, without constants,
/// that a rank would need for the whole batch (sgd-record-unsplit-peak).
inline constexpr llvm::StringLiteral kUnsplitPeakAttr = "sgd.unsplit_peak";

}  // namespace mlir::sgd

#endif
