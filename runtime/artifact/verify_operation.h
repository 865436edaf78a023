// Semantic checks of single instructions; see verify.h for what they guarantee.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/comm/collectives/mesh.h"

namespace sgd::artifact {

// The environment that instructions are checked in.
struct VerifyContext {
  comm::Mesh mesh;
  const flatbuffers::Vector<flatbuffers::Offset<Kernel>>* kernels = nullptr;  // may be null: none
  uint64_t private_bytes = 0;
  uint64_t window_bytes = 0;
  uint64_t constant_bytes = 0;
  uint64_t host_bytes = 0;
  const flatbuffers::Vector<flatbuffers::Offset<Channel>>* channels = nullptr;  // may be null: none
  int32_t stage = -1;          // of the program whose instructions are checked; -1 without stages
  uint64_t scratch_bytes = 0;  // of the Tiled whose steps are checked; else 0
};

// The slice exists, is of a known space and inside it. `what` names it in the message.
absl::Status VerifySlice(const VerifyContext& context, const Slice* slice, const std::string& what);
// Bytes [begin, end) of a space.
struct Range {
  Space space;
  uint64_t begin;
  uint64_t end;
};
Range RangeOf(const Slice& slice);
bool Overlap(const Range& a, const Range& b);

// Checks that `elements` elements fit in the slice, aligned, and returns the bytes they take.
absl::StatusOr<Range> Fit(const VerifyContext& context, const Slice* slice, uint64_t elements, ElementType type,
                          const std::string& what);
// VerifySlice, and not of the constant space.
absl::Status VerifyWritable(const VerifyContext& context, const Slice* slice, const std::string& what);

// No size is out of reach, and neither is their product.
absl::Status VerifyWork(const std::vector<uint64_t>& sizes);

// Messages do not say which instruction it is: the caller does.
absl::Status VerifyOperation(const VerifyContext& context, const Instruction& instruction);

}  // namespace sgd::artifact
