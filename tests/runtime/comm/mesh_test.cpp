// Groups and permutes of meshes: hand-made cases, then properties over all small meshes and
// sub-axes.
#include "runtime/comm/collectives/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace sgd::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

AxisRef Whole(const Mesh& mesh, uint32_t axis) { return {axis, 1, mesh.axis_sizes[axis]}; }

std::vector<uint32_t> Members(const Mesh& mesh, const std::vector<AxisRef>& axes, uint32_t rank) {
  absl::StatusOr<Group> group = GroupOf(mesh, axes, rank);
  EXPECT_TRUE(group.ok()) << group.status();
  return group.ok() ? group->members : std::vector<uint32_t>();
}

TEST(Mesh, NumbersRanksRowMajor) {
  const Mesh mesh{{2, 4}};
  EXPECT_EQ(mesh.ranks(), 8u);
  EXPECT_THAT(Members(mesh, {Whole(mesh, 0)}, 5), ElementsAre(1, 5));
  EXPECT_THAT(Members(mesh, {Whole(mesh, 1)}, 5), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Members(mesh, {Whole(mesh, 0), Whole(mesh, 1)}, 0), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(Members(mesh, {Whole(mesh, 1), Whole(mesh, 0)}, 0), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
}

TEST(Mesh, SubAxesSplitAnAxisMajorToMinor) {
  const Mesh mesh{{8}};
  EXPECT_THAT(Members(mesh, {{0, 1, 2}}, 3), ElementsAre(3, 7));
  EXPECT_THAT(Members(mesh, {{0, 2, 2}}, 3), ElementsAre(1, 3));
  EXPECT_THAT(Members(mesh, {{0, 4, 2}}, 3), ElementsAre(2, 3));
  EXPECT_THAT(Members(mesh, {{0, 2, 4}}, 6), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(Members(mesh, {{0, 4, 2}, {0, 1, 2}}, 0), ElementsAre(0, 4, 1, 5));
}

TEST(Mesh, NoAxesMeanARankAlone) {
  EXPECT_THAT(Members(Mesh{{2, 2}}, {}, 3), ElementsAre(3));
  EXPECT_THAT(Members(Mesh{}, {}, 0), ElementsAre(0));
}

// All ways to choose up to two disjoint references.
std::vector<std::vector<AxisRef>> AllAxes(const Mesh& mesh) {
  std::vector<AxisRef> refs;
  for (uint32_t axis = 0; axis < mesh.axis_sizes.size(); ++axis) {
    const uint32_t size = mesh.axis_sizes[axis];
    for (uint32_t pre = 1; pre <= size; ++pre) {
      for (uint32_t sub = 2; pre * sub <= size; ++sub) {
        if (size % (pre * sub) == 0) refs.push_back({axis, pre, sub});
      }
    }
  }
  std::vector<std::vector<AxisRef>> all = {{}};
  for (const AxisRef& a : refs) {
    all.push_back({a});
    for (const AxisRef& b : refs) {
      if (CheckAxes(mesh, {a, b}).ok()) all.push_back({a, b});
    }
  }
  return all;
}

TEST(Mesh, GroupsPartitionTheRanksAndAgree) {
  for (const Mesh& mesh : {Mesh{{1}}, Mesh{{6}}, Mesh{{8}}, Mesh{{2, 4}}, Mesh{{3, 1, 4}}}) {
    for (const std::vector<AxisRef>& axes : AllAxes(mesh)) {
      for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
        absl::StatusOr<Group> group = GroupOf(mesh, axes, rank);
        ASSERT_TRUE(group.ok()) << group.status();
        ASSERT_EQ(group->members.size(), AxesSize(axes));
        ASSERT_EQ(group->members[group->index], rank);
        for (uint32_t position = 0; position < group->members.size(); ++position) {
          absl::StatusOr<Group> other = GroupOf(mesh, axes, group->members[position]);
          ASSERT_TRUE(other.ok());
          ASSERT_EQ(other->members, group->members);
          ASSERT_EQ(other->index, position);
        }
      }
    }
  }
}

TEST(Mesh, PermutesAreBijectionsThatBothSidesSee) {
  for (const Mesh& mesh : {Mesh{{6}}, Mesh{{8}}, Mesh{{2, 4}}}) {
    for (const std::vector<AxisRef>& axes : AllAxes(mesh)) {
      const std::vector<AxisRef> reversed(axes.rbegin(), axes.rend());
      for (uint32_t rank = 0; rank < mesh.ranks(); ++rank) {
        absl::StatusOr<Group> group = GroupOf(mesh, axes, rank);
        absl::StatusOr<PermutePeers> peers = PermutePeersOf(mesh, axes, reversed, rank);
        ASSERT_TRUE(group.ok() && peers.ok());
        const uint32_t to = group->members[peers->send_to];
        EXPECT_EQ(LinearIndex(mesh, reversed, rank), LinearIndex(mesh, axes, to));
        absl::StatusOr<PermutePeers> back = PermutePeersOf(mesh, axes, reversed, to);
        ASSERT_TRUE(back.ok());
        EXPECT_EQ(group->members[back->receive_from], rank);
      }
    }
  }
}

TEST(Mesh, PermuteBetweenOrdersOfTwoAxes) {
  const Mesh mesh{{2, 2}};
  const std::vector<AxisRef> xy = {Whole(mesh, 0), Whole(mesh, 1)};
  const std::vector<AxisRef> yx = {Whole(mesh, 1), Whole(mesh, 0)};
  absl::StatusOr<PermutePeers> peers = PermutePeersOf(mesh, xy, yx, 1);  // x 0, y 1
  ASSERT_TRUE(peers.ok());
  EXPECT_EQ(peers->send_to, 2u);
  EXPECT_EQ(peers->receive_from, 2u);
}

TEST(Mesh, RefusesWhatIsNotInTheMesh) {
  const Mesh mesh{{4, 2}};
  const auto message = [&](const std::vector<AxisRef>& axes) {
    return std::string(GroupOf(mesh, axes, 0).status().message());
  };
  EXPECT_THAT(message({{2, 1, 2}}), HasSubstr("axis 2 is not in a mesh of 2 axes"));
  EXPECT_THAT(message({{0, 3, 2}}), HasSubstr("(3)2 does not divide mesh axis 0 of size 4"));
  EXPECT_THAT(message({{0, 0, 2}}), HasSubstr("does not divide"));
  EXPECT_THAT(message({{0, 1, 4}, {0, 2, 2}}), HasSubstr("parts of mesh axis 0 overlap"));
  EXPECT_FALSE(CheckAxes(Mesh{{6}}, std::vector<AxisRef>{{0, 1, 2}, {0, 3, 2}}).ok());
  EXPECT_TRUE(CheckAxes(Mesh{{12}}, std::vector<AxisRef>{{0, 6, 2}, {0, 1, 3}}).ok());
  EXPECT_THAT(std::string(GroupOf(mesh, {}, 8).status().message()), HasSubstr("rank 8 is not in a mesh of 8 ranks"));
  EXPECT_THAT(std::string(GroupOf(Mesh{{4, 0}}, {}, 0).status().message()), HasSubstr("mesh axis 1 has size 0"));
  EXPECT_THAT(std::string(GroupOf(Mesh{{1u << 31, 1u << 31, 4}}, {}, 0).status().message()),
              HasSubstr("mesh has more than 1048576 ranks"));
  const std::vector<AxisRef> x = {Whole(mesh, 0)};
  const std::vector<AxisRef> y2 = {Whole(mesh, 1), {0, 1, 2}};
  EXPECT_THAT(std::string(PermutePeersOf(mesh, x, y2, 0).status().message()),
              HasSubstr("do not number the ranks of its group"));
}

}  // namespace
}  // namespace sgd::comm
