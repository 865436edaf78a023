// A search in breadth, so that paths are short.
#include "runtime/comm/control/blame.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace sgd::comm {
namespace {

// The wait through which a rank was reached first.
struct Edge {
  uint32_t from = 0;
  const RankWait* wait = nullptr;
};

std::string Text(uint32_t from, uint32_t to, const RankWait& wait) {
  return absl::StrCat("rank ", from, " waits for rank ", to, " in ", wait.description);
}

// Of waits in which every rank waits for another one, a cycle: follows first awaited ranks until one comes again.
std::vector<std::string> CycleFrom(uint32_t asker, const RankWait& own, absl::Span<const RankReport> reports) {
  std::vector<uint32_t> ranks = {asker};
  std::vector<const RankWait*> waits = {&own};
  while (true) {
    const uint32_t next = waits.back()->awaited[0];
    const auto seen = std::ranges::find(ranks, next);
    if (seen != ranks.end()) {
      std::vector<std::string> cycle;
      for (size_t i = static_cast<size_t>(seen - ranks.begin()); i < ranks.size(); ++i)
        cycle.push_back(Text(ranks[i], i + 1 < ranks.size() ? ranks[i + 1] : next, *waits[i]));
      return cycle;
    }
    ranks.push_back(next);
    waits.push_back(&*std::ranges::find_if(reports[next].waits, [](const RankWait& w) { return !w.awaited.empty(); }));
  }
}

}  // namespace

Blame FindBlame(uint32_t asker, const RankWait& own, absl::Span<const RankReport> reports) {
  std::map<uint32_t, Edge> reached = {{asker, {}}};
  std::deque<uint32_t> open;
  const auto follow = [&](uint32_t from, const RankWait& wait) {
    for (uint32_t to : wait.awaited) {
      if (to < reports.size() && reached.emplace(to, Edge{from, &wait}).second) open.push_back(to);
    }
  };
  follow(asker, own);
  std::vector<uint32_t> silent, idle;
  for (; !open.empty(); open.pop_front()) {
    const uint32_t rank = open.front();
    const RankReport& report = reports[rank];
    const bool waits = std::ranges::any_of(report.waits, [](const RankWait& wait) { return !wait.awaited.empty(); });
    if (!report.answers) {
      silent.push_back(rank);
    } else if (!waits) {
      idle.push_back(rank);
    } else {
      for (const RankWait& wait : report.waits) follow(rank, wait);
    }
  }
  Blame blame;
  blame.do_not_answer = !silent.empty();
  blame.ranks = silent.empty() ? idle : silent;
  std::ranges::sort(blame.ranks);
  for (size_t i = 0; i < std::min(blame.ranks.size(), kToldRanks); ++i) {
    const std::string& where = reports[blame.ranks[i]].where;
    if (!where.empty())
      absl::StrAppend(&blame.where, blame.where.empty() ? "" : "; ", WhereText(blame.ranks[i], where));
  }
  if (blame.ranks.empty()) {
    if (!own.awaited.empty()) blame.path = CycleFrom(asker, own, reports);
    return blame;
  }
  for (uint32_t at = blame.ranks[0]; at != asker; at = reached[at].from)
    blame.path.push_back(Text(reached[at].from, at, *reached[at].wait));
  std::ranges::reverse(blame.path);
  return blame;
}

std::string WhereText(uint32_t rank, std::string_view where) {
  return absl::StrCat("rank ", rank, " is at ", std::string(where));
}

absl::Status LateError(const RankWait& own, const std::optional<Blame>& blame, std::string_view owes,
                       absl::Duration timeout, const std::function<std::string(uint32_t rank)>& name) {
  const auto names = [&](const std::vector<uint32_t>& ranks) {
    // A host's name belongs to one rank; without hosts, ranks are a list.
    if (name == nullptr) return absl::StrCat(ranks.size() > 1 ? "ranks " : "rank ", absl::StrJoin(ranks, ", "));
    return absl::StrJoin(ranks, ", ", [&](std::string* out, uint32_t rank) { out->append(name(rank)); });
  };
  const std::string within = absl::StrCat(" within ", absl::FormatDuration(timeout));
  const std::string verb(owes), prefix = own.description.empty() ? "" : absl::StrCat(own.description, ": ");
  const auto error = [&](const auto&... parts) { return absl::DeadlineExceededError(absl::StrCat(prefix, parts...)); };
  if (!blame.has_value()) return error(names(own.awaited), verb, within);
  if (blame->ranks.empty()) {
    return error("ranks wait for each other since ", absl::FormatDuration(timeout), ": ",
                 absl::StrJoin(blame->path, ", "));
  }
  const std::string where = blame->where.empty() ? "" : absl::StrCat("; ", blame->where);
  std::vector<uint32_t> direct;
  std::ranges::copy_if(blame->ranks, std::back_inserter(direct),
                       [&](uint32_t rank) { return std::ranges::find(own.awaited, rank) != own.awaited.end(); });
  if (!direct.empty()) return error(names(direct), verb, within, where);
  const std::string path = blame->path.empty() ? "" : absl::StrCat(": ", absl::StrJoin(blame->path, ", "));
  return error(names(blame->ranks), blame->do_not_answer ? " did not answer" : " did not go on", within, path, where);
}

std::optional<uint32_t> BlamedRank(std::string_view message) {
  const size_t within = message.find(" within ");
  if (within == std::string_view::npos) return std::nullopt;
  const size_t colon = message.rfind(": ", within);
  std::string_view names = message.substr(colon == std::string_view::npos ? 0 : colon + 2);
  if (!names.starts_with("rank ") && !names.starts_with("ranks ")) return std::nullopt;
  names.remove_prefix(names.find(' ') + 1);
  uint32_t rank = 0;
  const auto [end, error] = std::from_chars(names.data(), names.data() + names.size(), rank);
  return error == std::errc() ? std::optional(rank) : std::nullopt;
}

}  // namespace sgd::comm
