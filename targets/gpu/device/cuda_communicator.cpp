// A collective is a list of calls, made at preparation.
#include "targets/gpu/device/cuda_communicator.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "targets/gpu/device/memory.h"

namespace sgd::cuda {
namespace {

using comm::CollectiveKind;
using comm::ElementType;
using comm::ReduceKind;

std::optional<ncclDataType_t> TypeOf(ElementType element) {
  switch (element) {
    case ElementType::kBool:
    case ElementType::kU8:
      return ncclUint8;
    case ElementType::kI8:
      return ncclInt8;
    case ElementType::kI32:
      return ncclInt32;
    case ElementType::kU32:
      return ncclUint32;
    case ElementType::kI64:
      return ncclInt64;
    case ElementType::kU64:
      return ncclUint64;
    case ElementType::kF16:
      return ncclFloat16;
    case ElementType::kBF16:
      return ncclBfloat16;
    case ElementType::kF32:
      return ncclFloat32;
    case ElementType::kF64:
      return ncclFloat64;
    default:
      return std::nullopt;
  }
}

std::optional<ncclRedOp_t> ReductionOf(ReduceKind reduce, ElementType element) {
  const bool is_bool = element == ElementType::kBool;
  switch (reduce) {
    case ReduceKind::kAdd:
      return ncclSum;
    case ReduceKind::kMul:
      return ncclProd;
    case ReduceKind::kMax:
      return ncclMax;
    case ReduceKind::kMin:
      return ncclMin;
    case ReduceKind::kAnd:
      return is_bool ? std::optional(ncclMin) : std::nullopt;
    case ReduceKind::kOr:
      return is_bool ? std::optional(ncclMax) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<uint32_t> KeyOf(const std::vector<comm::AxisRef>& axes) {
  std::vector<uint32_t> key;
  for (const comm::AxisRef& axis : axes) key.insert(key.end(), {axis.axis, axis.pre_size, axis.size});
  return key;
}

// A block of rows that lie one after the other is one row.
comm::StridedCopy Packed(const Move& move, bool packs) {
  comm::StridedCopy rows = move.rows;
  (packs ? rows.target_row_stride : rows.source_row_stride) = rows.row_bytes;
  (packs ? rows.target_block_stride : rows.source_block_stride) = rows.rows * rows.row_bytes;
  return rows;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaCommunicator>> CudaCommunicator::Create(CudaDevice& device,
                                                                           comm::Communicator& control,
                                                                           uint64_t window_bytes,
                                                                           absl::Duration timeout) {
  auto communicator = absl::WrapUnique(new CudaCommunicator(device, control, timeout));
  absl::StatusOr<std::unique_ptr<device::Arena>> window = device.Allocate(window_bytes);
  if (!window.ok()) return window.status();
  communicator->window_ = *std::move(window);
  return communicator;
}

absl::StatusOr<comm::CollectiveHandle> CudaCommunicator::Prepare(const comm::Mesh& mesh,
                                                                 const comm::CollectiveSpec& spec) {
  if (absl::Status status = comm::CheckSpec(mesh, spec, window_bytes()); !status.ok()) return status;
  const uint32_t index = static_cast<uint32_t>(collectives_.size());
  absl::StatusOr<comm::CollectivePlan> plan = comm::MakeCollectivePlan(mesh, spec, rank(), index, 0);
  if (!plan.ok()) return plan.status();
  Collective collective;
  collective.description = plan->description;
  collective.sent_bytes = plan->sent_bytes;
  if (plan->members.size() > 1) {
    absl::StatusOr<NcclGroup*> group = GroupOf(mesh, spec.axes, *plan);
    if (!group.ok()) return group.status();
    collective.group = *group;
  }
  absl::Status status =
      plan->reduces ? AddReductions(spec, *plan, collective) : AddMoves(mesh, spec, *plan, collective);
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(collective.description, ": ", status.message()));
  collectives_.push_back(std::move(collective));
  return comm::CollectiveHandle{index};
}

// The first member of each group makes its id, and every rank sees all of them.
absl::StatusOr<NcclGroup*> CudaCommunicator::GroupOf(const comm::Mesh& mesh, const std::vector<comm::AxisRef>& axes,
                                                     const comm::CollectivePlan& plan) {
  std::unique_ptr<NcclGroup>& group = groups_[KeyOf(axes)];
  if (group != nullptr) return group.get();
  if (nccl_ == nullptr) {
    absl::StatusOr<std::shared_ptr<const Nccl>> nccl = Nccl::Open();
    if (!nccl.ok()) return nccl.status();
    nccl_ = *std::move(nccl);
  }
  ncclUniqueId id{};
  std::string mine;
  if (plan.position == 0) {
    if (absl::Status status = nccl_->Check(nccl_->ncclGetUniqueId(&id), "cannot make an id"); !status.ok())
      return status;
    mine.assign(id.internal, sizeof(id.internal));
  }
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(mine, timeout_);
  if (!all.ok()) return all.status();
  const std::string& theirs = (*all)[plan.members[0]];
  if (theirs.size() != sizeof(id.internal)) return absl::InternalError("a rank gave no id of its group");
  std::copy(theirs.begin(), theirs.end(), id.internal);
  absl::StatusOr<std::unique_ptr<NcclGroup>> met =
      NcclGroup::Meet(nccl_, id, static_cast<uint32_t>(plan.members.size()), plan.position, timeout_);
  if (!met.ok()) return met.status();
  group = *std::move(met);
  return group.get();
}

absl::StatusOr<std::byte*> CudaCommunicator::Staging(uint64_t bytes) {
  if (staging_.empty() || staging_.back()->size() < bytes) {
    // Earlier collectives go on with what they have.
    absl::StatusOr<std::unique_ptr<device::Arena>> arena = device_.Allocate(bytes);
    if (!arena.ok()) return arena.status();
    staging_.push_back(*std::move(arena));
  }
  return staging_.back()->data();
}

void CudaCommunicator::AddCopy(const comm::StridedCopy& rows, const std::byte* source, std::byte* target,
                               Collective& collective) {
  if (source == target || rows.rows * rows.row_bytes == 0) return;
  const Driver& driver = device_.cuda_queues().driver();
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
    collective.actions.push_back([copy, &driver](CUstream stream) {
      return driver.Check(driver.cuMemcpy2DAsync(&copy, stream), "cannot copy");
    });
  }
}

absl::Status CudaCommunicator::AddReductions(const comm::CollectiveSpec& spec, const comm::CollectivePlan& plan,
                                             Collective& collective) {
  for (const comm::CollectiveOperand& operand : spec.operands) {
    if (operand.count == 0) continue;
    const uint64_t bytes = operand.count * comm::ElementSize(operand.element);
    std::byte* const source = window() + operand.source_offset;
    std::byte* const target = window() + operand.target_offset;
    if (collective.group == nullptr) {
      comm::StridedCopy whole;
      whole.row_bytes = whole.source_row_stride = whole.target_row_stride = bytes;
      AddCopy(whole, source, target, collective);
      continue;
    }
    const std::optional<ncclDataType_t> type = TypeOf(operand.element);
    const std::optional<ncclRedOp_t> reduce = ReductionOf(spec.reduce, operand.element);
    if (!type || !reduce) {
      return absl::UnimplementedError(
          absl::StrCat("NCCL does not reduce elements of type ", comm::ElementName(operand.element), " by '",
                       comm::ReduceName(spec.reduce), "'; convert them, e.g. to i32, before"));
    }
    if (spec.kind == CollectiveKind::kAllReduce) {
      collective.actions.push_back([=, nccl = nccl_, group = collective.group](CUstream stream) {
        return nccl->Check(nccl->ncclAllReduce(source, target, operand.count, *type, *reduce, group->get(), stream),
                           "all-reduce");
      });
      continue;
    }
    absl::StatusOr<std::byte*> staging = Staging(bytes);
    if (!staging.ok()) return staging.status();
    AddReduceScatter(operand, *type, *reduce, plan.members.size(), *staging, collective);
  }
  return absl::OkStatus();
}

// NCCL wants the parts of ranks one after the other; the source has them side by side in every row.
void CudaCommunicator::AddReduceScatter(const comm::CollectiveOperand& operand, ncclDataType_t type, ncclRedOp_t reduce,
                                        uint64_t ranks, std::byte* staging, Collective& collective) {
  const std::byte* source = window() + operand.source_offset;
  std::byte* const target = window() + operand.target_offset;
  if (operand.outer > 1) {
    comm::StridedCopy rows;
    rows.blocks = ranks;
    rows.rows = operand.outer;
    rows.row_bytes = rows.source_block_stride = rows.target_row_stride =
        operand.inner * comm::ElementSize(operand.element);
    rows.source_row_stride = ranks * rows.row_bytes;
    rows.target_block_stride = operand.outer * rows.row_bytes;
    AddCopy(rows, source, staging, collective);
    source = staging;
  }
  const uint64_t count = operand.outer * operand.inner;
  collective.actions.push_back([=, nccl = nccl_, group = collective.group](CUstream stream) {
    return nccl->Check(nccl->ncclReduceScatter(source, target, count, type, reduce, group->get(), stream),
                       "reduce-scatter");
  });
}

// The reverse: what comes one after the other goes side by side into every row.
absl::Status CudaCommunicator::AddGather(const comm::CollectiveOperand& operand, uint64_t ranks,
                                         Collective& collective) {
  const uint64_t bytes = operand.count * comm::ElementSize(operand.element);
  if (bytes == 0) return absl::OkStatus();
  const std::byte* const source = window() + operand.source_offset;
  std::byte* const target = window() + operand.target_offset;
  std::byte* gathered = target;
  if (operand.outer > 1) {
    absl::StatusOr<std::byte*> staging = Staging(ranks * bytes);
    if (!staging.ok()) return staging.status();
    gathered = *staging;
  }
  collective.actions.push_back([=, nccl = nccl_, group = collective.group](CUstream stream) {
    return nccl->Check(nccl->ncclAllGather(source, gathered, bytes, ncclUint8, group->get(), stream), "all-gather");
  });
  if (operand.outer == 1) return absl::OkStatus();
  comm::StridedCopy rows;
  rows.blocks = ranks;
  rows.rows = operand.outer;
  rows.row_bytes = rows.source_row_stride = rows.target_block_stride = bytes / operand.outer;
  rows.source_block_stride = bytes;
  rows.target_row_stride = ranks * rows.row_bytes;
  AddCopy(rows, gathered, target, collective);
  return absl::OkStatus();
}

absl::Status CudaCommunicator::AddMoves(const comm::Mesh& mesh, const comm::CollectiveSpec& spec,
                                        const comm::CollectivePlan& plan, Collective& collective) {
  if (spec.kind == CollectiveKind::kAllGather && collective.group != nullptr) {
    for (const comm::CollectiveOperand& operand : spec.operands) {
      absl::Status status = AddGather(operand, plan.members.size(), collective);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<MoveList> list = MovesOf(mesh, spec, plan);
  if (!list.ok()) return list.status();
  const Driver& driver = device_.cuda_queues().driver();
  for (const comm::ZeroRows& zeros : list->zeros) {
    if (zeros.rows * zeros.row_bytes == 0) continue;
    const CUdeviceptr target = AddressOf(window() + zeros.offset);
    const uint64_t pitch = std::max(zeros.stride, zeros.row_bytes);
    collective.actions.push_back([=, &driver](CUstream stream) {
      return driver.Check(driver.cuMemsetD2D8Async(target, pitch, 0, zeros.row_bytes, zeros.rows, stream),
                          "cannot clear");
    });
  }
  uint64_t staged = 0;
  for (const Move& move : list->moves) {
    if (move.from == move.to) {
      AddCopy(move.rows, window() + move.source_offset, window() + move.target_offset, collective);
    } else if (!(move.from == plan.position ? move.IsDenseAtSource() : move.IsDenseAtTarget())) {
      staged += move.bytes();
    }
  }
  std::byte* staging = nullptr;
  if (staged > 0) {
    absl::StatusOr<std::byte*> memory = Staging(staged);
    if (!memory.ok()) return memory.status();
    staging = *memory;
  }
  AddExchange(list->moves, plan.position, staging, collective);
  return absl::OkStatus();
}

// Rows that do not lie together are packed before they are sent and unpacked after they have come.
void CudaCommunicator::AddExchange(const std::vector<Move>& moves, uint32_t position, std::byte* staging,
                                   Collective& collective) {
  struct Message {
    std::byte* memory;
    uint64_t bytes;
    int peer;
    bool is_sent;
  };
  std::vector<Message> messages;
  std::vector<std::pair<const Move*, std::byte*>> unpacked;
  for (const Move& move : moves) {
    if (move.from == move.to) continue;
    const bool is_sent = move.from == position;
    std::byte* memory = window() + (is_sent ? move.source_offset : move.target_offset);
    if (!(is_sent ? move.IsDenseAtSource() : move.IsDenseAtTarget())) {
      std::byte* packed = std::exchange(staging, staging + move.bytes());
      if (is_sent) {
        AddCopy(Packed(move, true), memory, packed, collective);
      } else {
        unpacked.emplace_back(&move, packed);
      }
      memory = packed;
    }
    messages.push_back({memory, move.bytes(), static_cast<int>(is_sent ? move.to : move.from), is_sent});
  }
  if (messages.empty()) return;
  collective.actions.push_back([messages, nccl = nccl_, group = collective.group](CUstream stream) {
    absl::Status status = nccl->Check(nccl->ncclGroupStart(), "exchange");
    for (const Message& message : messages) {
      if (!status.ok()) break;
      status = nccl->Check(
          message.is_sent
              ? nccl->ncclSend(message.memory, message.bytes, ncclUint8, message.peer, group->get(), stream)
              : nccl->ncclRecv(message.memory, message.bytes, ncclUint8, message.peer, group->get(), stream),
          "exchange");
    }
    status.Update(nccl->Check(nccl->ncclGroupEnd(), "exchange"));
    return status;
  });
  for (const auto& [move, packed] : unpacked) {
    AddCopy(Packed(*move, false), packed, window() + move->target_offset, collective);
  }
}

absl::Status CudaCommunicator::Enqueue(comm::CollectiveHandle handle) {
  const Collective& collective = collectives_[handle.index];
  const CUstream stream = device_.cuda_queues().used();
  absl::Status status;
  for (const Action& action : collective.actions) {
    status = action(stream);
    if (status.ok() && collective.group != nullptr) status = collective.group->Settle(timeout_);
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(collective.description, ": ", status.message()));
  }
  sent_bytes_ += collective.sent_bytes;
  return status;
}

absl::Status CudaCommunicator::Poll() {
  for (const auto& [axes, group] : groups_) {
    if (group == nullptr) continue;
    if (absl::Status status = group->Poll(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CudaCommunicator::Execute(comm::CollectiveHandle handle, absl::Duration timeout) {
  if (absl::Status status = Start(handle, timeout); !status.ok()) return status;
  return Wait(handle, timeout);
}

absl::Status CudaCommunicator::Start(comm::CollectiveHandle handle, absl::Duration timeout) {
  collectives_[handle.index].has_started = true;
  return Enqueue(handle);
}

absl::Status CudaCommunicator::Wait(comm::CollectiveHandle handle, absl::Duration timeout) {
  Collective& collective = collectives_[handle.index];
  if (!std::exchange(collective.has_started, false)) {
    return absl::FailedPreconditionError(absl::StrCat(collective.description, " is waited for, but was not started"));
  }
  const absl::Time deadline = absl::Now() + timeout;
  while (true) {
    absl::StatusOr<bool> is_idle = device_.cuda_queues().IsIdle();
    if (!is_idle.ok()) return is_idle.status();
    if (*is_idle) return absl::OkStatus();
    if (absl::Status status = Poll(); !status.ok()) return status;
    if (absl::Now() > deadline)
      return absl::DeadlineExceededError(absl::StrCat(collective.description, ": peers have not come"));
  }
}

void CudaCommunicator::Abort(const absl::Status& cause) {
  control_.Abort(cause);
  for (const auto& [axes, group] : groups_) {
    if (group != nullptr) group->Abort();
  }
}

}  // namespace sgd::cuda
