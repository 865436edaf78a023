// Links look addresses up when they are opened.
#include "runtime/comm/hosts/host_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meeting_threads.h"
#include "memory_transport.h"

namespace sgd::comm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Rank 0 of three, whose peers have offered addresses; notes which of them are looked up.
class AskingControl final : public MeetingControl {
 public:
  explicit AskingControl(MeetingPlace& place) : MeetingControl(0, 3, place, /*spans_hosts=*/true) {}

  absl::StatusOr<std::string> OfferOf(uint32_t rank, absl::Duration) override {
    asked.push_back(rank);
    if (is_cut_off) return absl::DeadlineExceededError("rank 0 did not pass on the address");
    return MakeMemoryTransport(network)->address();
  }

  std::shared_ptr<MemoryNetwork> network = MakeMemoryNetwork();
  std::vector<uint32_t> asked;
  bool is_cut_off = false;
};

class HostLinksTest : public testing::Test {
 protected:
  MeetingPlace place_{3};
  AskingControl control_{place_};
  HostLinks links_{MakeMemoryTransport(control_.network), control_, Placement(), absl::Seconds(1)};
};

TEST_F(HostLinksTest, OnlyAddressesOfPeersAreLookedUpOnce) {
  EXPECT_THAT(control_.asked, IsEmpty());
  ASSERT_TRUE(links_.Open(2, 0).ok());
  ASSERT_TRUE(links_.Open(2, 1).ok());
  ASSERT_TRUE(links_.Open(2, 0).ok());
  EXPECT_THAT(control_.asked, ElementsAre(2));
}

TEST_F(HostLinksTest, AnAddressThatIsNotFoundLeavesNoLink) {
  control_.is_cut_off = true;
  EXPECT_EQ(links_.Open(1, 0).status().code(), absl::StatusCode::kDeadlineExceeded);
  control_.is_cut_off = false;
  const absl::StatusOr<HostLink*> link = links_.Open(1, 0);
  ASSERT_TRUE(link.ok()) << link.status();
  EXPECT_NE(*link, nullptr);
  EXPECT_THAT(control_.asked, ElementsAre(1, 1));
}

}  // namespace
}  // namespace sgd::comm
