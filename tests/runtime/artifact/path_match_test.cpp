// Paths pair where they say something, and are tied where they do not.
#include "runtime/artifact/path_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace sgd::artifact {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Names, all of one type unless a name ends with "#" and a type.
std::vector<NamedTensor> Tensors(std::initializer_list<const char*> names, bool are_results) {
  std::vector<NamedTensor> tensors;
  for (std::string name : names) {
    NamedTensor& tensor = tensors.emplace_back();
    if (const size_t hash = name.find('#'); hash != std::string::npos) {
      tensor.type = static_cast<uint32_t>(name[hash + 1]);
      name.resize(hash);
    }
    tensor.path = are_results ? ResultPath(name) : ArgumentPath(name);
  }
  return tensors;
}

struct Match {
  std::vector<std::pair<size_t, size_t>> unique, tied;
};

Match MatchNames(std::initializer_list<const char*> results, std::initializer_list<const char*> arguments) {
  const PathMatch match = MatchPaths(Tensors(results, true), Tensors(arguments, false));
  Match pairs;
  for (const PathGroup& group : match.unique)
    pairs.unique.insert(pairs.unique.end(), group.pairs.begin(), group.pairs.end());
  for (const PathGroup& group : match.tied) pairs.tied.insert(pairs.tied.end(), group.pairs.begin(), group.pairs.end());
  return pairs;
}

TEST(PathMatch, StateOfWhichAnArgumentIsUnused) {
  const Match match = MatchNames({"[0].step", "[0].params['w']", "[0].opt.mini_step", "[0].opt.gradient_step"},
                                 {"state.params['w']", "state.opt.mini_step", "state.opt.gradient_step", "x"});
  EXPECT_THAT(match.unique, UnorderedElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 2)));
  EXPECT_THAT(match.tied, IsEmpty());
}

TEST(PathMatch, MomentsAreNotParameters) {
  const Match match =
      MatchNames({"result[0]", "result[1]['h']['w']", "result[2][0].mu['h']['w']", "result[2][0].nu['h']['w']"},
                 {"params['h']['w']", "opt_state[0].mu['h']['w']", "opt_state[0].nu['h']['w']"});
  EXPECT_THAT(match.unique, UnorderedElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 2)));
  EXPECT_THAT(match.tied, IsEmpty());
}

TEST(PathMatch, EqualTreesAreTied) {
  const Match match = MatchNames({"result[0]['w']", "result[1]['w']"}, {"params['w']", "momentum['w']"});
  EXPECT_THAT(match.unique, IsEmpty());
  EXPECT_THAT(match.tied, UnorderedElementsAre(Pair(0, 0), Pair(0, 1), Pair(1, 0), Pair(1, 1)));
}

TEST(PathMatch, WhatLiesBesideAPairGoesWithIt) {
  const Match match = MatchNames({"result[0]['w']", "result[1]['w']", "result[1]['b']#b"},
                                 {"params['w']", "params['b']#b", "average['w']"});
  EXPECT_THAT(match.unique, UnorderedElementsAre(Pair(1, 0), Pair(2, 1), Pair(0, 2)));
}

TEST(PathMatch, ATupleIsNoName) {
  const Match match = MatchNames({"result[0]", "result[1]"}, {"state[0]", "state[1]"});
  EXPECT_THAT(match.unique, IsEmpty());
  EXPECT_THAT(match.tied, IsEmpty());
}

TEST(PathMatch, TypesDiffer) { EXPECT_THAT(MatchNames({"result['step']#i"}, {"state.step#f"}).unique, IsEmpty()); }

TEST(PathMatch, KeysAndAttributesAreAlike) {
  EXPECT_THAT(
      MatchNames({"result['params']['w']", "result['momentum']['w']"}, {"state.params['w']", "state.momentum['w']"})
          .unique,
      UnorderedElementsAre(Pair(0, 0), Pair(1, 1)));
}

}  // namespace
}  // namespace sgd::artifact
