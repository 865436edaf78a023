#include "runtime/measure/topology_file.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace sgd::measure {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

MeasuredTopology OfCpus() {
  MeasuredTopology measured;
  measured.device = {.flops = 6.4e10,
                     .half_flops = 3.00049e10,
                     .memory_bandwidth = 1e10,
                     .packed_elements = 2e9,
                     .launch_latency = 1e-7};
  measured.links.layout = {.hosts = 2, .ranks_per_host = 4};
  measured.links.inside = {.latency = 5e-6, .bandwidth = 5e9};
  measured.links.between = {.latency = 5e-5, .bandwidth = 3e7};
  measured.kind.memory_bytes = uint64_t{4} << 30;
  return measured;
}

TEST(TopologyFile, OfCpusShareAPort) {
  const json file = json::parse(TopologyJson(OfCpus()));
  EXPECT_EQ(file["device"]["flops"], 6.4e10);
  EXPECT_EQ(file["device"]["half_flops"], 3e10);
  EXPECT_EQ(file["device"]["vector_flops"], 1.6e10);
  EXPECT_EQ(file["device"]["divisions"], 4e9);
  EXPECT_EQ(file["device"]["transcendentals"], 1.28e9);
  EXPECT_EQ(file["device"]["packed_elements"], 2e9);
  EXPECT_EQ(file["device"]["memory_bytes"], uint64_t{4} << 30);
  EXPECT_EQ(file["device"]["host_bandwidth"], 0);
  EXPECT_FALSE(file["device"].contains("architecture"));
  EXPECT_FALSE(file["device"].contains("cache_bytes"));
  ASSERT_EQ(file["links"].size(), 2u);
  EXPECT_EQ(file["links"][0]["ranks"], 4);
  EXPECT_EQ(file["links"][0]["bandwidth"], 5e9);
  EXPECT_FALSE(file["links"][0].contains("shared_by"));
  EXPECT_EQ(file["links"][1]["ranks"], 0);
  EXPECT_EQ(file["links"][1]["shared_by"], 4);
  EXPECT_EQ(file["links"][1]["bandwidth"], 1.2e8);
  EXPECT_EQ(file["links"][1]["algorithms"], json({"direct"}));
  EXPECT_THAT(TopologyTable(OfCpus()), HasSubstr("0.03 GB/s of a rank, of a port that 4 ranks share"));
}

TEST(TopologyFile, CachesWhereTheyAreKnown) {
  MeasuredTopology measured = OfCpus();
  measured.device.cache_bytes = 1 << 20;
  measured.device.cache_bandwidth = 7.00001e10;
  const json file = json::parse(TopologyJson(measured));
  EXPECT_EQ(file["device"]["cache_bytes"], 1 << 20);
  EXPECT_EQ(file["device"]["cache_bandwidth"], 7e10);
}

TEST(TopologyFile, OfGpusHasRingsAndTrees) {
  MeasuredTopology measured = OfCpus();
  measured.kind.architecture = "sm_90";
  const json file = json::parse(TopologyJson(measured));
  EXPECT_EQ(file["device"]["architecture"], "sm_90");
  for (const char* field : {"vector_flops", "divisions", "transcendentals", "packed_elements"})
    EXPECT_FALSE(file["device"].contains(field)) << field;
  EXPECT_FALSE(file["device"].contains("host_bandwidth"));
  EXPECT_FALSE(file["links"][1].contains("shared_by"));
  EXPECT_EQ(file["links"][1]["bandwidth"], 3e7);
  EXPECT_EQ(file["links"][1]["algorithms"], json({"ring", "tree"}));
}

TEST(TopologyFile, LastLinkJoinsAll) {
  for (const HostLayout& layout : {HostLayout{.hosts = 1, .ranks_per_host = 4}, {.hosts = 4, .ranks_per_host = 1}}) {
    MeasuredTopology measured = OfCpus();
    measured.links.layout = layout;
    const json file = json::parse(TopologyJson(measured));
    ASSERT_EQ(file["links"].size(), 1u);
    EXPECT_EQ(file["links"][0]["ranks"], 0);
  }
}

TEST(TopologyFile, Rounds) {
  EXPECT_EQ(RoundsOf(false, 2), 2);
  EXPECT_EQ(RoundsOf(false, 64), 2);
  EXPECT_EQ(RoundsOf(true, 2), 2);
  EXPECT_EQ(RoundsOf(true, 3), 4);
  EXPECT_EQ(RoundsOf(true, 64), 12);
}

}  // namespace
}  // namespace sgd::measure
