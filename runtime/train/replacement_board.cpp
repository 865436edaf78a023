// One word of an anonymous mapping.
#include "runtime/train/replacement_board.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::train {

absl::StatusOr<std::shared_ptr<ReplacementBoard>> ReplacementBoard::Create() {
  void* memory =
      mmap(nullptr, sizeof(std::atomic<uint32_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("--replace-stragglers: no memory to share with ranks: ", std::strerror(errno), "; leave it out"));
  }
  return std::shared_ptr<ReplacementBoard>(new ReplacementBoard(static_cast<std::atomic<uint32_t>*>(memory)));
}

ReplacementBoard::~ReplacementBoard() { munmap(asked_, sizeof(*asked_)); }

std::optional<uint32_t> ReplacementBoard::Take() {
  const uint32_t asked = asked_->exchange(0);
  return asked == 0 ? std::nullopt : std::optional(asked - 1);
}

}  // namespace sgd::train
