// Long texts are gathered in rounds, as many as the longest one needs.
#include "runtime/comm/tcp/tcp_agreements.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace sgd::comm {

absl::Status TcpAgreements::Barrier(absl::Duration timeout) {
  const absl::Status status = channel_.AllGather("", timeout, lane_).status();
  if (status.code() != absl::StatusCode::kDeadlineExceeded) return status;
  return absl::DeadlineExceededError(absl::StrCat("barrier: ", status.message()));
}

absl::StatusOr<std::vector<std::string>> TcpAgreements::AllGatherBytes(std::string_view bytes, absl::Duration timeout) {
  const uint64_t room = channel_.MaxContribution();
  std::vector<std::string> texts(size());
  // The first round says how long each text is, so all know how many follow.
  uint64_t longest = bytes.size();
  for (uint64_t done = 0; done == 0 || done < longest;) {
    std::string part;
    if (done == 0) {
      const uint64_t length = bytes.size();
      part.assign(reinterpret_cast<const char*>(&length), sizeof(length));
    }
    const uint64_t taken = room - part.size();
    part += bytes.substr(std::min<uint64_t>(done, bytes.size()), taken);
    absl::StatusOr<std::vector<std::string>> parts = channel_.AllGather(part, timeout, lane_);
    if (!parts.ok()) return absl::Status(parts.status().code(), absl::StrCat("agreement: ", parts.status().message()));
    for (uint32_t rank = 0; rank < size(); ++rank) {
      std::string_view theirs = (*parts)[rank];
      if (done == 0) {
        uint64_t length = 0;
        if (theirs.size() < sizeof(length)) return absl::InternalError("agreement: a rank sent another message");
        std::memcpy(&length, theirs.data(), sizeof(length));
        theirs.remove_prefix(sizeof(length));
        longest = std::max(longest, length);
      }
      texts[rank] += theirs;
    }
    done += taken;
  }
  return texts;
}

absl::StatusOr<std::vector<std::string>> TcpAgreements::GatherBytes(std::string_view bytes, absl::Duration timeout) {
  const uint64_t length = bytes.size();
  const auto lengths = channel_.AllGather({reinterpret_cast<const char*>(&length), sizeof(length)}, timeout, lane_);
  if (!lengths.ok()) return lengths.status();
  uint64_t longest = 0;
  for (const std::string& text : *lengths) {
    uint64_t theirs = 0;
    if (text.size() != sizeof(theirs)) return absl::InternalError("gathering: a rank sent another message");
    std::memcpy(&theirs, text.data(), sizeof(theirs));
    longest = std::max(longest, theirs);
  }
  const uint64_t room = channel_.MaxContribution();
  std::vector<std::string> texts(size());
  for (uint64_t done = 0; done < longest; done += room) {
    const auto parts = channel_.Gather(bytes.substr(std::min(done, length), room), timeout, lane_);
    if (!parts.ok()) return absl::Status(parts.status().code(), absl::StrCat("gathering: ", parts.status().message()));
    for (uint32_t rank = 0; rank < size(); ++rank) texts[rank] += (*parts)[rank];
  }
  return texts;
}

}  // namespace sgd::comm
