// Copies that leave the caches alone: for results so large that they would push out what is still to
// be read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sgd::comm {

// Copies `bytes` from `source` to `target`, which do not overlap, past the caches where the processor
// can.
void StreamCopy(std::byte* target, const std::byte* source, uint64_t bytes);

// Orders streaming stores before later stores of this thread: needed before any flag is set.
void FenceStreams();

}  // namespace sgd::comm
