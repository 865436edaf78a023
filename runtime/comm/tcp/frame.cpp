// Header, payload, digest.
#include "runtime/comm/tcp/frame.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/comm/tcp/handshake.h"

namespace sgd::comm {
namespace {

struct Header {
  uint64_t bytes = 0;  // of the payload
  uint64_t number = 0;
  uint32_t kind = 0;
  uint32_t unused = 0;
};

absl::StatusOr<Digest> DigestOf(const std::string& key, uint64_t sequence, std::string_view header_and_payload) {
  std::string message(reinterpret_cast<const char*>(&sequence), sizeof(sequence));
  message += header_and_payload;
  return Authenticate(key, message);
}

}  // namespace

absl::StatusOr<std::string> FrameEncoder::Encode(uint32_t kind, uint64_t number, std::string_view payload) {
  const Header header{payload.size(), number, kind, 0};
  std::string wire(reinterpret_cast<const char*>(&header), sizeof(header));
  wire += payload;
  const absl::StatusOr<Digest> digest = DigestOf(key_, sequence_++, wire);
  if (!digest.ok()) return digest.status();
  wire.append(reinterpret_cast<const char*>(digest->data()), digest->size());
  return wire;
}

size_t FrameDecoder::Needed() const {
  const size_t left = buffer_.size() - begin_;
  Header header;
  if (left >= sizeof(header)) std::memcpy(&header, buffer_.data() + begin_, sizeof(header));
  // A length that is none of ours is an error of Next.
  const size_t whole = sizeof(header) + (header.bytes <= kMaxPayload ? header.bytes : 0) + sizeof(Digest);
  return whole > left ? whole - left : 0;
}

std::optional<Frame> FrameDecoder::Next(absl::Status& error) {
  const std::string_view left = std::string_view(buffer_).substr(begin_);
  Header header;
  if (!error.ok() || left.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, left.data(), sizeof(header));
  if (header.bytes > kMaxPayload) {
    error = absl::DataLossError(absl::StrCat("a message of ", header.bytes, " bytes came, which is none of ours"));
    return std::nullopt;
  }
  const size_t signed_bytes = sizeof(header) + header.bytes;
  Digest digest;
  if (left.size() < signed_bytes + sizeof(digest)) return std::nullopt;
  std::memcpy(&digest, left.data() + signed_bytes, sizeof(digest));
  const absl::StatusOr<Digest> expected = DigestOf(key_, sequence_++, left.substr(0, signed_bytes));
  if (!expected.ok()) {
    error = expected.status();
    return std::nullopt;
  }
  if (!AreEqual(digest, *expected)) {
    error = absl::DataLossError("a message came that was changed on its way");
    return std::nullopt;
  }
  Frame frame{header.kind, header.number, std::string(left.substr(sizeof(header), header.bytes))};
  begin_ += signed_bytes + sizeof(digest);
  // Drops decoded bytes when they are most of the buffer, so that each byte is moved at most once.
  if (begin_ * 2 >= buffer_.size()) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return frame;
}

}  // namespace sgd::comm
