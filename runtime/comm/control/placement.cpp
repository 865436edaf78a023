// One gathering of keys and names.
#include "runtime/comm/control/placement.h"

#include <unistd.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::comm {

std::string Placement::Describe(uint32_t rank) const {
  return absl::StrCat("rank ", rank, " (host ", names[host_of[rank]], ")");
}

Placement MakePlacement(const std::vector<std::string>& keys, const std::vector<std::string>& names) {
  Placement placement;
  std::map<std::string, uint32_t> hosts;
  for (uint32_t rank = 0; rank < keys.size(); ++rank) {
    const auto [found, is_new] = hosts.emplace(keys[rank], placement.hosts());
    if (is_new) {
      placement.ranks_of.emplace_back();
      placement.names.push_back(names[rank]);
    }
    std::vector<uint32_t>& ranks = placement.ranks_of[found->second];
    placement.host_of.push_back(found->second);
    placement.index_of.push_back(static_cast<uint32_t>(ranks.size()));
    ranks.push_back(rank);
  }
  return placement;
}

absl::StatusOr<Placement> AgreeOnPlacement(Control& control, std::string_view key, absl::Duration timeout) {
  char name[65] = {};
  gethostname(name, sizeof(name) - 1);
  absl::StatusOr<std::vector<std::string>> all =
      control.AllGatherBytes(EncodeTexts({std::string(key), std::string(name)}), timeout);
  if (!all.ok()) return all.status();
  std::vector<std::string> keys, names;
  for (const std::string& text : *all) {
    const auto parts = DecodeTexts(text);
    if (!parts.has_value() || parts->size() != 2) return absl::InternalError("a rank said something else of its host");
    keys.push_back((*parts)[0]);
    names.push_back((*parts)[1]);
  }
  return MakePlacement(keys, names);
}

}  // namespace sgd::comm
