// An anonymous shared mapping: it is there as long as one of its processes, however the others ended.
#include "runtime/watch/flight_ring.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::watch {

absl::StatusOr<std::unique_ptr<FlightBoard>> FlightBoard::Create(uint32_t ranks) {
  void* memory = mmap(nullptr, ranks * sizeof(FlightRing), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--flight-recorder: no memory for ", ranks, " rings: ", std::strerror(errno), "; leave it out"));
  }
  return std::unique_ptr<FlightBoard>(new FlightBoard(static_cast<FlightRing*>(memory), ranks));
}

FlightBoard::~FlightBoard() { munmap(rings_, ranks_ * sizeof(FlightRing)); }

}  // namespace sgd::watch
