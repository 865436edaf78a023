// A gather of ranges evaluated for one rank: which rows it copies from whom, and which rows are zero.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/comm/collectives/collective_spec.h"
#include "runtime/comm/kernels/strided_copy.h"

namespace sgd::comm {

// The contribution of one member of the group; offsets are bytes within its source and within the target.
struct MemberCopy {
  uint32_t position = 0;
  uint64_t read_offset = 0;
  uint64_t write_offset = 0;
  StridedCopy copy;
};

// `rows` rows of `row_bytes` zero bytes, `stride` apart, from `offset` of the target on.
struct ZeroRows {
  uint64_t offset = 0;
  uint64_t rows = 0;
  uint64_t stride = 0;
  uint64_t row_bytes = 0;
};

struct RangePlan {
  std::vector<MemberCopy> copies;
  std::vector<ZeroRows> zeros;
};

// Of one operand of a spec that has passed CheckSpec, for the rank with index `result` over spec.to_axes. Copies
// begin with those of `position`, the rank's own in the group, or after it, so that members do not all read the
// same source at once.
RangePlan PlanRange(const CollectiveOperand& operand, uint64_t result, uint32_t position);

// Positions of the group's members that the results of `operand` of the rank with index `result` come from, this
// rank's own included.
std::vector<uint32_t> RangeSenders(const CollectiveOperand& operand, uint64_t result);

}  // namespace sgd::comm
