// Types are numbered over both programs; shardings do not matter, since state is cut anew where they differ.
#include "runtime/train/state_match.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/artifact/path_match.h"

namespace sgd::train {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

class TypeNumbers {
 public:
  uint32_t Number(const data::TensorType& type) {
    return numbers_.try_emplace({type.element, type.global_dims}, numbers_.size()).first->second;
  }

 private:
  std::map<std::pair<data::ElementType, data::Dims>, uint32_t> numbers_;
};

// Tensors of a list that are matched, with their positions there.
struct Taking {
  std::vector<artifact::NamedTensor> tensors;
  std::vector<size_t> positions;
};

Pairs PairsOf(const artifact::PathGroup& group, const Taking& from, const Taking& to) {
  Pairs pairs;
  for (const auto& [i, j] : group.pairs) pairs.emplace_back(from.positions[i], to.positions[j]);
  return pairs;
}

bool IsFree(const Pairs& pairs, const std::set<size_t>& from, const std::set<size_t>& to) {
  return std::ranges::none_of(pairs,
                              [&](const auto& pair) { return from.contains(pair.first) || to.contains(pair.second); });
}

class InitMatcher {
 public:
  InitMatcher(const Signature& init, const Signature& train, const std::vector<bool>& is_carried)
      : is_carried_(is_carried) {
    TypeNumbers types;
    for (size_t i = 0; i < init.outputs.size(); ++i) {
      from_.tensors.push_back({artifact::ResultPath(init.outputs[i].name), types.Number(init.outputs[i].type)});
      from_.positions.push_back(i);
    }
    for (size_t i = 0; i < train.inputs.size(); ++i) {
      to_.tensors.push_back({artifact::ArgumentPath(train.inputs[i].name), types.Number(train.inputs[i].type)});
      to_.positions.push_back(i);
    }
  }

  StateMatch Run() {
    const artifact::PathMatch match = artifact::MatchPaths(from_.tensors, to_.tensors);
    for (const artifact::PathGroup& group : match.unique) Take(PairsOf(group, from_, to_), false);
    // Groups are sorted by their first tensors: the first that is free in each list is the one in its position.
    for (const artifact::PathGroup& group : match.tied) {
      const Pairs pairs = PairsOf(group, from_, to_);
      if (IsFree(pairs, from_taken_, to_taken_)) Take(pairs, true);
    }
    TakeByType();
    TakeByPosition();
    std::ranges::sort(match_.pairs);
    return std::move(match_);
  }

 private:
  void Take(const Pairs& pairs, bool by_position) {
    for (const auto& [from, to] : pairs) {
      from_taken_.insert(from);
      to_taken_.insert(to);
      match_.pairs.emplace_back(from, to);
      if (by_position) match_.by_position.emplace_back(from, to);
    }
  }

  using ByType = std::map<uint32_t, std::vector<size_t>>;  // positions

  ByType LeftOutputs() const {
    ByType left;
    for (size_t i = 0; i < from_.tensors.size(); ++i) {
      if (!from_taken_.contains(i)) left[from_.tensors[i].type].push_back(i);
    }
    return left;
  }

  ByType LeftInputs() const {
    ByType left;
    for (size_t i = 0; i < to_.tensors.size(); ++i) {
      if (is_carried_[i] && !to_taken_.contains(i)) left[to_.tensors[i].type].push_back(i);
    }
    return left;
  }

  void TakeByType() {
    const ByType from = LeftOutputs(), to = LeftInputs();
    for (const auto& [type, positions] : from) {
      const auto found = to.find(type);
      if (found != to.end() && positions.size() == 1 && found->second.size() == 1)
        Take({{positions[0], found->second[0]}}, false);
    }
  }

  void TakeByPosition() {
    const ByType from = LeftOutputs(), to = LeftInputs();
    for (const auto& [type, positions] : from) {
      const auto found = to.find(type);
      if (found == to.end() || found->second.size() != positions.size()) continue;
      for (size_t i = 0; i < positions.size(); ++i) Take({{positions[i], found->second[i]}}, true);
    }
  }

  const std::vector<bool>& is_carried_;  // by input of train
  Taking from_, to_;                     // all of them
  std::set<size_t> from_taken_, to_taken_;
  StateMatch match_;
};

}  // namespace

StateMatch MatchInit(const Signature& init, const Signature& train, const std::vector<bool>& is_carried) {
  return InitMatcher(init, train, is_carried).Run();
}

std::vector<std::pair<size_t, size_t>> MatchEval(const Signature& train, const Signature& eval,
                                                 const std::vector<bool>& is_missing) {
  TypeNumbers types;
  Taking from, to;
  for (size_t i = 0; i < train.inputs.size(); ++i) {
    from.tensors.push_back({artifact::ArgumentPath(train.inputs[i].name), types.Number(train.inputs[i].type)});
    from.positions.push_back(i);
  }
  for (size_t i = 0; i < eval.inputs.size(); ++i) {
    if (!is_missing[i]) continue;
    to.tensors.push_back({artifact::ArgumentPath(eval.inputs[i].name), types.Number(eval.inputs[i].type)});
    to.positions.push_back(i);
  }
  Pairs pairs;
  for (const artifact::PathGroup& group : artifact::MatchPaths(from.tensors, to.tensors).unique) {
    const Pairs found = PairsOf(group, from, to);
    pairs.insert(pairs.end(), found.begin(), found.end());
  }
  std::ranges::sort(pairs);
  return pairs;
}

}  // namespace sgd::train
