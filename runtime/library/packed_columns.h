// The layout in which the compiler packs an operand of a matmul that runs many times, and where it pays on CPUs.
#pragma once

#include <cstdint>

namespace sgd::library {

// Columns of a block, in which those of one row are contiguous and rows follow each other: whole panels of every
// instruction set.
inline constexpr uint64_t kPackedColumns = 32;
// Multiplications of a matmul that threads share, worth two starts of the threads, some 60 microseconds of one thread.
// Smaller ones are cut into tiles.
inline constexpr uint64_t kLeastSharedWork = uint64_t{1} << 23;

}  // namespace sgd::library
