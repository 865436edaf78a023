// Sockets of connections between ranks: options, and reading and writing with a deadline.
#pragma once

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sgd::comm {

// Small messages leave at once; a host that has gone without a word is noticed within 20 seconds; calls do not block.
absl::Status PrepareSocket(int socket);

// Fills `bytes` from, or sends them over, a socket that does not block. Unavailable when the other end has closed,
// DeadlineExceeded at `end`.
absl::Status ReadAll(int socket, std::span<std::byte> bytes, absl::Time end);
absl::Status WriteAll(int socket, std::span<const std::byte> bytes, absl::Time end);

// Reads what there is, at least a byte and at most `bytes`; returns how much that was. Errors as of ReadAll.
absl::StatusOr<size_t> ReadSome(int socket, std::span<std::byte> bytes, absl::Time end);

// Waits for one of the poll events; false at `end`.
bool WaitForSocket(int socket, short events, absl::Time end);
// Whether there is something to read, or an end to see, at once.
bool IsReadable(int socket);

}  // namespace sgd::comm
