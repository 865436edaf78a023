#include "runtime/comm/tcp/tcp_control.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::comm {

absl::StatusOr<std::vector<Control::Told>> TcpControl::GatherAmong(std::string_view key, std::string_view bytes,
                                                                   absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> texts = channel_->GatherAmong(key, bytes, timeout);
  if (!texts.ok()) return absl::Status(texts.status().code(), absl::StrCat("agreement: ", texts.status().message()));
  const std::optional<std::vector<uint32_t>> ranks = texts->empty() ? std::nullopt : DecodeRanks((*texts)[0]);
  if (!ranks.has_value() || ranks->size() + 1 != texts->size())
    return absl::InternalError("agreement: rank 0 sent another message");
  std::vector<Told> told;
  for (size_t i = 0; i < ranks->size(); ++i) told.push_back({(*ranks)[i], std::move((*texts)[i + 1])});
  return told;
}

}  // namespace sgd::comm
