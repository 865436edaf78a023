// Bytes and seconds as reports and explanations show them: the names of runtime/text/amounts.h in this half's style.
#ifndef SGD_COMPILER_REPORT_AMOUNTS_H
#define SGD_COMPILER_REPORT_AMOUNTS_H

#include "runtime/text/amounts.h"

namespace mlir::sgd {

/// "48.00 KiB".
inline std::string formatBytes(uint64_t bytes) { return ::sgd::text::BytesText(bytes); }

/// "14.8 us", "2.57 ms", "1.2 s".
inline std::string formatSeconds(double seconds) { return ::sgd::text::SecondsText(seconds); }

}  // namespace mlir::sgd

#endif
