// Defaults that use agreements among all ranks, for controls without anything cheaper.
#include "runtime/comm/control/control.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::comm {

absl::StatusOr<std::vector<Control::Told>> Control::GatherAmong(std::string_view key, std::string_view bytes,
                                                                absl::Duration timeout) {
  const auto all = AllGatherBytes(EncodeTexts({std::string(key), std::string(bytes)}), timeout);
  if (!all.ok()) return all.status();
  std::vector<Told> told;
  for (uint32_t rank = 0; rank < all->size(); ++rank) {
    std::optional<std::vector<std::string>> texts = DecodeTexts((*all)[rank]);
    if (!texts.has_value() || texts->size() != 2)
      return absl::InternalError(absl::StrCat("agreement: rank ", rank, " sent another message"));
    if ((*texts)[0] == key) told.push_back({rank, std::move((*texts)[1])});
  }
  return told;
}

absl::Status Control::Offer(std::string_view bytes, absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> all = AllGatherBytes(bytes, timeout);
  if (all.ok()) offers_ = *std::move(all);
  return all.status();
}

absl::StatusOr<std::string> Control::OfferOf(uint32_t rank, absl::Duration) {
  if (rank < offers_.size()) return offers_[rank];
  return absl::FailedPreconditionError(absl::StrCat("rank ", rank, " has offered nothing"));
}

bool Control::Publish(Board board, std::string_view bytes) {
  const std::lock_guard lock(publishing_);
  published_[static_cast<size_t>(board)] = bytes;
  return true;
}

std::string Control::PublishedBy(Board board, uint32_t of) {
  const std::lock_guard lock(publishing_);
  return of == rank() ? published_[static_cast<size_t>(board)] : "";
}

}  // namespace sgd::comm
