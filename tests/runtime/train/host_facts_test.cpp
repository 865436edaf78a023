// The state that hosts agree on to go on from.
#include "runtime/train/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using From = AgreedState::From;

HostFacts Facts(std::vector<uint64_t> copies, std::vector<uint64_t> of_other_host = {},
                std::optional<uint64_t> saved = std::nullopt) {
  return {
      .run = HostFacts::Run(), .copies = std::move(copies), .of_other_host = std::move(of_other_host), .saved = saved};
}

TEST(AgreeOnState, TakesTheNewestStepThatEachHostHas) {
  const AgreedState state = AgreeOnState({Facts({7, 8}), Facts({6, 7}), Facts({7, 8})}, 0);
  EXPECT_EQ(state.from, From::kCopies);
  EXPECT_EQ(state.step, 7u);
  EXPECT_THAT(state.without_state, IsEmpty());
}

TEST(AgreeOnState, AHostWithoutACopyGetsItFromTheNextOne) {
  const AgreedState state = AgreeOnState({Facts({7, 8}, {7, 8}), Facts({}), Facts({7, 8}, {7})}, 0);
  EXPECT_EQ(state.step, 7u) << "the next host has not all of step 8 for it";
  EXPECT_THAT(state.without_state, ElementsAre(1));
  const AgreedState last = AgreeOnState({Facts({5}, {5}), Facts({5}, {}), Facts({})}, 0);
  EXPECT_EQ(last.from, From::kCopies);
  EXPECT_THAT(last.without_state, ElementsAre(2)) << "the first host follows the last";
}

TEST(AgreeOnState, ACheckpointCountsWhereCopiesAreOlderOrMissing) {
  EXPECT_EQ(AgreeOnState({Facts({7}, {}, 7), Facts({7}, {}, 7)}, 0).from, From::kCopies);
  const AgreedState newer = AgreeOnState({Facts({7}, {}, 9), Facts({7}, {}, 9)}, 0);
  EXPECT_EQ(newer.from, From::kCheckpoint);
  EXPECT_EQ(newer.step, 9u);
  // Two neighbours are lost, or no step is common.
  for (const auto& hosts : {std::vector{Facts({8}, {8}, 5), Facts({}, {}, 5), Facts({}, {}, 4)},
                            std::vector{Facts({8}, {}, 5), Facts({7}, {}, 4)}}) {
    const AgreedState state = AgreeOnState(hosts, 0);
    EXPECT_EQ(state.from, From::kCheckpoint);
    EXPECT_EQ(state.step, 4u) << "the newest that all hosts see";
    EXPECT_THAT(state.without_state, IsEmpty());
  }
  HostFacts spare = Facts({});
  spare.run.reset();
  EXPECT_EQ(AgreeOnState({Facts({}, {}, 5), spare}, 0).step, 5u) << "a spare has looked long ago";
}

TEST(AgreeOnState, WithoutEitherTheRunBeginsAgain) {
  const AgreedState state = AgreeOnState({Facts({8}, {}, 5), Facts({})}, 3);
  EXPECT_EQ(state.from, From::kStart);
  EXPECT_EQ(state.step, 3u);
}

TEST(HostFacts, TravelAsTheyAre) {
  HostFacts facts = Facts({7, 8}, {7}, 5);
  facts.run = {1, 100, 3, 2, 50, {}, "{\"event\": \"rank_lost\"}"};
  facts.run->point.seed = 11;
  facts.run->point.feed = "rows 10";
  const auto read = ParseHostFacts(HostFactsJson(facts));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(HostFactsJson(*read), HostFactsJson(facts));
  EXPECT_EQ(read->run->point.seed, 11u);
  EXPECT_EQ(read->run->loss, facts.run->loss);
  EXPECT_EQ(read->run->replaced, 50u);
  const auto without = ParseHostFacts(HostFactsJson({}));
  ASSERT_TRUE(without.ok());
  EXPECT_FALSE(without->run.has_value() || without->saved.has_value());
  for (const char* text : {"", "[]", "{}", "{\"copies\": [-1]}"}) EXPECT_FALSE(ParseHostFacts(text).ok()) << text;
}

}  // namespace
}  // namespace sgd::train
