// A collective as plain data: what program.fbs says of it, with window offsets, before a
// communicator prepares it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/comm/collectives/collective_kind.h"
#include "runtime/comm/collectives/element_type.h"
#include "runtime/comm/collectives/mesh.h"
#include "runtime/comm/collectives/tile_range.h"

namespace sgd::comm {

const char* ElementName(ElementType element);  // "f32"
const char* ReduceName(ReduceKind reduce);     // "add"

// One tensor of a collective; several make a bucket that is done with one set of synchronisations.
// With n ranks in the group:
//   AllReduce      source and target hold `count` elements.
//   AllGather      source is [outer, inner], target is [outer, n, inner].
//   ReduceScatter  source is [outer, n, inner], target is [outer, inner].
//   AllToAll       source has local dims `dims`; dimension `split` is cut in n parts, part r goes
//                  to rank r, and the parts are joined along `concat` in rank order; outer and
//                  inner are unused.
//   Permute        source and target hold `count` elements.
//   Broadcast      source and target hold `count` elements; position 0 of the group sends.
//   GatherRange    source is tile p of `range` at position p of the group, [outer, range.tile, inner]; target is
//                  result j, [outer, range.length, inner], at linear index j over `to_axes`.
// Offsets are bytes into the window and multiples of the element size. The target equals the source
// (AllReduce only) or does not overlap it. No target may overlap any other operand's source or
// target.
struct CollectiveOperand {
  ElementType element = ElementType::kF32;
  uint64_t source_offset = 0;
  uint64_t target_offset = 0;
  uint64_t count = 0;  // elements of the source
  uint64_t outer = 1;
  uint64_t inner = 0;
  std::vector<uint64_t> dims;
  uint32_t split = 0;
  uint32_t concat = 0;
  TileRange range;
};

struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  ReduceKind reduce = ReduceKind::kAdd;
  std::vector<AxisRef> axes;
  std::vector<AxisRef> from_axes;  // Permute only, see PermutePeers
  std::vector<AxisRef> to_axes;    // GatherRange only: the order of the results
  std::vector<CollectiveOperand> operands;
  // Offset of staging memory in the window: StagedBytes or more if the communicator packs. Overlaps no operand.
  uint64_t staging_offset = 0;
  uint64_t staging_bytes = 0;
  std::string location;  // said in errors, e.g. "train: instruction 12: mlp.py:31:8"
};

// Elements of the operand's source and target with n ranks in the group; refuses counts that
// contradict each other, dims that do not divide, and sizes beyond 2^62 bytes.
struct OperandCounts {
  uint64_t source = 0;
  uint64_t target = 0;
};
absl::StatusOr<OperandCounts> CheckOperand(CollectiveKind kind, const CollectiveOperand& operand, uint64_t group_size);

// Payload bytes that the rank sends which sends most: see sent_bytes.h. Of a spec that has passed CheckSpec.
uint64_t SentBytes(const Mesh& mesh, const CollectiveSpec& spec);

// Bytes that the rank packs which packs most: see staged_bytes.h. Of a spec that has passed CheckSpec.
uint64_t StagedBytes(const Mesh& mesh, const CollectiveSpec& spec);

// Refuses what no communicator can execute: bad axes, sizes, offsets outside a window of
// `window_bytes`, overlaps, and and/or on floating-point elements or add/mul on booleans.
absl::Status CheckSpec(const Mesh& mesh, const CollectiveSpec& spec, uint64_t window_bytes);

}  // namespace sgd::comm
