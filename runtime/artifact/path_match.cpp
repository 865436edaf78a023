// Greedy by the length of common ends, then by company: paths below the prefixes of a unique pair are paired with it.
#include "runtime/artifact/path_match.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace sgd::artifact {
namespace {

struct Edge {
  size_t length;  // of the common end
  size_t from, to;
};

// How many parts at the end of the paths are equal.
size_t CommonEnd(const TensorPath& from, const TensorPath& to) {
  const size_t skipped = !from.empty() && from[0].is_index ? 1 : 0;
  const size_t longest = std::min(from.size() - skipped, to.size());
  size_t length = 0;
  while (length < longest && from[from.size() - 1 - length] == to[to.size() - 1 - length]) ++length;
  return length;
}

// The longest ends first.
std::vector<Edge> EdgesOf(std::span<const NamedTensor> from, std::span<const NamedTensor> to) {
  std::map<std::tuple<uint32_t, std::string, bool>, std::vector<size_t>> by_end;
  for (size_t j = 0; j < to.size(); ++j) {
    if (to[j].path.empty()) continue;
    by_end[{to[j].type, to[j].path.back().text, to[j].path.back().is_index}].push_back(j);
  }
  std::vector<Edge> edges;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].path.empty()) continue;
    const auto found = by_end.find({from[i].type, from[i].path.back().text, from[i].path.back().is_index});
    if (found == by_end.end()) continue;
    for (size_t j : found->second) {
      if (const size_t length = CommonEnd(from[i].path, to[j].path); length > 0) edges.push_back({length, i, j});
    }
  }
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) {
    return std::tuple(b.length, a.from, a.to) < std::tuple(a.length, b.from, b.to);
  });
  return edges;
}

TensorPath Prefix(const TensorPath& path, size_t end) {
  return {path.begin(), path.end() - static_cast<std::ptrdiff_t>(end)};
}

class Matcher {
 public:
  Matcher(std::span<const NamedTensor> from, std::span<const NamedTensor> to)
      : from_(from), to_(to), from_taken_(from.size()), to_taken_(to.size()) {}

  PathMatch Run() {
    const std::vector<Edge> edges = EdgesOf(from_, to_);
    for (size_t begin = 0; begin < edges.size();) {
      size_t end = begin;
      while (end < edges.size() && edges[end].length == edges[begin].length) ++end;
      TakeLevel({edges.data() + begin, end - begin});
      begin = end;
    }
    while (TakeCompany() || TakeLeft()) {
    }
    return {GroupsOf(taken_), GroupsOf(tied_)};
  }

 private:
  using Prefixes = std::pair<std::string, std::string>;

  // Of the edges of one length: pairs the unique ones; the tensors of the others wait.
  void TakeLevel(std::span<const Edge> edges) {
    std::vector<Edge> open;
    std::map<size_t, size_t> of_from, of_to;
    for (const Edge& edge : edges) {
      if (from_taken_[edge.from] || to_taken_[edge.to]) continue;
      open.push_back(edge);
      ++of_from[edge.from];
      ++of_to[edge.to];
    }
    for (const Edge& edge : open) {
      from_taken_[edge.from] = to_taken_[edge.to] = true;
      const bool is_unique = of_from[edge.from] == 1 && of_to[edge.to] == 1;
      (is_unique ? taken_ : tied_).push_back(edge);
    }
  }

  // Tied edges below the prefixes of taken ones.
  bool TakeCompany() {
    std::set<Prefixes> known;
    for (const Edge& edge : taken_) known.insert(PrefixesOf(edge));
    return TakeUnique([&](const Edge& edge) { return known.contains(PrefixesOf(edge)); });
  }

  // Pairs tensors that company has left over.
  bool TakeLeft() {
    return has_company_ && TakeUnique([](const Edge&) { return true; });
  }

  // Takes those of the chosen tied edges that are the only chosen ones of both their tensors.
  template <typename IsChosen>
  bool TakeUnique(IsChosen is_chosen) {
    std::map<size_t, size_t> of_from, of_to;
    for (const Edge& edge : tied_) {
      if (!is_chosen(edge)) continue;
      ++of_from[edge.from];
      ++of_to[edge.to];
    }
    std::vector<Edge> found;
    for (const Edge& edge : tied_) {
      if (is_chosen(edge) && of_from[edge.from] == 1 && of_to[edge.to] == 1) found.push_back(edge);
    }
    for (const Edge& edge : found) {
      taken_.push_back(edge);
      std::erase_if(tied_, [&](const Edge& other) { return other.from == edge.from || other.to == edge.to; });
    }
    has_company_ = has_company_ || !found.empty();
    return !found.empty();
  }

  Prefixes PrefixesOf(const Edge& edge) const {
    return {PathText(Prefix(from_[edge.from].path, edge.length)), PathText(Prefix(to_[edge.to].path, edge.length))};
  }

  std::vector<PathGroup> GroupsOf(const std::vector<Edge>& edges) const {
    std::map<Prefixes, PathGroup> groups;
    for (const Edge& edge : edges) {
      PathGroup& group = groups[PrefixesOf(edge)];
      group.from = Prefix(from_[edge.from].path, edge.length);
      group.to = Prefix(to_[edge.to].path, edge.length);
      group.pairs.emplace_back(edge.from, edge.to);
    }
    std::vector<PathGroup> sorted;
    for (auto& [prefixes, group] : groups) {
      std::ranges::sort(group.pairs);
      sorted.push_back(std::move(group));
    }
    std::ranges::sort(sorted, [](const PathGroup& a, const PathGroup& b) { return a.pairs < b.pairs; });
    return sorted;
  }

  std::span<const NamedTensor> from_, to_;
  std::vector<bool> from_taken_, to_taken_;
  std::vector<Edge> taken_, tied_;
  bool has_company_ = false;
};

}  // namespace

PathMatch MatchPaths(std::span<const NamedTensor> from, std::span<const NamedTensor> to) {
  return Matcher(from, to).Run();
}

}  // namespace sgd::artifact
