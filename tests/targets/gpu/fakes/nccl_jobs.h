// Operations of NCCL's double: ranks exchange whole operands and reduce them in a fixed tree.
#pragma once

#include <memory>

#include "tests/targets/gpu/fakes/nccl_comm.h"

namespace sgd::emulated {

// One operation, which a graph may run any number of times.
class Job {
 public:
  virtual ~Job();
  // CUDA_ERROR_NOT_READY when it has to be called again.
  CUresult Advance();
  // The job is in a graph from now on.
  void SetRecorded();
  Comm& comm() { return comm_; }

 protected:
  // Both ends of a message must agree on this.
  struct Header {
    char call[16] = {};
    uint64_t bytes = 0;
    int type = 0, reduce = 0;
    // Of operands in symmetric memory, where they begin; and whether operands are registered at all.
    uint64_t source = 0, target = 0;
    uint64_t registered = 0;
  };

  Job(Comm& comm, const char* call, int type, int reduce);
  // All members' operands are registered, or none are; in symmetric memory they lie at equal places.
  void CheckOperands(const void* source, uint64_t source_bytes, const void* target, uint64_t target_bytes);
  virtual std::vector<Message> Messages() = 0;
  // Whether peers have all that the job waits for to end.
  virtual bool IsDelivered() { return true; }
  virtual void Finish() {}

  Comm& comm_;

 private:
  const std::shared_ptr<Comm> owned_;  // an operation in flight outlives the handle
  void Begin();
  void CheckHeaders() const;

  Header header_;
  bool has_begun_ = false, is_checked_ = false, is_recorded_ = false;
  std::vector<Header> headers_, expected_;
  std::vector<Message> headers_out_, messages_;
};

std::unique_ptr<Job> MakeReduction(Comm& comm, const void* source, void* target, uint64_t count, ncclDataType_t type,
                                   ncclRedOp_t reduce, bool scatters);
std::unique_ptr<Job> MakeGather(Comm& comm, const void* source, void* target, uint64_t bytes);

// Sends and receives of a group; a message of no bytes takes part as well. A send ends when it has been received: NCCL
// may keep small ones meanwhile, and need not.
class ExchangeJob final : public Job {
 public:
  explicit ExchangeJob(Comm& comm) : Job(comm, "Send/Recv", 0, 0) {}
  void Add(const Message& message) { addresses_.push_back(message); }

 private:
  std::vector<Message> Messages() override;
  bool IsDelivered() override;

  std::vector<Message> addresses_;  // of the device
};

}  // namespace sgd::emulated
