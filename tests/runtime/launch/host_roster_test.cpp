// Which launcher starts the ranks of which host, and messages about it.
#include "runtime/launch/host_roster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

// A launcher that was at meeting `generation`, one of `launchers`.
HostMember Member(uint32_t node, uint64_t generation = 0, uint32_t launchers = 0, bool gives_way = false) {
  return {{.node = node, .generation = generation, .launchers = launchers, .gives_way = gives_way, .facts = ""},
          "host:1"};
}

HostMember Slow(uint32_t node, uint64_t generation, uint32_t launchers) {
  return Member(node, generation, launchers, /*gives_way=*/true);
}

TEST(AssignNodes, TheFirstMeetingWaitsForAllHostsAndSpares) {
  EXPECT_EQ(AssignNodes({Member(0), Member(2)}, 2, 1, /*is_due=*/true), std::nullopt);
  EXPECT_EQ(AssignNodes({Member(0), Member(1)}, 2, 1, /*is_due=*/true), std::nullopt);
  EXPECT_THAT(AssignNodes({Member(0), Member(2), Member(1)}, 2, 1, /*is_due=*/false), Optional(ElementsAre(0, 2)));
  EXPECT_THAT(AssignNodes({Member(1), Member(0)}, 2, 0, /*is_due=*/false), Optional(ElementsAre(1, 0)));
}

TEST(AssignNodes, ALaterOneNeedsNoSpareWhereAllHostsAreThere) {
  // Host 1 was started anew, and knows of no meeting.
  EXPECT_THAT(AssignNodes({Member(0, 1, 3), Member(1)}, 2, 1, /*is_due=*/false), Optional(ElementsAre(0, 1)));
}

TEST(AssignNodes, SparesTakePlacesInTheirOrderOnceTheHostsHadTheirTime) {
  const std::vector<HostMember> members = {Member(4, 2, 5), Member(1, 2, 5), Member(3, 2, 5)};
  EXPECT_EQ(AssignNodes(members, 3, 2, /*is_due=*/false), std::nullopt);
  EXPECT_THAT(AssignNodes(members, 3, 2, /*is_due=*/true), Optional(ElementsAre(2, 1, 0)));
  EXPECT_EQ(AssignNodes({Member(1, 2, 5), Member(3, 2, 5)}, 3, 2, /*is_due=*/true), std::nullopt) << "one is too few";
}

TEST(AssignNodes, OnlyOneSideOfACutNetworkGoesOn) {
  // Two hosts and two spares: a host and a spare on each side.
  EXPECT_TRUE(AssignNodes({Member(0, 1, 4), Member(2, 1, 4)}, 2, 2, /*is_due=*/true).has_value());
  EXPECT_EQ(AssignNodes({Member(1, 1, 4), Member(3, 1, 4)}, 2, 2, /*is_due=*/true), std::nullopt);
  EXPECT_TRUE(AssignNodes({Member(1, 1, 4), Member(2, 1, 4), Member(3, 1, 4)}, 2, 2, /*is_due=*/true).has_value());
}

TEST(AssignNodes, ASpareTakesThePlaceOfASlowHostAtOnceWhereAllAreHere) {
  EXPECT_THAT(AssignNodes({Member(1, 1, 3), Slow(0, 1, 3), Member(2, 1, 3)}, 2, 1, /*is_due=*/false),
              Optional(ElementsAre(2, 0)));
  // The spare may be about to come; and where it does not, the slow host is better than none.
  const std::vector<HostMember> without = {Member(1, 1, 3), Slow(0, 1, 3)};
  EXPECT_EQ(AssignNodes(without, 2, 1, /*is_due=*/false), std::nullopt);
  EXPECT_THAT(AssignNodes(without, 2, 1, /*is_due=*/true), Optional(ElementsAre(1, 0)));
}

TEST(AssignNodes, SlowHostsAreTheLastSpares) {
  // Host 0 has given way before, and is spare 3; host 1 is lost.
  EXPECT_THAT(AssignNodes({Member(0, 2, 4), Slow(2, 2, 4), Member(3, 2, 4)}, 2, 2, /*is_due=*/true),
              Optional(ElementsAre(0, 2)));
  EXPECT_THAT(AssignNodes({Member(0, 2, 3), Slow(2, 2, 3)}, 2, 1, /*is_due=*/true), Optional(ElementsAre(0, 1)));
  // Two hosts are missing, one of them since it is slow, and there is one spare.
  EXPECT_THAT(AssignNodes({Member(0, 1, 4), Slow(1, 1, 4), Member(3, 1, 4)}, 3, 1, /*is_due=*/true),
              Optional(ElementsAre(0, 1, 2)));
}

TEST(HostRoster, TravelsAsItIs) {
  HostRoster roster;
  roster.generation = 3, roster.launchers = 5, roster.node = 1, roster.spares = 2;
  roster.places = {"host0:29500", "[::1]:29500"};
  roster.nodes = {Member(0, 2, 5), Slow(7, 2, 5)};
  roster.nodes[1].claim.facts = std::string("a\0b", 3);
  const std::string text = EncodeRoster(roster);
  const std::optional<HostRoster> read = DecodeRoster(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(EncodeRoster(*read), text);
  EXPECT_EQ(read->nodes[1].claim.facts, roster.nodes[1].claim.facts);
  EXPECT_TRUE(read->nodes[1].claim.gives_way && !read->nodes[0].claim.gives_way);
  EXPECT_EQ(read->spares, 2u);
  EXPECT_THAT(read->places, ElementsAre("host0:29500", "[::1]:29500"));
}

TEST(HostRoster, RefusesWhatIsCutOrChanged) {
  HostRoster roster;
  roster.nodes = {Member(0)};
  const std::string text = EncodeRoster(roster), claim = EncodeClaim(Member(3, 1, 2).claim);
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(DecodeRoster(std::string_view(text).substr(0, length)), std::nullopt) << length;
  for (size_t length = 0; length < claim.size(); ++length)
    EXPECT_EQ(DecodeClaim(std::string_view(claim).substr(0, length)), std::nullopt) << length;
  EXPECT_EQ(DecodeClaim(text), std::nullopt);
}

}  // namespace
}  // namespace sgd::launch
