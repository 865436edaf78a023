#include "runtime/measure/link_rates.h"

#include <cmath>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/measure/topology_file.h"

namespace sgd::measure {
namespace {

using ::testing::HasSubstr;

// One rank of a job whose links have a latency and a bandwidth: an all-reduce takes its time asleep.
class SlowRank final : public comm::Communicator, public comm::Control {
 public:
  SlowRank(double latency, double bandwidth) : latency_(latency), bandwidth_(bandwidth) {}

  comm::Control& control() const override { return const_cast<SlowRank&>(*this); }
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

  uint32_t rank() const override { return 0; }
  uint32_t size() const override { return 1; }
  bool spans_hosts() const override { return true; }
  absl::Status Barrier(absl::Duration) override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration) override {
    return std::vector<std::string>{std::string(bytes)};
  }
  absl::Status Poll() override { return absl::OkStatus(); }
  void Abort(const absl::Status&) override {}
  void RequestStop(int) override {}
  absl::StatusOr<bool> BeginStep(uint64_t, absl::Duration) override { return true; }
  int stop_signal() override { return 0; }
  void Finish() override {}

 private:
  const double latency_, bandwidth_;
  std::vector<double> seconds_;
};

TEST(Links, AreWhatAllReducesShow) {
  SlowRank rank(/*latency=*/5e-4, /*bandwidth=*/2e8);
  const auto links =
      MeasureLinks(rank, {.hosts = 4, .ranks_per_host = 2}, [](uint32_t) { return 2; }, absl::Seconds(10));
  ASSERT_TRUE(links.ok()) << links.status();
  for (const LinkRates& rates : {links->inside, links->between}) {
    // Sleeps end late, never early.
    EXPECT_GE(rates.latency, 5e-4);
    EXPECT_LE(rates.latency, 2e-3);
    EXPECT_NEAR(rates.bandwidth, 2e8, 0.4e8);
  }
}

TEST(Links, OfOneHostOrOneRankEachAreOneLevel) {
  SlowRank rank(1e-4, 1e10);
  const auto rounds = [](uint32_t ranks) { return RoundsOf(/*is_gpu=*/false, ranks); };
  const auto host = MeasureLinks(rank, {.hosts = 1, .ranks_per_host = 2}, rounds, absl::Seconds(10));
  ASSERT_TRUE(host.ok()) << host.status();
  EXPECT_GT(host->inside.bandwidth, 0);
  EXPECT_EQ(host->between.bandwidth, 0);
  const auto hosts = MeasureLinks(rank, {.hosts = 2, .ranks_per_host = 1}, rounds, absl::Seconds(10));
  ASSERT_TRUE(hosts.ok()) << hosts.status();
  EXPECT_EQ(hosts->inside.bandwidth, 0);
  EXPECT_GT(hosts->between.bandwidth, 0);
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
