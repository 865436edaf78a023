// Messages on a connection: a kind, a number and bytes, each with an HMAC under the connection's key and its place in
// the sequence, so that nothing can be put in, left out, changed or repeated on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sgd::comm {

struct Frame {
  uint32_t kind = 0;    // of the caller's protocol
  uint64_t number = 0;  // of the caller's protocol
  std::string payload;
};

inline constexpr uint64_t kMaxPayload = 16 << 20;

// One direction of a connection, at the end that sends.
class FrameEncoder {
 public:
  explicit FrameEncoder(std::string key) : key_(std::move(key)) {}

  // The bytes on the wire. The payload has at most kMaxPayload bytes. Errors of Authenticate.
  absl::StatusOr<std::string> Encode(uint32_t kind, uint64_t number, std::string_view payload);

 private:
  std::string key_;
  uint64_t sequence_ = 0;
};

// The same direction at the end that receives.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::string key) : key_(std::move(key)) {}

  // Takes what has come from the wire, in pieces of any size.
  void Feed(std::string_view bytes) { buffer_.append(bytes); }
  // How many bytes the next frame lacks, as far as is known: at least one until it is complete.
  size_t Needed() const;
  // The next complete frame, if there is one. Sets `error` for good when the bytes are not frames of the other end.
  std::optional<Frame> Next(absl::Status& error);

 private:
  std::string key_;
  std::string buffer_;
  size_t begin_ = 0;  // of what has not been decoded
  uint64_t sequence_ = 0;
};

}  // namespace sgd::comm
