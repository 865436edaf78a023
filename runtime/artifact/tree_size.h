// The size of a FlatBuffer when it is read as a tree. Tables and vectors may be shared by those that name them, so
// that a small file can hold any number of them, and walking it would never end.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include "runtime/artifact/container.h"

namespace sgd::artifact {

// Whether the table `type` at the root of `bytes`, which are aligned as any scalar, is well formed as far as its
// offsets, lengths and the alignment of elements say, not nested deeper than `most_depth`, and has at most `most_bytes`
// of tables, vectors and strings, each counted as often as it is named. Takes time for that many bytes at most.
bool FitsAsTree(Bytes bytes, const flatbuffers::TypeTable& type, uint64_t most_bytes, uint32_t most_depth);

}  // namespace sgd::artifact
