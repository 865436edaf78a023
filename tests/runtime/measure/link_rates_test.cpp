#include "runtime/measure/link_rates.h"

#include <cmath>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/measure/topology_file.h"
#include "tests/runtime/comm/meeting_threads.h"

namespace sgd::measure {
namespace {

using ::testing::HasSubstr;

// A rank of a job whose links have a latency and a bandwidth: an all-reduce takes its time asleep.
class SlowRank final : public comm::Communicator {
 public:
  SlowRank(comm::Control& control, double latency, double bandwidth)
      : control_(control), latency_(latency), bandwidth_(bandwidth) {}

  comm::Control& control() const override { return control_; }
  std::byte* window() override { return nullptr; }
  uint64_t window_bytes() const override { return kLinkWindowBytes; }
  absl::StatusOr<comm::CollectiveHandle> Prepare(const comm::Mesh& mesh, const comm::CollectiveSpec& spec) override {
    if (absl::Status status = comm::CheckSpec(mesh, spec, kLinkWindowBytes); !status.ok()) return status;
    const auto sent = static_cast<double>(comm::SentBytes(mesh, spec));
    seconds_.push_back(2 * latency_ + sent / bandwidth_);
    return comm::CollectiveHandle{static_cast<uint32_t>(seconds_.size() - 1)};
  }
  absl::Status Execute(comm::CollectiveHandle handle, absl::Duration) override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_[handle.index]));
    return absl::OkStatus();
  }
  absl::Status Start(comm::CollectiveHandle, absl::Duration) override { return absl::UnimplementedError(""); }
  absl::Status Wait(comm::CollectiveHandle, absl::Duration) override { return absl::UnimplementedError(""); }
  uint64_t sent_bytes() const override { return 0; }

 private:
  comm::Control& control_;
  const double latency_, bandwidth_;
  std::vector<double> seconds_;
};

// What ranks with these latencies find.
std::vector<MeasuredLinks> Measure(const std::vector<double>& latencies, double bandwidth, const HostLayout& layout) {
  std::vector<MeasuredLinks> found(latencies.size());
  const auto measure = [&](comm::Control& control) -> absl::Status {
    SlowRank rank(control, latencies[control.rank()], bandwidth);
    const auto rounds = [](uint32_t ranks) { return RoundsOf(/*is_gpu=*/false, ranks); };
    absl::StatusOr<MeasuredLinks> links = MeasureLinks(rank, layout, rounds, absl::Seconds(10));
    if (links.ok()) found[control.rank()] = *links;
    return links.status();
  };
  for (const absl::Status& status : comm::RunMeetingRanks(static_cast<uint32_t>(latencies.size()), measure))
    EXPECT_TRUE(status.ok()) << status;
  return found;
}

TEST(Links, AreWhatAllReducesShow) {
  const MeasuredLinks links = Measure({5e-4}, /*bandwidth=*/2e8, {.hosts = 4, .ranks_per_host = 2})[0];
  for (const LinkRates& rates : {links.inside, links.between}) {
    // Sleeps end late, never early.
    EXPECT_GE(rates.latency, 5e-4);
    EXPECT_LE(rates.latency, 2e-3);
    EXPECT_NEAR(rates.bandwidth, 2e8, 0.4e8);
  }
}

TEST(Links, AreThoseOfTheSlowestRankOnAll) {
  const std::vector<MeasuredLinks> links = Measure({1e-4, 6e-4}, /*bandwidth=*/1e9, {.hosts = 1, .ranks_per_host = 2});
  EXPECT_GE(links[0].inside.latency, 6e-4);
  EXPECT_EQ(links[0].inside.latency, links[1].inside.latency);
  EXPECT_EQ(links[0].inside.bandwidth, links[1].inside.bandwidth);
}

TEST(Links, OfOneHostOrOneRankEachAreOneLevel) {
  const MeasuredLinks host = Measure({1e-4}, 1e10, {.hosts = 1, .ranks_per_host = 2})[0];
  EXPECT_GT(host.inside.bandwidth, 0);
  EXPECT_EQ(host.between.bandwidth, 0);
  const MeasuredLinks hosts = Measure({1e-4}, 1e10, {.hosts = 2, .ranks_per_host = 1})[0];
  EXPECT_EQ(hosts.inside.bandwidth, 0);
  EXPECT_GT(hosts.between.bandwidth, 0);
}

TEST(Layout, OfConsecutiveRanks) {
  EXPECT_EQ(LayoutOf({"a", "a", "a", "a"})->hosts, 1u);
  EXPECT_EQ(LayoutOf({"a", "a", "b", "b", "c", "c"})->hosts, 3u);
  EXPECT_EQ(LayoutOf({"a", "a", "b", "b", "c", "c"})->ranks_per_host, 2u);
  EXPECT_EQ(LayoutOf({"a", "b", "c"})->ranks_per_host, 1u);
}

TEST(Layout, OfOthersIsRefused) {
  for (const std::vector<std::string>& hosts : std::vector<std::vector<std::string>>{
           {"a", "b", "a", "b"}, {"a", "b", "b"}, {"a", "a", "b"}, {"a", "a", "b", "c"}, {"a", "a", "b", "b", "b"}}) {
    const auto layout = LayoutOf(hosts);
    ASSERT_FALSE(layout.ok()) << ::testing::PrintToString(hosts);
    EXPECT_THAT(std::string(layout.status().message()), HasSubstr("start as many on each host"));
  }
}

}  // namespace
}  // namespace sgd::measure
