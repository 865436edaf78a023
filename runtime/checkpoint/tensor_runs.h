// Parts of tensors as text, for ranks that have no memory in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "runtime/checkpoint/sharded_file.h"

namespace sgd::checkpoint {

// Part `part` of `parts` of this rank's shard, with where its bytes belong in the global tensor.
std::string RunsOf(const LocalTensor& tensor, uint32_t part, uint32_t parts);

// Puts such a part where it belongs. Internal for a text of another tensor.
absl::Status PutRuns(std::string_view text, std::span<std::byte> global);

}  // namespace sgd::checkpoint
