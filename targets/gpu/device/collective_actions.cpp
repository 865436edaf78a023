// Copies into the form that NCCL wants, one group of its calls, copies out of it.
#include "targets/gpu/device/collective_actions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/collectives/staged_bytes.h"
#include "targets/gpu/device/collective_moves.h"
#include "targets/gpu/device/memory/memory.h"
#include "targets/gpu/device/nccl/nccl_types.h"

namespace sgd::cuda {
namespace {

using comm::CollectiveKind;
using comm::CollectiveOperand;

// A block of contiguous rows is one row.
comm::StridedCopy Packed(const Move& move, bool packs) {
  comm::StridedCopy rows = move.rows;
  (packs ? rows.target_row_stride : rows.source_row_stride) = rows.row_bytes;
  (packs ? rows.target_block_stride : rows.source_block_stride) = rows.rows * rows.row_bytes;
  return rows;
}

// Collects the parts of a collective; Finish puts them in their order.
class ActionBuilder {
 public:
  // Packs at `staging`, of StagedBytes.
  ActionBuilder(const ActionPlace& place, std::byte* staging) : place_(place), staging_(staging) {}

  absl::Status AddReductions(const comm::CollectiveSpec& spec, uint64_t ranks);
  void AddGathers(const comm::CollectiveSpec& spec, uint64_t ranks);
  void AddMoves(const MoveList& list, uint32_t position);
  std::vector<Action> Finish(CollectiveKind kind);

 private:
  using NcclCall = std::function<ncclResult_t(CUstream stream)>;

  std::byte* Take(uint64_t bytes) { return std::exchange(staging_, staging_ + comm::PieceBytes(bytes)); }
  // Copies rows between addresses of the device.
  void AddCopy(const comm::StridedCopy& rows, const std::byte* source, std::byte* target, std::vector<Action>& actions);
  void AddReduceScatter(const CollectiveOperand& operand, ncclDataType_t type, ncclRedOp_t reduce, uint64_t ranks);
  void AddMessage(const Move& move, bool is_sent);

  const ActionPlace& place_;
  std::byte* staging_;  // what is left of it
  std::vector<Action> before_, after_;
  std::vector<NcclCall> calls_;
};

void ActionBuilder::AddCopy(const comm::StridedCopy& rows, const std::byte* source, std::byte* target,
                            std::vector<Action>& actions) {
  if (source == target || rows.rows * rows.row_bytes == 0) return;
  for (uint64_t block = 0; block < rows.blocks; ++block) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = AddressOf(source) + block * rows.source_block_stride;
    copy.dstDevice = AddressOf(target) + block * rows.target_block_stride;
    copy.WidthInBytes = rows.row_bytes;
    copy.Height = rows.rows;
    // Of a single row the distance does not matter, but the driver wants one.
    copy.srcPitch = std::max(rows.source_row_stride, rows.row_bytes);
    copy.dstPitch = std::max(rows.target_row_stride, rows.row_bytes);
    actions.push_back([copy, driver = place_.driver](CUstream stream) {
      return driver->Check(driver->cuMemcpy2DAsync(&copy, stream), "cannot copy");
    });
  }
}

absl::Status ActionBuilder::AddReductions(const comm::CollectiveSpec& spec, uint64_t ranks) {
  for (const CollectiveOperand& operand : spec.operands) {
    if (operand.count == 0) continue;
    std::byte* const source = place_.window + operand.source_offset;
    std::byte* const target = place_.window + operand.target_offset;
    if (ranks == 1) {
      comm::StridedCopy whole;
      whole.row_bytes = whole.source_row_stride = whole.target_row_stride =
          operand.count * comm::ElementSize(operand.element);
      AddCopy(whole, source, target, before_);
      continue;
    }
    const std::optional<ncclDataType_t> type = NcclTypeOf(operand.element);
    const std::optional<ncclRedOp_t> reduce = NcclReductionOf(spec.reduce, operand.element);
    if (!type || !reduce) {
      return absl::UnimplementedError(
          absl::StrCat("NCCL does not reduce elements of type ", comm::ElementName(operand.element), " by '",
                       comm::ReduceName(spec.reduce), "'; convert them, e.g. to i32, before"));
    }
    if (spec.kind == CollectiveKind::kReduceScatter) {
      AddReduceScatter(operand, *type, *reduce, ranks);
      continue;
    }
    calls_.push_back([=, count = operand.count, nccl = place_.nccl, group = place_.group](CUstream stream) {
      return nccl->ncclAllReduce(source, target, count, *type, *reduce, group->get(), stream);
    });
  }
  return absl::OkStatus();
}

// NCCL wants the parts of ranks one after the other; the source has them side by side in every row.
void ActionBuilder::AddReduceScatter(const CollectiveOperand& operand, ncclDataType_t type, ncclRedOp_t reduce,
                                     uint64_t ranks) {
  const std::byte* source = place_.window + operand.source_offset;
  std::byte* const target = place_.window + operand.target_offset;
  if (operand.outer > 1) {
    std::byte* const packed = Take(operand.count * comm::ElementSize(operand.element));
    comm::StridedCopy rows;
    rows.blocks = ranks;
    rows.rows = operand.outer;
    rows.row_bytes = rows.source_block_stride = rows.target_row_stride =
        operand.inner * comm::ElementSize(operand.element);
    rows.source_row_stride = ranks * rows.row_bytes;
    rows.target_block_stride = operand.outer * rows.row_bytes;
    AddCopy(rows, source, packed, before_);
    source = packed;
  }
  const uint64_t count = operand.outer * operand.inner;
  calls_.push_back([=, nccl = place_.nccl, group = place_.group](CUstream stream) {
    return nccl->ncclReduceScatter(source, target, count, type, reduce, group->get(), stream);
  });
}

// The reverse: what comes one after the other goes side by side into every row.
void ActionBuilder::AddGathers(const comm::CollectiveSpec& spec, uint64_t ranks) {
  for (const CollectiveOperand& operand : spec.operands) {
    const uint64_t bytes = operand.count * comm::ElementSize(operand.element);
    if (bytes == 0) continue;
    const std::byte* const source = place_.window + operand.source_offset;
    std::byte* const target = place_.window + operand.target_offset;
    std::byte* const gathered = operand.outer > 1 ? Take(ranks * bytes) : target;
    calls_.push_back([=, nccl = place_.nccl, group = place_.group](CUstream stream) {
      return nccl->ncclAllGather(source, gathered, bytes, ncclUint8, group->get(), stream);
    });
    if (operand.outer == 1) continue;
    comm::StridedCopy rows;
    rows.blocks = ranks;
    rows.rows = operand.outer;
    rows.row_bytes = rows.source_row_stride = rows.target_block_stride = bytes / operand.outer;
    rows.source_block_stride = bytes;
    rows.target_row_stride = ranks * rows.row_bytes;
    AddCopy(rows, gathered, target, after_);
  }
}

// Rows that are not contiguous are packed before they are sent and unpacked after they have come.
void ActionBuilder::AddMessage(const Move& move, bool is_sent) {
  std::byte* memory = place_.window + (is_sent ? move.source_offset : move.target_offset);
  if (!(is_sent ? move.IsDenseAtSource() : move.IsDenseAtTarget())) {
    std::byte* const packed = Take(move.bytes());
    if (is_sent) {
      AddCopy(Packed(move, true), memory, packed, before_);
    } else {
      AddCopy(Packed(move, false), packed, memory, after_);
    }
    memory = packed;
  }
  const int peer = static_cast<int>(is_sent ? move.to : move.from);
  calls_.push_back([=, bytes = move.bytes(), nccl = place_.nccl, group = place_.group](CUstream stream) {
    return is_sent ? nccl->ncclSend(memory, bytes, ncclUint8, peer, group->get(), stream)
                   : nccl->ncclRecv(memory, bytes, ncclUint8, peer, group->get(), stream);
  });
}

void ActionBuilder::AddMoves(const MoveList& list, uint32_t position) {
  for (const comm::ZeroRows& zeros : list.zeros) {
    if (zeros.rows * zeros.row_bytes == 0) continue;
    const CUdeviceptr target = AddressOf(place_.window + zeros.offset);
    const uint64_t pitch = std::max(zeros.stride, zeros.row_bytes);
    before_.push_back([=, driver = place_.driver](CUstream stream) {
      return driver->Check(driver->cuMemsetD2D8Async(target, pitch, 0, zeros.row_bytes, zeros.rows, stream),
                           "cannot clear");
    });
  }
  for (const Move& move : list.moves) {
    if (move.from == move.to) {
      AddCopy(move.rows, place_.window + move.source_offset, place_.window + move.target_offset, before_);
    } else {
      AddMessage(move, move.from == position);
    }
  }
}

std::vector<Action> ActionBuilder::Finish(CollectiveKind kind) {
  std::vector<Action> actions = std::move(before_);
  if (!calls_.empty()) {
    actions.push_back(
        [calls = std::move(calls_), nccl = place_.nccl, what = comm::CollectiveName(kind)](CUstream stream) {
          absl::Status status = nccl->Check(nccl->ncclGroupStart(), what);
          for (const NcclCall& call : calls) {
            if (status.ok()) status = nccl->Check(call(stream), what);
          }
          status.Update(nccl->Check(nccl->ncclGroupEnd(), what));
          return status;
        });
  }
  actions.insert(actions.end(), std::make_move_iterator(after_.begin()), std::make_move_iterator(after_.end()));
  return actions;
}

}  // namespace

absl::StatusOr<std::vector<Action>> MakeActions(const ActionPlace& place, const comm::Mesh& mesh,
                                                const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan) {
  const uint64_t needed = comm::StagedBytes(mesh, spec);
  if (spec.staging_bytes < needed) {
    return absl::InvalidArgumentError(
        absl::StrCat("needs ", needed, " bytes of staging, the artifact plans ", spec.staging_bytes));
  }
  ActionBuilder builder(place, place.window + spec.staging_offset);
  const uint64_t ranks = plan.members.size();
  absl::Status status;
  if (plan.reduces) {
    status = builder.AddReductions(spec, ranks);
  } else if (spec.kind == CollectiveKind::kAllGather && ranks > 1) {
    builder.AddGathers(spec, ranks);
  } else {
    absl::StatusOr<MoveList> list = MovesOf(mesh, spec, plan);
    if (!list.ok()) return list.status();
    builder.AddMoves(*list, plan.position);
  }
  if (!status.ok()) return status;
  return builder.Finish(spec.kind);
}

}  // namespace sgd::cuda
