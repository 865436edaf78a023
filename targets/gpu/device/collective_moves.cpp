// Every rank's plan says what it reads of whom; what a rank sends is what the plans of its peers read of it.
#include "targets/gpu/device/collective_moves.h"

#include <utility>

namespace sgd::cuda {
namespace {

bool IsDense(const comm::StridedCopy& rows, uint64_t row_stride, uint64_t block_stride) {
  const uint64_t block = rows.rows * rows.row_bytes;
  return (rows.rows == 1 || row_stride == rows.row_bytes) && (rows.blocks == 1 || block_stride == block);
}

// The moves that the rank of `plan` receives.
void AddReceived(const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan, std::vector<Move>& moves) {
  for (const comm::OperandPlan& operand : plan.operands) {
    for (uint32_t sender : plan.senders) {
      moves.push_back({sender, plan.position, operand.source_offset + operand.read_offset,
                       operand.target_offset + operand.write_offset + sender * operand.copy_member_stride,
                       operand.copy});
    }
    for (const comm::MemberCopy& copy : operand.range.copies) {
      moves.push_back({copy.position, plan.position, operand.source_offset + copy.read_offset,
                       operand.target_offset + copy.write_offset, copy.copy});
    }
  }
}

}  // namespace

bool Move::IsDenseAtSource() const { return IsDense(rows, rows.source_row_stride, rows.source_block_stride); }
bool Move::IsDenseAtTarget() const { return IsDense(rows, rows.target_row_stride, rows.target_block_stride); }

absl::StatusOr<MoveList> MovesOf(const comm::Mesh& mesh, const comm::CollectiveSpec& spec,
                                 const comm::CollectivePlan& plan) {
  MoveList list;
  for (uint32_t position = 0; position < plan.members.size(); ++position) {
    absl::StatusOr<comm::CollectivePlan> theirs = comm::MakeCollectivePlan(mesh, spec, plan.members[position], 0, 0);
    if (!theirs.ok()) return theirs.status();
    std::vector<Move> received;
    AddReceived(spec, *theirs, received);
    for (const Move& move : received) {
      const bool is_mine = move.from == plan.position || move.to == plan.position;
      if (is_mine && move.bytes() > 0) list.moves.push_back(move);
    }
  }
  for (const comm::OperandPlan& operand : plan.operands) {
    for (comm::ZeroRows zeros : operand.range.zeros) {
      zeros.offset += operand.target_offset;
      list.zeros.push_back(zeros);
    }
  }
  return list;
}

}  // namespace sgd::cuda
