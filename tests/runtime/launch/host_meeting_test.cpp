// Launchers of one process, on loopback, that meet and lose each other.
#include "runtime/launch/host_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/control_message.h"

namespace sgd::launch {
namespace {

using ::testing::HasSubstr;

HostMeetingOptions Options(uint32_t node, uint16_t port) {
  return {.places = {{"127.0.0.1", port}},
          .node = node,
          .nodes = 2,
          .spares = 1,
          .secret = "a secret of tests",
          .timeout = absl::Seconds(60)};
}

uint16_t Port() { return static_cast<uint16_t>(21000 + getpid() % 8000); }

struct Launcher {
  explicit Launcher(const HostMeetingOptions& options) : meeting(options) {}
  void Begin(const std::string& facts) {
    thread = std::thread([this, facts] { roster = meeting.Meet(facts); });
  }
  const absl::StatusOr<HostRoster>& End() {
    thread.join();
    return roster;
  }
  HostMeeting meeting;
  absl::StatusOr<HostRoster> roster = absl::UnknownError("");
  std::thread thread;
};

TEST(HostMeeting, ASpareTakesThePlaceOfAHostThatDoesNotComeAgain) {
  const uint16_t port = Port();
  Launcher first(Options(0, port)), spare(Options(2, port));
  std::optional<Launcher> second(std::in_place, Options(1, port));
  first.Begin("of host 0");
  second->Begin("of host 1");
  spare.Begin("of the spare");
  for (Launcher* launcher : {&first, &*second}) {
    ASSERT_TRUE(launcher->End().ok()) << launcher->roster.status();
    EXPECT_EQ(launcher->roster->generation, 1u);
    ASSERT_EQ(launcher->roster->nodes.size(), 2u);
    EXPECT_EQ(launcher->roster->nodes[1].claim.facts, "of host 1");
  }
  EXPECT_EQ(second->roster->node, 1u);
  // Host 1 is lost, which may have led, so that the spare has to look for host 0.
  second.reset();
  first.Begin("of host 0 again");
  ASSERT_TRUE(first.End().ok()) << first.roster.status();
  ASSERT_TRUE(spare.End().ok()) << spare.roster.status();
  EXPECT_EQ(first.roster->node, 0u);
  EXPECT_EQ(spare.roster->node, 1u);
  EXPECT_EQ(spare.roster->generation, 2u);
  EXPECT_EQ(spare.roster->nodes[0].claim.facts, "of host 0 again");
  EXPECT_EQ(spare.roster->nodes[1].claim.facts, "of the spare");
  // Next time nobody but the two hosts is there, and nobody waits for spares.
  spare.Begin("once more");
  first.Begin("once more");
  ASSERT_TRUE(first.End().ok()) << first.roster.status();
  ASSERT_TRUE(spare.End().ok()) << spare.roster.status();
  EXPECT_EQ(spare.roster->node, 1u);
}

// Ranks are lost again and again, and no host.
TEST(HostMeeting, ASpareThatIsNotNeededWaitsForTheNextMeeting) {
  const uint16_t port = Port() + 6;
  const HostMeetingOptions options = Options(0, port);
  HostMeetingOptions slow = Options(2, port);  // to answer
  slow.own_failure = [] {
    absl::SleepFor(absl::Milliseconds(20));
    return absl::OkStatus();
  };
  Launcher second(Options(1, port)), spare(slow);
  HostClaim claim;
  std::vector<HostLink> waiting;
  for (int meeting = 0; meeting < 20; ++meeting) {
    const std::string place = options.places[0].Text();
    HostLeader first(options, claim, place, {place}, std::exchange(waiting, {}), SteadyNow());
    bool has_begun = false;
    const absl::StatusOr<HostRoster> roster = first.Lead(options.places[0], [&] {
      if (!std::exchange(has_begun, true)) {
        second.Begin("of host 1");
        if (meeting == 0) spare.Begin("of the spare");
      }
      return false;
    });
    ASSERT_TRUE(second.End().ok()) << second.roster.status();
    EXPECT_EQ(roster->spares, 1u) << meeting;
    claim = {.node = 0, .generation = roster->generation, .launchers = roster->launchers, .facts = ""};
    waiting = first.TakeWaiting();
  }
  ASSERT_EQ(waiting.size(), 1u);
  comm::SendFrame(waiting[0].link, comm::ControlKind::kDone, "");
  EXPECT_EQ(spare.End().status().message(), kRunHasEnded);
}

// With host 0, which led, and with host 1.
TEST(HostMeeting, ASlowHostGivesWayToASpareAndIsOneItself) {
  for (const uint32_t slow : {1u, 0u}) {
    const uint16_t port = Port() + 4 + static_cast<uint16_t>(slow);
    bool is_spare = false;
    HostMeetingOptions gives_way = Options(slow, port);
    gives_way.became_spare = [&] {
      is_spare = true;
      return "of a spare";
    };
    Launcher giving(gives_way), staying(Options(1 - slow, port)), spare(Options(2, port));
    for (Launcher* launcher : {&giving, &staying, &spare}) launcher->Begin("of the first meeting");
    ASSERT_TRUE(giving.End().ok() && staying.End().ok()) << giving.roster.status() << staying.roster.status();
    EXPECT_EQ(staying.roster->spares, 1u);
    giving.meeting.GiveWay();
    giving.Begin("of a slow host");
    staying.Begin("of the other host");
    ASSERT_TRUE(staying.End().ok() && spare.End().ok()) << staying.roster.status() << spare.roster.status();
    EXPECT_EQ(spare.roster->node, slow);
    EXPECT_EQ(spare.roster->spares, 0u) << "slow ones do not count";
    staying.meeting.TellEnd(absl::OkStatus());
    spare.meeting.TellEnd(absl::OkStatus());
    EXPECT_EQ(giving.End().status().message(), kRunHasEnded);
    EXPECT_TRUE(is_spare);
  }
}

TEST(HostMeeting, AllHearWhyALauncherCannotCome) {
  const uint16_t port = Port() + 1;
  HostMeetingOptions failing = Options(1, port);
  failing.own_failure = [] { return absl::InvalidArgumentError("model.sgda: cannot be read"); };
  Launcher first(Options(0, port)), second(failing);
  first.Begin("");
  second.Begin("");
  EXPECT_THAT(std::string(second.End().status().message()), HasSubstr("model.sgda: cannot be read"));
  second.meeting.Fail(absl::InvalidArgumentError("model.sgda: cannot be read"));
  EXPECT_EQ(first.End().status().message(), "host 1: model.sgda: cannot be read");
}

TEST(HostMeeting, NamesWhoIsMissing) {
  HostMeetingOptions options = Options(0, Port() + 2);
  options.timeout = absl::Milliseconds(100);
  EXPECT_THAT(std::string(HostMeeting(options).Meet("").status().message()),
              HasSubstr("the launcher of host 1, 2 did not come to 127.0.0.1:"));
}

TEST(HostMeeting, RefusesOtherFlags) {
  const uint16_t port = Port() + 3;
  HostMeetingOptions other = Options(1, port);
  other.spares = 0;
  Launcher first(Options(0, port)), second(other);
  first.Begin("");
  second.Begin("");
  for (Launcher* launcher : {&first, &second})
    EXPECT_THAT(std::string(launcher->End().status().message()), HasSubstr("expected the same; start all hosts"));
}

}  // namespace
}  // namespace sgd::launch
