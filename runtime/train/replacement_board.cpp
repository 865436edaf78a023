// One word of an anonymous mapping.
#include "runtime/train/replacement_board.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::train {

absl::StatusOr<std::shared_ptr<ReplacementBoard>> ReplacementBoard::Create() {
  void* memory =
      mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--replace-stragglers: no memory to share with ranks: ", std::strerror(errno), "; leave it out"));
  }
  return std::shared_ptr<ReplacementBoard>(new ReplacementBoard(static_cast<std::atomic<uint64_t>*>(memory)));
}

ReplacementBoard::~ReplacementBoard() { munmap(asked_, sizeof(*asked_)); }

uint64_t ReplacementBoard::Encode(const std::optional<Request>& request) {
  return request ? uint64_t{request->rank} << 8 | (static_cast<uint64_t>(request->place) + 1) : 0;
}

std::optional<ReplacementBoard::Request> ReplacementBoard::Decode(uint64_t number) {
  if (number == 0) return std::nullopt;
  return Request{.rank = static_cast<uint32_t>(number >> 8), .place = static_cast<Place>((number & 0xff) - 1)};
}

}  // namespace sgd::train
