// Texts, numbers as digits: a meeting has few messages.
#include "runtime/launch/host_roster.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::launch {
namespace {

// Takes texts one after the other; every later one is missing after the first that is.
class Reader {
 public:
  explicit Reader(std::string_view payload) {
    std::optional<std::vector<std::string>> texts = comm::DecodeTexts(payload);
    is_good_ = texts.has_value();
    if (texts) texts_ = *std::move(texts);
  }

  std::string Text() {
    if (next_ >= texts_.size()) is_good_ = false;
    return is_good_ ? texts_[next_++] : "";
  }
  template <typename Number>
  void Read(Number& number) {
    if (!absl::SimpleAtoi(Text(), &number)) is_good_ = false;
  }
  size_t left() const { return texts_.size() - next_; }
  bool is_good() const { return is_good_; }

 private:
  std::vector<std::string> texts_;
  size_t next_ = 0;
  bool is_good_ = false;
};

// Of the launchers that were at the newest meeting before: all are here, enough to go on without the others, or too
// few.
enum class Presence { kAll, kMost, kFew };

Presence PresenceOf(const std::vector<HostMember>& members) {
  uint64_t newest = 0;
  for (const HostMember& member : members) newest = std::max(newest, member.claim.generation);
  uint32_t known = 0, here = 0;
  bool has_first = false;
  for (const HostMember& member : members) {
    if (member.claim.generation != newest) continue;
    known = std::max(known, member.claim.launchers);
    ++here;
    has_first = has_first || member.claim.node == 0;
  }
  if (here == known) return Presence::kAll;
  return 2 * here > known || (2 * here == known && has_first) ? Presence::kMost : Presence::kFew;
}

}  // namespace

std::optional<std::vector<size_t>> AssignNodes(const std::vector<HostMember>& members, uint32_t nodes, uint32_t spares,
                                               bool is_due) {
  constexpr size_t kNobody = SIZE_MAX;
  std::vector<size_t> assigned(nodes, kNobody);
  std::vector<size_t> waiting;
  bool is_first = true;
  for (size_t i = 0; i < members.size(); ++i) {
    const HostClaim& claim = members[i].claim;
    is_first = is_first && claim.generation == 0;
    const bool keeps_host = claim.node < nodes && !claim.gives_way;
    if (keeps_host) assigned[claim.node] = i;
    if (!keeps_host) waiting.push_back(i);
  }
  auto missing = std::ranges::count(assigned, kNobody);
  if (is_first && (missing > 0 || waiting.size() < spares)) return std::nullopt;
  if (missing == 0) return assigned;
  const Presence presence = PresenceOf(members);
  if (presence != Presence::kAll && (!is_due || presence == Presence::kFew)) return std::nullopt;
  auto fresh = std::ranges::count_if(waiting, [&](size_t i) { return !members[i].claim.gives_way; });
  for (size_t i : waiting) {
    if (members[i].claim.node >= nodes || missing <= fresh) continue;
    assigned[members[i].claim.node] = i;
    --missing;
  }
  std::erase_if(waiting, [&](size_t i) { return std::ranges::find(assigned, i) != assigned.end(); });
  if (missing > static_cast<ptrdiff_t>(waiting.size())) return std::nullopt;
  std::ranges::sort(waiting, {},
                    [&](size_t i) { return std::pair(members[i].claim.gives_way, members[i].claim.node); });
  for (size_t next = 0; size_t& member : assigned) {
    if (member == kNobody) member = waiting[next++];
  }
  return assigned;
}

std::string EncodeClaim(const HostClaim& claim) {
  return comm::EncodeTexts({absl::StrCat(claim.node), absl::StrCat(claim.generation), absl::StrCat(claim.launchers),
                            absl::StrCat(claim.gives_way ? 1 : 0), claim.facts});
}

std::optional<HostClaim> DecodeClaim(std::string_view payload) {
  Reader reader(payload);
  HostClaim claim;
  reader.Read(claim.node);
  reader.Read(claim.generation);
  reader.Read(claim.launchers);
  uint32_t gives_way = 0;
  reader.Read(gives_way);
  claim.gives_way = gives_way != 0;
  claim.facts = reader.Text();
  return reader.is_good() && reader.left() == 0 ? std::optional(std::move(claim)) : std::nullopt;
}

std::string EncodeRoster(const HostRoster& roster) {
  std::vector<std::string> texts = {absl::StrCat(roster.generation), absl::StrCat(roster.launchers),
                                    absl::StrCat(roster.waited_ms),  absl::StrCat(roster.node),
                                    absl::StrCat(roster.spares),     absl::StrCat(roster.places.size())};
  texts.insert(texts.end(), roster.places.begin(), roster.places.end());
  for (const HostMember& member : roster.nodes) {
    texts.push_back(EncodeClaim(member.claim));
    texts.push_back(member.place);
  }
  return comm::EncodeTexts(texts);
}

std::optional<HostRoster> DecodeRoster(std::string_view payload) {
  Reader reader(payload);
  HostRoster roster;
  size_t places = 0;
  reader.Read(roster.generation);
  reader.Read(roster.launchers);
  reader.Read(roster.waited_ms);
  reader.Read(roster.node);
  reader.Read(roster.spares);
  reader.Read(places);
  for (size_t i = 0; i < places && reader.is_good(); ++i) roster.places.push_back(reader.Text());
  while (reader.is_good() && reader.left() > 0) {
    std::optional<HostClaim> claim = DecodeClaim(reader.Text());
    std::string place = reader.Text();
    if (!claim) return std::nullopt;
    roster.nodes.push_back({*std::move(claim), std::move(place)});
  }
  return reader.is_good() && !roster.nodes.empty() ? std::optional(std::move(roster)) : std::nullopt;
}

}  // namespace sgd::launch
