// Properties of the cost model: known closed forms, monotony, link classes and hierarchy.
#include "passes/cost/cost_model.h"
#include "passes/cost/message_cost.h"

#include "gtest/gtest.h"

using namespace mlir::sgd;

namespace {
Topology getTwoLevels() {
  Topology topology = getHostTopology();
  topology.links.clear();
  topology.links.push_back({"inner", 4, 1e-6, 1e11, {Algorithm::Ring}});
  topology.links.push_back({"outer", 0, 1e-5, 1e9, {Algorithm::Ring, Algorithm::Tree}});
  return topology;
}

const AxisPart kData{0, 1, 2}, kModel{1, 1, 4}, kHosts{0, 1, 16}, kRanks{1, 1, 4};

TEST(CostModel, RingAllReduceIsTheClosedForm) {
  CostModel model(getTwoLevels(), {2, 4});
  double expected = 6 * 1e-6 + 1.5 * 1e6 / 1e11;
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kModel}, 1000000), expected);
}

TEST(CostModel, GroupOfOneIsFree) {
  CostModel model(getHostTopology(), {1, 4});
  EXPECT_EQ(model.getCollectiveSeconds(CollectiveKind::kAllGather, {AxisPart{0, 1, 1}}, 1 << 20), 0);
  EXPECT_EQ(CostModel::getSentBytes(CollectiveKind::kAllGather, {AxisPart{0, 1, 1}}, 1 << 20), 0u);
}

TEST(CostModel, InnerAxesUseInnerLinks) {
  CostModel model(getTwoLevels(), {2, 4});
  EXPECT_EQ(model.getLink({kModel}).name, "inner");
  EXPECT_EQ(model.getLink({kData}).name, "outer");
  EXPECT_EQ(model.getLink({kData, kModel}).name, "outer");
  // The fast half of an axis of 8: its minor sub-axis.
  CostModel flat(getTwoLevels(), {8});
  EXPECT_EQ(flat.getLink({AxisPart{0, 2, 4}}).name, "inner");
  EXPECT_EQ(flat.getLink({AxisPart{0, 1, 2}}).name, "outer");
}

TEST(CostModel, HierarchyWinsOverSlowLinks) {
  CostModel model(getTwoLevels(), {2, 4});
  uint64_t bytes = 64 << 20;
  double flat = 14 * 1e-5 + 2.0 * 7 / 8 * bytes / 1e9;
  EXPECT_LT(model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kData, kModel}, bytes), flat / 3);
}

TEST(CostModel, EveryExchangeHasAHierarchicalForm) {
  CostModel model(getTwoLevels(), {64, 4});
  AxisPart hosts{0, 1, 64}, inside{1, 1, 4};
  for (CollectiveKind kind : {CollectiveKind::kAllToAll, CollectiveKind::kBroadcast})
    EXPECT_DOUBLE_EQ(
        model.getCollectiveSeconds(kind, {hosts, inside}, 4096),
        model.getCollectiveSeconds(kind, {hosts}, 4096) + model.getCollectiveSeconds(kind, {inside}, 4096));
}

TEST(CostModel, TreeWinsForFewBytes) {
  CostModel model(getTwoLevels(), {64, 4});
  AxisPart hosts{0, 1, 64};
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kBroadcast, {hosts}, 0), 6e-5);
}

TEST(CostModel, TimesGrowWithBytes) {
  CostModel model(getTwoLevels(), {2, 4});
  for (CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
                              CollectiveKind::kAllToAll, CollectiveKind::kPermute, CollectiveKind::kBroadcast}) {
    double before = 0;
    for (uint64_t bytes = 64; bytes < (uint64_t(1) << 32); bytes *= 8) {
      double seconds = model.getCollectiveSeconds(kind, {kData, kModel}, bytes);
      EXPECT_GT(seconds, before);
      before = seconds;
    }
  }
}

TEST(CostModel, ReduceScatterAndGatherMakeAnAllReduce) {
  EXPECT_EQ(CostModel::getSentBytes(CollectiveKind::kAllReduce, {kModel}, 4096),
            CostModel::getSentBytes(CollectiveKind::kReduceScatter, {kModel}, 4096) +
                CostModel::getSentBytes(CollectiveKind::kAllGather, {kModel}, 4096));
}

TEST(CostModel, RooflineTakesTheLargerSide) {
  CostModel model(getHostTopology(), {1});
  Work work;
  work.add(OperationKind::Matmul, Precision::Single, 6e10);
  EXPECT_DOUBLE_EQ(model.getSeconds(work), 1 + 1e-6);
  EXPECT_DOUBLE_EQ(model.getSeconds(Work::ofCopy(5e9)), 1 + 1e-6);
  work += Work::ofCopy(5e9);
  EXPECT_DOUBLE_EQ(model.getSeconds(work), 1 + 1e-6);
}

TEST(CostModel, OperationsTakeTheRateOfTheirKind) {
  Topology topology = getHostTopology();
  topology.device.launchLatency = 0;
  topology.device.vectorFlops = 3e10;
  topology.device.divisions = 2e10;
  topology.device.transcendentals = 6e9;
  topology.device.packedElements = 1.5e10;
  CostModel model(topology, {1});
  auto getSeconds = [&](OperationKind kind, Precision precision) {
    return model.getSeconds(Work().add(kind, precision, 6e10));
  };
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Matmul, Precision::Half), 2);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Matmul, Precision::Double), 2);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Attention, Precision::Half), 2);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Vector, Precision::Single), 2);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Vector, Precision::Half), 2) << "kernels compute in f32";
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Vector, Precision::Double), 4);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Division, Precision::Single), 3);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Packing, Precision::Single), 4);
  EXPECT_DOUBLE_EQ(getSeconds(OperationKind::Transcendental, Precision::Single), 10);
  Work work;
  work.add(OperationKind::Matmul, Precision::Single, 6e10).add(OperationKind::Vector, Precision::Single, 3e10);
  EXPECT_DOUBLE_EQ(model.getSeconds(work), 2) << "one after another";
}

TEST(CostModel, PackingTakesNoTimeWhereItIsNotKnown) {
  llvm::Expected<Topology> topology = loadTopology("h100");
  ASSERT_TRUE(static_cast<bool>(topology)) << llvm::toString(topology.takeError());
  CostModel model(*topology, {1});
  EXPECT_EQ(model.getSeconds(Work().add(OperationKind::Packing, Precision::Single, 1e9)), model.getSeconds(Work()));
}

TEST(CostModel, FewBytesAreInCaches) {
  CostModel model(getHostTopology(), {1});
  EXPECT_DOUBLE_EQ(model.getSeconds(Work::ofCopy(1 << 19)), (1 << 20) / 8e10 + 1e-6);
  EXPECT_DOUBLE_EQ(model.getSeconds(Work::ofCopy((1 << 19) + 1)), ((1 << 20) + 2) / 1e10 + 1e-6);
}

TEST(CostModel, BucketsAreAtLeastFourMebibytes) {
  CostModel model(getHostTopology(), {4});
  EXPECT_GE(model.getBucketBytes({AxisPart{0, 1, 4}}), uint64_t(4) << 20);
}

TEST(CostModel, BucketsLeaveLeastBehind) {
  CostModel model(getTwoLevels(), {2, 4});
  uint64_t total = uint64_t(1) << 30;
  uint64_t best = model.getBucketBytes(CollectiveKind::kAllReduce, {kModel}, total);
  // Six rounds of a microsecond; 1.5 bytes are sent of each.
  EXPECT_NEAR(static_cast<double>(best), std::sqrt(total * 6e-6 * 1e11 / 1.5), 1e4);
  auto getRest = [&](uint64_t bytes) {
    double one = model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kModel}, bytes);
    return one + static_cast<double>(total) / static_cast<double>(bytes) *
                     model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kModel}, 0);
  };
  EXPECT_LT(getRest(best), getRest(best / 2));
  EXPECT_LT(getRest(best), getRest(best * 2));
  // Never beyond what saves starts alone, nor below what kernels want.
  EXPECT_LE(model.getBucketBytes(CollectiveKind::kAllReduce, {kModel}, uint64_t(1) << 50),
            model.getBucketBytes({kModel}));
  EXPECT_EQ(model.getBucketBytes(CollectiveKind::kAllReduce, {kModel}, 1000), uint64_t(4) << 20);
  CostModel host(getHostTopology(), {4});
  EXPECT_EQ(host.getBucketBytes(CollectiveKind::kAllReduce, {AxisPart{0, 1, 4}}, uint64_t(1) << 40), uint64_t(4) << 20);
}

TEST(CostModel, AxesThatFillDomainsAreSplit) {
  CostModel model(getTwoLevels(), {8});
  uint64_t bytes = 64 << 20;
  // Two domains of four ranks: the same as an axis of two across them and one of four inside.
  CostModel parted(getTwoLevels(), {2, 4});
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kAllReduce, {AxisPart{0, 1, 8}}, bytes),
                   parted.getCollectiveSeconds(CollectiveKind::kAllReduce, {kData, kModel}, bytes));
  // Six ranks are one and a half domain: rings of three, two inside.
  CostModel uneven(getTwoLevels(), {6});
  double flat = 10 * 1e-5 + 2.0 * 5 / 6 * bytes / 1e9;
  EXPECT_LT(uneven.getCollectiveSeconds(CollectiveKind::kAllReduce, {AxisPart{0, 1, 6}}, bytes), flat);
}

TEST(CostModel, RingsUseAllAdaptersAtOnce) {
  Topology topology = getTwoLevels();
  topology.links[0].bandwidth = 2e9;
  uint64_t bytes = 64000000000;
  // 48 rounds inside of hosts and 16 between; the four ports of a host carry four gigabytes per second, its links two.
  EXPECT_DOUBLE_EQ(
      CostModel(topology, {16, 4}).getCollectiveSeconds(CollectiveKind::kAllGather, {kHosts, kRanks}, bytes),
      48 * 1e-6 + 16 * 1e-5 + 63e9 / 2e9);
  topology.links[0].bandwidth = 1e10;
  EXPECT_DOUBLE_EQ(
      CostModel(topology, {16, 4}).getCollectiveSeconds(CollectiveKind::kAllReduce, {kHosts, kRanks}, bytes),
      2 * (48 * 1e-6 + 16 * 1e-5) + 2 * 63e9 / 4e9);
}

TEST(CostModel, RanksShareAdapters) {
  Topology topology = getTwoLevels();
  CostModel alone(topology, {2, 4});
  topology.links[1].sharedBy = 4;
  topology.links[1].oversubscription = 1.5;
  CostModel shared(topology, {2, 4});
  EXPECT_DOUBLE_EQ(shared.getCollectiveSeconds(CollectiveKind::kAllGather, {kData}, 2000000000) - 1e-5,
                   6 * (alone.getCollectiveSeconds(CollectiveKind::kAllGather, {kData}, 2000000000) - 1e-5));
}

TEST(CostModel, RailsAreNotOversubscribed) {
  Topology topology = getTwoLevels();
  topology.links[1].oversubscription = 2;
  CostModel plain(topology, {2, 4});
  topology.links[1].rails = true;
  CostModel rails(topology, {2, 4});
  uint64_t bytes = 2000000000;
  auto getSeconds = [&](const CostModel& model, llvm::ArrayRef<AxisPart> parts) {
    return model.getCollectiveSeconds(CollectiveKind::kPermute, parts, bytes);
  };
  // Ranks of the same place in other hosts, and any ranks.
  EXPECT_DOUBLE_EQ(getSeconds(plain, {kData}), 4 + 1e-5);
  EXPECT_DOUBLE_EQ(getSeconds(rails, {kData}), 2 + 1e-5);
  EXPECT_DOUBLE_EQ(getSeconds(rails, {kData, kModel}), 4 + 1e-5);
  // An axis across hosts alone, of which each rank is a place.
  EXPECT_DOUBLE_EQ(getSeconds(CostModel(topology, {8}), {AxisPart{0, 1, 2}}), 2 + 1e-5);
  // Stages of four ranks are hosts, of two ranks halves of them.
  EXPECT_DOUBLE_EQ(getMessageSeconds(CostModel(topology, {2, 4}), 0, 1, 1e9), 1 + 1e-5);
  EXPECT_DOUBLE_EQ(getMessageSeconds(CostModel(topology, {4, 2}), 1, 2, 1e9), 2 + 1e-5);
}

TEST(CostModel, ProtocolsTradeBandwidthForLatency) {
  Topology topology = getTwoLevels();
  topology.links[0].ll128Latency = 4e-7;
  topology.links[0].llLatency = 1e-7;
  CostModel model(topology, {2, 4});
  auto getSeconds = [&](uint64_t bytes) {
    return model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kModel}, bytes);
  };
  EXPECT_DOUBLE_EQ(getSeconds(1000), 6 * 1e-7 + 4 * 1.5e3 / 1e11);
  EXPECT_DOUBLE_EQ(getSeconds(1000000), 6 * 4e-7 + 128.0 / 120 * 1.5e6 / 1e11);
  EXPECT_DOUBLE_EQ(getSeconds(1000000000), 6 * 1e-6 + 1.5e9 / 1e11);
  // Rings over hosts have a protocol on all their links: between hosts there is one.
  uint64_t bytes = 64000000000;
  EXPECT_DOUBLE_EQ(
      CostModel(topology, {16, 4}).getCollectiveSeconds(CollectiveKind::kAllGather, {kHosts, kRanks}, bytes),
      CostModel(getTwoLevels(), {16, 4}).getCollectiveSeconds(CollectiveKind::kAllGather, {kHosts, kRanks}, bytes));
}

TEST(CostModel, SwitchesAddOnTheWay) {
  Topology topology = getTwoLevels();
  topology.links[0].algorithms.push_back(Algorithm::Switch);
  CostModel model(topology, {2, 4});
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kAllReduce, {kModel}, 1 << 30),
                   2e-6 + 1.25 * (1 << 30) / 1e11);
  // Nothing else is a sum.
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kAllGather, {kModel}, 1 << 30),
                   3e-6 + 0.75 * (1 << 30) / 1e11);
}

TEST(CostModel, StartupCountsOnce) {
  Topology topology = getTwoLevels();
  topology.links[0].startup = 1e-3;
  CostModel model(topology, {2, 4});
  EXPECT_DOUBLE_EQ(model.getCollectiveSeconds(CollectiveKind::kAllGather, {kModel}, 0), 3e-6 + 1e-3);
}

}  // namespace
