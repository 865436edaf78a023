#include "runtime/artifact/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

namespace sgd::artifact {

void ReserveStandardDescriptors() {
  constexpr int kLast = 2;
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= kLast) descriptor = open("/dev/null", O_RDONLY);
  if (descriptor > kLast) close(descriptor);
}

}  // namespace sgd::artifact
