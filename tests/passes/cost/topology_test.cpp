// Topology files: what is accepted, and the message for each way a file can be wrong.
#include "passes/cost/topology.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::sgd;
using testing::AllOf;
using testing::HasSubstr;

namespace {
const char* kDevice = R"("device":{"flops":1,"half_flops":1,"memory_bandwidth":1,"launch_latency":0,"memory_bytes":1})";
const char* kLink = R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["ring"]})";

std::string errorOf(const std::string& json) {
  llvm::Expected<Topology> topology = parseTopology(json, "t.json");
  if (topology) return "accepted";
  return llvm::toString(topology.takeError());
}

std::string withLinks(const std::string& links) {
  return std::string("{\"name\":\"t\",") + kDevice + ",\"links\":[" + links + "]}";
}

TEST(Topology, ShippedFileLoads) {
  llvm::Expected<Topology> topology = loadTopology(SGD_TOPOLOGIES "/dgx-h100.json");
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->links.size(), 2u);
  EXPECT_EQ(topology->links[0].ranks, 8);
  EXPECT_EQ(topology->links[1].name, "infiniband");
  EXPECT_EQ(topology->device.hostBandwidth, 5e10);
}

TEST(Topology, HostIsBuiltIn) {
  llvm::Expected<Topology> topology = loadTopology("host");
  ASSERT_TRUE(bool(topology));
  EXPECT_EQ(topology->links.size(), 1u);
}

TEST(Topology, GpusAreBuiltIn) {
  EXPECT_FALSE(isBuiltInTopology("v100"));
  double bandwidth = 0;
  for (const char* name : {"a100", "h100", "b200"}) {
    EXPECT_TRUE(isBuiltInTopology(name));
    llvm::Expected<Topology> topology = loadTopology(name);
    ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
    EXPECT_EQ(topology->name, name);
    EXPECT_EQ(topology->links.size(), 2u);
    EXPECT_GT(topology->device.memoryBandwidth, bandwidth) << "newer is faster";
    bandwidth = topology->device.memoryBandwidth;
    EXPECT_GE(topology->device.hostBandwidth, 2.5e10);
  }
}

TEST(Topology, AllBuiltInOnesLoad) {
  for (llvm::StringRef name : getBuiltInTopologies()) {
    llvm::Expected<Topology> topology = loadTopology(name);
    ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
    EXPECT_EQ(topology->name, name);
    EXPECT_GE(topology->device.peakHalfFlops, topology->device.halfFlops) << name.str();
    EXPECT_GE(topology->device.peakFlops, topology->device.flops) << name.str();
    EXPECT_EQ(topology->links.back().ranks, 0) << name.str();
  }
}

TEST(Topology, OptionalFieldsAreRead) {
  llvm::Expected<Topology> topology = parseTopology(R"({"name":"t",
    "device":{"flops":1,"half_flops":2,"memory_bandwidth":1,"launch_latency":0,"memory_bytes":1,"peak_flops":3,
              "peak_half_flops":4,"storage_bandwidth":5,"price_per_hour":6,"cache_bytes":7,"cache_bandwidth":8},
    "links":[{"name":"l","ranks":0,"latency":0,"bandwidth":12,"algorithms":["ring","switch"],"shared_by":2,
              "oversubscription":1.5,"startup":1e-5,"protocols":{"ll":1e-6,"ll128":2e-6}}]})",
                                                    "t.json");
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->device.peakFlops, 3);
  EXPECT_EQ(topology->device.peakHalfFlops, 4);
  EXPECT_EQ(topology->device.storageBandwidth, 5);
  EXPECT_EQ(topology->device.pricePerHour, 6);
  EXPECT_EQ(topology->device.cacheBytes, 7);
  EXPECT_EQ(topology->device.cacheBandwidth, 8);
  EXPECT_EQ(topology->links[0].getShare(), 4);
  EXPECT_EQ(topology->links[0].startup, 1e-5);
  EXPECT_EQ(topology->links[0].getLatency(Protocol::LL), 1e-6);
  EXPECT_EQ(topology->links[0].getLatency(Protocol::LL128), 2e-6);
  EXPECT_FALSE(topology->links[0].rails);
}

TEST(Topology, ExtendsABuiltInOne) {
  llvm::Expected<Topology> topology = parseTopology(R"({"name":"mine","extends":"h100",
    "device":{"price_per_hour":2.5,"memory_bytes":1000},"links":[{"name":"infiniband","bandwidth":9e10}]})",
                                                    "t.json");
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  Topology base = *loadTopology("h100");
  EXPECT_EQ(topology->name, "mine");
  EXPECT_EQ(topology->device.pricePerHour, 2.5);
  EXPECT_EQ(topology->device.memoryBytes, 1000);
  // Other fields stay, also where a complete file would have another default.
  EXPECT_EQ(topology->device.flops, base.device.flops);
  EXPECT_EQ(topology->device.attentionFlops, base.device.attentionFlops);
  EXPECT_EQ(topology->device.peakHalfFlops, base.device.peakHalfFlops);
  EXPECT_EQ(topology->device.architecture, base.device.architecture);
  ASSERT_EQ(topology->links.size(), base.links.size());
  EXPECT_EQ(topology->links[0].bandwidth, base.links[0].bandwidth);
  EXPECT_EQ(topology->links[1].bandwidth, 9e10);
  EXPECT_EQ(topology->links[1].latency, base.links[1].latency);
  EXPECT_EQ(topology->links[1].algorithms, base.links[1].algorithms);
  EXPECT_TRUE(topology->links[1].rails);
  EXPECT_EQ(errorOf(R"({"name":"same","extends":"torus"})"), "accepted");
}

TEST(Topology, ExtensionsAreChecked) {
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h101"})"),
              AllOf(HasSubstr("field 'extends': cannot read topology 'h101'"), HasSubstr("built in are host")));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":7})"), HasSubstr("field 'extends' is missing, or no text"));
  EXPECT_THAT(errorOf(R"({"extends":"h100"})"), HasSubstr("field 'name' is missing"));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h100","device":{"flop":1}})"), HasSubstr("field 'flop' is unknown"));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h100","device":{"flops":-1}})"), HasSubstr("field 'flops' is -1"));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h100","links":[{"name":"ethernet"}]})"),
              HasSubstr("no such link; expected one of nvlink, infiniband"));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h100","links":[{"name":"nvlink","ranks":0}]})"),
              HasSubstr("expected 0 in the last link"));
  EXPECT_THAT(errorOf(R"({"name":"t","extends":"h100","links":[{"name":"nvlink","algorithms":["tree"]}]})"),
              HasSubstr("others cannot gather"));
}

TEST(Topology, FilesExtendFilesButNotThemselves) {
  std::string folder = testing::TempDir() + "/sgd-topologies-" + std::to_string(getpid());
  std::filesystem::create_directories(folder + "/sub");
  auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  write("sub/base.json", R"({"name":"base","extends":"a100","device":{"memory_bytes":40000000000}})");
  std::string top = write("top.json", R"({"name":"top","extends":"sub/base.json","device":{"flops":1}})");
  llvm::Expected<Topology> topology = loadTopology(top);
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->device.memoryBytes, 40000000000);
  EXPECT_EQ(topology->device.flops, 1);
  EXPECT_EQ(topology->device.architecture, "sm_80");
  std::string self = write("self.json", R"({"name":"self","extends":"./self.json"})");
  std::string one = write("one.json", R"({"name":"one","extends":"two.json"})");
  write("two.json", R"({"name":"two","extends":"sub/../one.json"})");
  for (const std::string& path : {self, one})
    EXPECT_THAT(llvm::toString(loadTopology(path).takeError()), HasSubstr("which extends this file in turn"));
  std::filesystem::remove_all(folder);
}

TEST(Topology, AdaptersOfAHost) {
  auto getOuter = [](const std::string& fields) {
    return parseTopology(R"({"name":"t","device":{"flops":1,"half_flops":2,"memory_bandwidth":1,"launch_latency":0,
                             "memory_bytes":1},"links":[
                             {"name":"i","ranks":8,"latency":0,"bandwidth":99,"algorithms":["ring"]},
                             {"name":"o","ranks":0,"latency":0,"bandwidth":12,"algorithms":["ring"],)" +
                             fields + "}]}",
                         "t.json");
  };
  for (auto [fields, share] :
       {std::pair("\"nics\":8", 12), {"\"nics\":2", 3}, {"\"nics\":16", 24}, {"\"shared_by\":8", 1}}) {
    llvm::Expected<Topology> topology = getOuter(fields);
    ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
    EXPECT_EQ(static_cast<int>(topology->links[1].getShare()), share) << fields;
  }
  EXPECT_THAT(llvm::toString(getOuter("\"nics\":3").takeError()), HasSubstr("'nics' is 3 for the 8 ranks"));
  EXPECT_THAT(llvm::toString(getOuter("\"nics\":8,\"shared_by\":1").takeError()), HasSubstr("leave one out"));
}

TEST(Topology, RailsJoinPlacesOfHosts) {
  std::string inner = R"({"name":"i","ranks":4,"latency":0,"bandwidth":1,"algorithms":["ring"]})";
  auto withRails = [](const std::string& value) {
    return R"({"name":"l","ranks":0,"latency":0,"bandwidth":12,"oversubscription":3,"algorithms":["ring"],"rails":)" +
           value + "}";
  };
  llvm::Expected<Topology> topology = parseTopology(withLinks(inner + "," + withRails("true")), "t.json");
  ASSERT_TRUE(bool(topology)) << llvm::toString(topology.takeError());
  EXPECT_EQ(topology->getInnerRanks(topology->links[0]), 1);
  EXPECT_EQ(topology->getInnerRanks(topology->links[1]), 4);
  EXPECT_EQ(topology->links[1].getShare(), 4);
  EXPECT_EQ(topology->links[1].getShare(/*toSamePlace=*/true), 12);
  EXPECT_EQ(errorOf(withLinks(inner + "," + withRails("false"))), "accepted");
  EXPECT_THAT(errorOf(withLinks(withRails("1"))), HasSubstr("field 'rails' is 1; expected true or false"));
  // Domains of one rank: all have one place.
  EXPECT_EQ(errorOf(withLinks(withRails("true"))), "accepted");
}

TEST(Topology, ProtocolsAreChecked) {
  auto errorWith = [](const std::string& protocols) {
    return errorOf(withLinks(R"({"name":"l","ranks":0,"latency":1,"bandwidth":1,"algorithms":["ring"],"protocols":)" +
                             protocols + "}"));
  };
  EXPECT_EQ(errorWith("{}"), "accepted");
  EXPECT_EQ(errorWith(R"({"ll":0.5})"), "accepted");
  EXPECT_THAT(errorWith("[1]"), HasSubstr("field 'protocols' is missing, or no object"));
  EXPECT_THAT(errorWith(R"({"ll":0})"),
              HasSubstr("link 0: protocols: field 'll' is 0; expected a number from 1e-30 to 1e30"));
  EXPECT_THAT(errorWith(R"({"ll64":1})"), HasSubstr("field 'll64' is unknown; did you mean 'll'?"));
}

TEST(Topology, BigBasinHasOneAdapter) {
  llvm::Expected<Topology> topology = loadTopology("p100");
  ASSERT_TRUE(bool(topology));
  EXPECT_EQ(topology->links[0].ranks, 8);
  EXPECT_EQ(topology->links[1].getShare(), 5e9 / 8);
}

TEST(Topology, MissingFileIsNamed) {
  llvm::Expected<Topology> topology = loadTopology("/nonexistent/t.json");
  ASSERT_FALSE(bool(topology));
  EXPECT_THAT(llvm::toString(topology.takeError()), HasSubstr("cannot read topology '/nonexistent/t.json'"));
}

TEST(Topology, MinimalFileIsAccepted) { EXPECT_EQ(errorOf(withLinks(kLink)), "accepted"); }

TEST(Topology, LinkToTheHostMayBeLeftOut) {
  llvm::Expected<Topology> plain = parseTopology(withLinks(kLink), "t.json");
  ASSERT_TRUE(bool(plain));
  EXPECT_EQ(plain->device.hostBandwidth, 2.5e10);
  std::string text = withLinks(kLink), field = "\"memory_bytes\":1";
  auto with = [&](const std::string& value) {
    return std::string(text).replace(text.find(field), field.size(), field + ",\"host_bandwidth\":" + value);
  };
  llvm::Expected<Topology> fast = parseTopology(with("4.5e11"), "t.json");
  ASSERT_TRUE(bool(fast));
  EXPECT_EQ(fast->device.hostBandwidth, 4.5e11);
  EXPECT_EQ(errorOf(with("0")), "accepted");
  EXPECT_THAT(errorOf(with("-1")), HasSubstr("device: field 'host_bandwidth' is -1; expected a number from 0 to 1e30"));
}

// Estimates were infinite, and shares of them no numbers.
TEST(Topology, NumbersBeyondAllDevicesAreRefused) {
  for (const char* number : {"5e-324", "1e-31", "1e31", "1e308"})
    EXPECT_THAT(errorOf(R"({"name":"t","device":{"flops":)" + std::string(number) + R"(},"links":[{}]})"),
                HasSubstr("device: field 'flops' is "))
        << number;
  EXPECT_EQ(errorOf("{\"name\":" + std::string(309, '9') + "}"),
            "topology 't.json' is not JSON: a number is out of range; expected a smaller one; correct the file");
}

TEST(Topology, ManyFieldsAreRefused) {
  auto withFields = [](int count) {
    std::string text = "{\"name\": \"t\"";
    for (int field = 1; field < count; ++field) text += ", \"k" + std::to_string(field) + "\": 1";
    return text + "}";
  };
  EXPECT_THAT(errorOf(withFields(4096)), HasSubstr("'t.json': field 'device' is missing"));
  for (int count : {4097, 20000})
    EXPECT_EQ(errorOf(withFields(count)),
              "topology 't.json' is too large: an object has more than 4096 fields; expected fewer fields; correct the "
              "file");
}

TEST(Topology, ErrorsNameFieldAndPlace) {
  EXPECT_THAT(errorOf("{"), HasSubstr("topology 't.json' is not JSON"));
  EXPECT_THAT(errorOf("[]"), HasSubstr("topology 't.json' is no object; expected {...}"));
  EXPECT_EQ(errorOf(std::string(1000000, '[')),
            "topology 't.json' is nested more than 20 deep; expected fewer levels; correct the file");
  EXPECT_EQ(errorOf(R"({"name": "a", "name": "b"})"),
            "topology 't.json' is ambiguous: an object has the field \"name\" twice; expected each field once; correct "
            "the file");
  EXPECT_THAT(errorOf("{}"), HasSubstr("'t.json': field 'name' is missing, or no text; expected a string"));
  EXPECT_THAT(errorOf(R"({"name":"t"})"), HasSubstr("field 'device' is missing, or no object; expected {...}"));
  EXPECT_THAT(errorOf(R"({"name":"t","device":{"flops":-1},"links":[{}]})"),
              HasSubstr("device: field 'flops' is -1; expected a number from 1e-30 to 1e30"));
  EXPECT_THAT(errorOf(R"({"name":"t","device":{"flops":"1"},"links":[{}]})"),
              HasSubstr("field 'flops' is \"1\"; expected a number in SI units"));
  EXPECT_THAT(errorOf(withLinks("")), HasSubstr("field 'links' is missing, or no list; expected a list"));
  EXPECT_THAT(errorOf(withLinks("1")), HasSubstr("link 0 is no object; expected {...}"));
  EXPECT_THAT(errorOf(withLinks(R"({"name":"l"})")), HasSubstr("link 0: field 'ranks' is missing"));
  EXPECT_THAT(errorOf(withLinks(R"({"name":"l","ranks":1.5})")),
              HasSubstr("field 'ranks' is 1.5; expected a whole number"));
  EXPECT_THAT(
      errorOf(withLinks(R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["star"]})")),
      HasSubstr("field 'algorithms' holds an unknown entry; expected \"ring\", \"tree\", \"direct\" or \"switch\""));
  EXPECT_THAT(errorOf(withLinks(R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["tree"]})")),
              HasSubstr("neither \"ring\" nor \"direct\", and others cannot gather"));
  EXPECT_THAT(errorOf(withLinks(
                  R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["ring"],"oversubscription":0.5})")),
              HasSubstr("field 'oversubscription' is below 1"));
  EXPECT_THAT(
      errorOf(withLinks(R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["ring"],"shared_by":0})")),
      HasSubstr("field 'shared_by' is 0; expected a number from 1e-30 to 1e30"));
  EXPECT_THAT(errorOf(withLinks(R"({"name":"l","ranks":8,"latency":0,"bandwidth":1,"algorithms":["ring"]})")),
              HasSubstr("field 'ranks' is 8; expected 0 in the last link"));
  EXPECT_THAT(errorOf(withLinks(R"({"name":"l","ranks":0,"latency":0,"bandwidth":1,"algorithms":["ring"],"mtu":1})")),
              HasSubstr("field 'mtu' is unknown; expected one of name, ranks, latency, bandwidth, algorithms"));
}
}  // namespace
