// Bytes and seconds as reports and explanations show them.
#ifndef SGD_COMPILER_REPORT_AMOUNTS_H
#define SGD_COMPILER_REPORT_AMOUNTS_H

#include <cstdint>
#include <string>

namespace mlir::sgd {

/// "48.00 KiB".
std::string formatBytes(uint64_t bytes);

/// "14.8 us", "2.57 ms", "1.2 s".
std::string formatSeconds(double seconds);

}  // namespace mlir::sgd

#endif
