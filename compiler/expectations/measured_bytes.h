// Bytes of a rank, with what causes them.
#ifndef SGD_COMPILER_EXPECTATIONS_MEASURED_BYTES_H
#define SGD_COMPILER_EXPECTATIONS_MEASURED_BYTES_H

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::sgd {

struct MeasuredBytes {
  struct Cause {
    std::string what;
    uint64_t bytes = 0;
  };
  uint64_t bytes = 0;         ///< of all causes
  std::vector<Cause> causes;  ///< of more than 0 bytes each; none where they are not known one by one

  void add(std::string what, uint64_t more) {
    bytes += more;
    if (more > 0) causes.push_back({std::move(what), more});
  }
};

}  // namespace mlir::sgd

#endif
