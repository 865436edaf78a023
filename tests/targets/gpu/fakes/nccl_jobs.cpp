// Operations check that their peers do the same before they send.
#include "tests/targets/gpu/fakes/nccl_jobs.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/targets/gpu/fakes/nccl_reductions.h"
#include "tests/targets/gpu/fakes/setting.h"

namespace sgd::emulated {

Job::Job(Comm& comm, const char* call, int type, int reduce) : comm_(comm), owned_(comm.shared_from_this()) {
  std::snprintf(header_.call, sizeof(header_.call), "%s", call);
  header_.type = type;
  header_.reduce = reduce;
}

Job::~Job() {
  if (is_recorded_) --comm_.recorded;
}

void Job::SetRecorded() {
  is_recorded_ = true;
  ++comm_.recorded;
}

void Job::CheckOperands(const void* source, uint64_t source_bytes, const void* target, uint64_t target_bytes) {
  const Registered* from = FindRegistered(comm_, source, source_bytes);
  const Registered* to = FindRegistered(comm_, target, target_bytes);
  header_.registered = (from != nullptr) + 2 * (to != nullptr);
  if (from != nullptr && from->is_symmetric) header_.source = reinterpret_cast<uint64_t>(source) - from->begin;
  if (to != nullptr && to->is_symmetric) header_.target = reinterpret_cast<uint64_t>(target) - to->begin;
}

CUresult Job::Advance() {
  if (comm_.is_aborted) return CUDA_SUCCESS;  // as a kernel that is told to leave
  if (!std::exchange(has_begun_, true)) Begin();
  if (comm_.error != ncclSuccess) return CUDA_ERROR_NOT_READY;
  comm_.channels->Advance(headers_out_);
  if (!headers_out_.empty()) return CUDA_ERROR_NOT_READY;
  if (!std::exchange(is_checked_, true)) CheckHeaders();
  comm_.channels->Advance(messages_);
  if (!messages_.empty() || !IsDelivered()) return CUDA_ERROR_NOT_READY;
  Finish();
  has_begun_ = is_checked_ = false;
  comm_.running = nullptr;
  return CUDA_SUCCESS;
}

void Job::Begin() {
  if (++comm_.begun == Setting("SGD_EMULATED_NCCL_ERROR", -1)) comm_.error = ncclRemoteError;
  if (comm_.running != nullptr) Fail("two operations of one communicator at the same time");
  comm_.running = this;
  messages_ = Messages();
  headers_.assign(messages_.size(), header_);
  expected_ = headers_;
  headers_out_.clear();
  for (size_t i = 0; i < messages_.size(); ++i) {
    expected_[i].bytes = headers_[i].bytes = messages_[i].bytes;
    headers_out_.push_back(
        {messages_[i].peer, reinterpret_cast<std::byte*>(&headers_[i]), sizeof(Header), messages_[i].is_sent});
  }
}

void Job::CheckHeaders() const {
  const auto text = [](const Header& header) {
    return std::string(header.call, strnlen(header.call, sizeof(header.call))) + " of " + std::to_string(header.bytes) +
           " bytes, type " + std::to_string(header.type) + ", reduction " + std::to_string(header.reduce) +
           ", registered " + std::to_string(header.registered) + " at " + std::to_string(header.source) + " and " +
           std::to_string(header.target);
  };
  for (size_t i = 0; i < headers_.size(); ++i) {
    const Header &mine = expected_[i], &theirs = headers_[i];
    if (std::memcmp(&mine, &theirs, sizeof(Header)) == 0) continue;
    Fail("ranks differ: this one does " + text(mine) + ", another one " + text(theirs));
  }
}

namespace {

// Sends part r of the source to rank r, or all of it to everybody, and reduces what comes.
class ReductionJob final : public Job {
 public:
  ReductionJob(Comm& comm, const void* source, void* target, uint64_t count, ncclDataType_t type, ncclRedOp_t reduce,
               bool scatters)
      : Job(comm, scatters ? "ReduceScatter" : "AllReduce", type, reduce),
        source_(source),
        target_(target),
        count_(count),
        type_(type),
        reduce_(reduce),
        scatters_(scatters) {
    const uint64_t bytes = count * SizeOf(type);
    CheckOperands(source, scatters ? bytes * static_cast<uint64_t>(comm.channels->ranks()) : bytes, target, bytes);
  }

 private:
  std::vector<Message> Messages() override {
    const uint64_t bytes = count_ * SizeOf(type_), n = static_cast<uint64_t>(comm_.channels->ranks());
    std::byte* const from = Resolve(source_, scatters_ ? bytes * n : bytes);
    parts_.assign(n, std::vector<std::byte>(bytes));
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_.channels->ranks(); ++rank) {
      std::byte* const part = from + (scatters_ ? static_cast<uint64_t>(rank) * bytes : 0);
      std::vector<std::byte>& received = parts_[static_cast<size_t>(rank)];
      if (rank == comm_.channels->rank()) {
        std::copy_n(part, bytes, received.data());
        continue;
      }
      messages.push_back({rank, part, bytes, true});
      messages.push_back({rank, received.data(), bytes, false});
    }
    return messages;
  }
  void Finish() override { Reduce(type_, parts_, count_, reduce_, Resolve(target_, count_ * SizeOf(type_))); }

  const void* source_;
  void* target_;
  uint64_t count_;
  ncclDataType_t type_;
  ncclRedOp_t reduce_;
  bool scatters_;
  std::vector<std::vector<std::byte>> parts_;
};

class GatherJob final : public Job {
 public:
  GatherJob(Comm& comm, const void* source, void* target, uint64_t bytes)
      : Job(comm, "AllGather", 0, 0), source_(source), target_(target), bytes_(bytes) {
    CheckOperands(source, bytes, target, bytes * static_cast<uint64_t>(comm.channels->ranks()));
  }

 private:
  std::vector<Message> Messages() override {
    std::byte* const from = Resolve(source_, bytes_);
    std::byte* const to = Resolve(target_, bytes_ * static_cast<uint64_t>(comm_.channels->ranks()));
    std::vector<Message> messages;
    for (int rank = 0; rank < comm_.channels->ranks(); ++rank) {
      std::byte* const part = to + static_cast<uint64_t>(rank) * bytes_;
      if (rank == comm_.channels->rank()) {
        std::memmove(part, from, bytes_);
        continue;
      }
      messages.push_back({rank, from, bytes_, true});
      messages.push_back({rank, part, bytes_, false});
    }
    return messages;
  }

  const void* source_;
  void* target_;
  uint64_t bytes_;
};

}  // namespace

std::vector<Message> ExchangeJob::Messages() {
  std::vector<Message> resolved = addresses_;
  for (Message& message : resolved) {
    FindRegistered(comm_, message.memory, message.bytes);
    message.memory = Resolve(message.memory, message.bytes);
  }
  return resolved;
}

bool ExchangeJob::IsDelivered() {
  return std::ranges::all_of(
      addresses_, [&](const Message& message) { return !message.is_sent || comm_.channels->IsTaken(message.peer); });
}

std::unique_ptr<Job> MakeReduction(Comm& comm, const void* source, void* target, uint64_t count, ncclDataType_t type,
                                   ncclRedOp_t reduce, bool scatters) {
  return std::make_unique<ReductionJob>(comm, source, target, count, type, reduce, scatters);
}

std::unique_ptr<Job> MakeGather(Comm& comm, const void* source, void* target, uint64_t bytes) {
  return std::make_unique<GatherJob>(comm, source, target, bytes);
}

}  // namespace sgd::emulated
