// Buffers: dense row-major arrays on one device. A buffer is a reference to bytes, which several may share: nobody
// writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugins/pjrt/client.h"
#include "plugins/pjrt/storage.h"

struct PJRT_Buffer {
  PJRT_Memory* memory = nullptr;  // of a device
  PJRT_Buffer_Type type = PJRT_Buffer_Type_INVALID;
  std::vector<int64_t> dims;
  std::vector<int64_t> minor_to_major;  // of a row-major layout

  // Under RankPools::mutex of the client.
  std::shared_ptr<sgd::pjrt::Storage> storage;  // null once the buffer is deleted or donated
  absl::Status error;                           // of a buffer that stands for a failure
  // Memory that others read by address, and how many do.
  std::shared_ptr<sgd::pjrt::Storage> pinned;
  int pins = 0;
};

namespace sgd::pjrt {

// Never null.
std::unique_ptr<PJRT_Buffer> CreateBuffer(PJRT_Memory* memory, PJRT_Buffer_Type type, std::vector<int64_t> dims,
                                          std::shared_ptr<Storage> storage);

// The bytes of a dense array. InvalidArgument where there is no such number.
absl::StatusOr<size_t> ArrayBytes(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims);

// Fails for a buffer that has been deleted or donated, or stands for an error. Under the lock.
absl::Status CheckAlive(const PJRT_Buffer& buffer);

// Fills the entries of the API that concern buffers.
void AddBufferEntries(PJRT_Api& api);

}  // namespace sgd::pjrt
