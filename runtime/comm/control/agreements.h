// Meetings of all ranks of a job: how they wait for each other and exchange small texts. No tensor goes through them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sgd::comm {

// Belongs to one rank; one thread uses it at a time. All ranks call the same in the same order. Timeouts bound each
// single wait for peers. A wait that ends early returns
//   kDeadlineExceeded  naming the ranks that did not arrive,
//   kAborted           with the first cause of the job's abort (which rank, what).
// After any error it is of no more use, and the job is to end: the rank that met it calls Control::Abort.
class Agreements {
 public:
  virtual ~Agreements() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  // Whether ranks may be on different hosts, with files and memory of their own.
  virtual bool spans_hosts() const = 0;

  // Waits until every rank of the job is here.
  virtual absl::Status Barrier(absl::Duration timeout) = 0;

  // Every rank's bytes, by rank. For agreement at the start and other small matters; allocates, any
  // size.
  virtual absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) = 0;

  // The same for rank 0, for more bytes than everybody should get: elsewhere the texts may be empty.
  virtual absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) {
    return AllGatherBytes(bytes, timeout);
  }
};

}  // namespace sgd::comm
