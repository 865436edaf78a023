// The communicator of several hosts under the cases of every communicator, over memory and over UCX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "conformance_cases.h"
#include "host_threads.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

enum class Network { kMemory, kUcx };

MakeTransport Over(Network network) { return network == Network::kUcx ? OverUcx() : OverMemory(); }

// Layouts that a mesh of so many ranks is run on: two hosts with half the ranks each, ranks dealt out to two, and one
// of the others, by `turn`.
std::vector<Layout> LayoutsOf(uint32_t ranks, size_t turn) {
  Layout dealt, uneven;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    dealt.push_back(rank % 2);
    uneven.push_back(rank < ranks - 1 ? 0 : 1);
  }
  const std::vector<Layout> others = {InBlocks(ranks, 1), InBlocks(ranks, std::min(ranks, 4u)), uneven,
                                      InBlocks(ranks, std::min(ranks, 3u)), InBlocks(ranks, ranks)};
  return {InBlocks(ranks, 2), dealt, others[turn % others.size()]};
}

class TwoLevel : public testing::TestWithParam<std::tuple<Network, Shape, CollectiveKind>> {};

TEST_P(TwoLevel, MatchesTheReference) {
  const auto& [network, shape, kind] = GetParam();
  const MakeTransport make_transport = Over(network);
  if (make_transport == nullptr) GTEST_SKIP() << "no UCX here";
  const std::vector<Case> cases = AllCases(shape, kind);
  std::vector<Layout> layouts =
      LayoutsOf(static_cast<uint32_t>(shape.mesh.ranks()), shape.name.size() + static_cast<size_t>(kind));
  // Two hosts, and as many as there are ranks.
  if (network == Network::kUcx) layouts = {layouts[0], InBlocks(shape.mesh.ranks(), shape.mesh.ranks())};
  bool has_thread = false;
  for (const Layout& layout : layouts) {
    has_thread = !has_thread;
    SCOPED_TRACE(testing::PrintToString(layout));
    RunOnHosts(layout, kConformanceWindowBytes, Over(network),
               [&, &mesh = shape.mesh](TwoLevelCommunicator& communicator) {
                 if (has_thread) ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
                 const uint32_t rank = communicator.control().rank();
                 for (const Case& test : cases) {
                   const uint64_t bytes = test.before[rank].size();
                   auto handle = communicator.Prepare(mesh, test.spec);
                   ASSERT_TRUE(handle.ok()) << handle.status();
                   std::memcpy(communicator.window(), test.before[rank].data(), bytes);
                   absl::Status status = communicator.Start(*handle, kTimeout);
                   if (status.ok()) status = communicator.Wait(*handle, kTimeout);
                   ASSERT_TRUE(status.ok()) << status;
                   const std::byte* expected = test.after[rank].data();
                   const std::byte* actual = communicator.window();
                   if (std::memcmp(actual, expected, bytes) == 0) continue;
                   ADD_FAILURE() << "rank " << rank << ": " << CollectiveName(test.spec.kind) << " of "
                                 << ElementName(test.spec.operands[0].element) << ": first difference at byte "
                                 << std::mismatch(actual, actual + bytes, expected).first - actual << ", target at "
                                 << test.spec.operands[0].target_offset;
                 }
               });
  }
}

// Rank r's number in turn t.
float ValueOf(uint32_t rank, uint32_t turn) { return static_cast<float>(100 * turn + rank); }

// Sums over rows and over columns of a mesh of 2x2, wherever the ranks are: some of the groups of each are on one host
// and others are not.
TEST(TwoLevelGroups, OfTwoAxesTakeTurnsOnEveryPlacement) {
  const Mesh mesh{{2, 2}};
  for (uint32_t code = 0; code < 27; ++code) {
    const Layout layout = {0, code % 3, code / 3 % 3, code / 9};
    SCOPED_TRACE(testing::PrintToString(layout));
    RunOnHosts(layout, 4096, OverMemory(), [&](TwoLevelCommunicator& communicator) {
      const uint32_t rank = communicator.control().rank();
      std::vector<CollectiveHandle> sums;
      for (uint32_t axis : {0u, 1u}) {
        CollectiveSpec spec;
        spec.axes = {{axis, 1, 2}};
        spec.location = "turns";
        spec.operands.emplace_back().count = 1;
        auto handle = communicator.Prepare(mesh, spec);
        ASSERT_TRUE(handle.ok()) << handle.status();
        sums.push_back(*handle);
      }
      float* const value = reinterpret_cast<float*>(communicator.window());
      for (uint32_t turn = 0; turn < 12; ++turn) {
        const uint32_t axis = turn / 3 % 2, peer = rank ^ (axis == 0 ? 2 : 1);
        *value = ValueOf(rank, turn);
        absl::Status status = communicator.Execute(sums[axis], kTimeout);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_EQ(*value, ValueOf(rank, turn) + ValueOf(peer, turn)) << "rank " << rank << ", turn " << turn;
      }
    });
  }
}

std::string Name(const testing::TestParamInfo<TwoLevel::ParamType>& info) {
  const auto& [network, shape, kind] = info.param;
  return std::string(network == Network::kUcx ? "ucx_" : "memory_") + CollectiveName(kind) + "_" + shape.name;
}

const auto kAllKinds = testing::Values(
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
    CollectiveKind::kPermute, CollectiveKind::kBroadcast, CollectiveKind::kGatherRange);

INSTANTIATE_TEST_SUITE_P(Memory, TwoLevel,
                         testing::Combine(testing::Values(Network::kMemory), testing::ValuesIn(AllShapes()), kAllKinds),
                         Name);
// Groups of two, three and four, beside each other and apart, of whole axes and of sub-axes.
INSTANTIATE_TEST_SUITE_P(Ucx, TwoLevel,
                         testing::Combine(testing::Values(Network::kUcx),
                                          testing::Values(AllShapes()[1], AllShapes()[2], AllShapes()[3],
                                                          AllShapes()[5], AllShapes()[7], AllShapes()[12]),
                                          kAllKinds),
                         Name);

}  // namespace
}  // namespace sgd::comm
