// How meetings fail, and whom they turn away.
#include "runtime/comm/tcp/tcp_meeting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <future>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/tcp/tcp_connection.h"
#include "runtime/comm/tcp/tcp_socket.h"
#include "tcp_threads.h"

namespace sgd::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::future<absl::Status> Meet(const HostAndPort& place, uint32_t rank, uint32_t size, const std::string& secret = "",
                               absl::Duration timeout = kTcpTimeout) {
  return std::async(std::launch::async, [=] {
    const auto links = MeetOverTcp({.place = place, .rank = rank, .size = size, .secret = secret, .timeout = timeout});
    if (links.ok()) EXPECT_EQ(links->size(), rank == 0 ? size - 1 : 1);
    return links.status();
  });
}

std::string Text(std::future<absl::Status> future) { return future.get().ToString(); }

// A connection of somebody who is no rank.
UniqueFd Stranger(const HostAndPort& place) {
  const SocketAddress address = Resolve(place)->front();
  while (true) {
    UniqueFd stranger(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(stranger.get(), address.get(), address.length) == 0) return stranger;
    absl::SleepFor(absl::Milliseconds(2));
  }
}

TEST(TcpMeeting, OverBothProtocolsInAnyOrder) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    const HostAndPort place = FreePlace(host);
    if (place.port == 1) continue;  // no IPv6 here
    auto second = Meet(place, 1, 3, "secret");
    auto first = Meet(place, 0, 3, "secret");
    auto third = Meet(place, 2, 3, "secret");
    EXPECT_EQ(Text(std::move(first)), "OK");
    EXPECT_EQ(Text(std::move(second)), "OK");
    EXPECT_EQ(Text(std::move(third)), "OK");
  }
}

TEST(TcpMeeting, RanksThatAreMissingAreNamedOnAll) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 4, "", absl::Milliseconds(300));
  auto two = Meet(place, 2, 4, "", absl::Milliseconds(300));
  for (auto* rank : {&zero, &two}) {
    EXPECT_THAT(Text(std::move(*rank)),
                AllOf(HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("rank 1, 3 of 4 did not come to 127.0.0.1:")));
  }
}

TEST(TcpMeeting, WithoutRank0) {
  EXPECT_THAT(Text(Meet(FreePlace(), 1, 2, "", absl::Milliseconds(100))),
              AllOf(HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("cannot meet rank 0: nobody answered at 127.0.0.1:")));
}

TEST(TcpMeeting, ContradictionsAreSaidOnAll) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 3), one = Meet(place, 1, 4);
  for (auto* rank : {&zero, &one}) {
    EXPECT_THAT(Text(std::move(*rank)), AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("rank 1 (at 127.0.0.1:"),
                                              HasSubstr("says that the job has 4 ranks, rank 0 says 3")));
  }
}

TEST(TcpMeeting, AnotherVersionIsNamedOnAll) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 3), two = Meet(place, 2, 3);
  auto one = std::async(std::launch::async, [=] {
    return MeetOverTcp({.place = place, .rank = 1, .size = 3, .secret = "", .timeout = kTcpTimeout, .version = "0.0.9"})
        .status();
  });
  for (auto* rank : {&zero, &one, &two}) {
    EXPECT_THAT(Text(std::move(*rank)),
                AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("rank 1 (at 127.0.0.1:"),
                      HasSubstr(absl::StrCat("runs sgdrun 0.0.9, rank 0 runs sgdrun ", BuildVersion(),
                                             "; expected one build; install the same on all hosts"))));
  }
}

TEST(TcpMeeting, AnotherNumberOfNodesIsNamedOnAll) {
  const HostAndPort place = FreePlace();
  std::vector<std::future<absl::Status>> ranks;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    ranks.push_back(std::async(std::launch::async, [=] {
      return MeetOverTcp({.place = place,
                          .rank = 3 * rank,  // 2 x 3 ranks and 3 x 2 ranks
                          .size = 6,
                          .secret = "",
                          .timeout = kTcpTimeout,
                          .nodes = 3 - rank})
          .status();
    }));
  }
  for (auto& rank : ranks)
    EXPECT_THAT(Text(std::move(rank)), HasSubstr("was started with --nnodes 2, rank 0 with --nnodes 3"));
}

// What an earlier release sends first.
std::string OldForm(const char* magic, size_t bytes) {
  std::string text(magic);
  text.resize(bytes);
  return text;
}

TEST(TcpMeeting, EarlierReleasesAreRecognised) {
  const HostAndPort place = FreePlace();
  std::vector<std::string> notes;
  auto zero = std::async(std::launch::async, [&] {
    return MeetOverTcp({.place = place,
                        .rank = 0,
                        .size = 2,
                        .secret = "",
                        .timeout = absl::Milliseconds(500),
                        .note = [&](const std::string& note) { notes.push_back(note); }})
        .status();
  });
  const UniqueFd old = Stranger(place);
  const std::string hello = OldForm("sg-hllo1", 88);
  ASSERT_GT(send(old.get(), hello.data(), hello.size(), MSG_NOSIGNAL), 0);
  EXPECT_THAT(Text(std::move(zero)), HasSubstr("rank 1 of 2 did not come"));
  EXPECT_THAT(notes, ::testing::ElementsAre(HasSubstr("that runs another version of sgdrun")));

  const HostAndPort elsewhere = FreePlace();
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = Resolve(elsewhere)->front();
  ASSERT_EQ(bind(listener.get(), address.get(), address.length), 0);
  ASSERT_EQ(listen(listener.get(), 4), 0);
  auto one = Meet(elsewhere, 1, 2);
  UniqueFd accepted(accept(listener.get(), nullptr, nullptr));
  const std::string greeting = OldForm("sg-chan1", 40);
  ASSERT_GT(send(accepted.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL), 0);
  EXPECT_THAT(Text(std::move(one)), HasSubstr("runs another version of sgdrun than 0.1.0 (build "));
}

TEST(TcpMeeting, ANameThatIsNotKnownYetIsNotedOnce) {
  std::vector<std::string> notes;
  const auto connection = ConnectOverTcp(
      {"no-such-host.invalid", 80}, "", Hello(), SteadyNow() + absl::Seconds(1),
      {.note = [&](const std::string& note) { notes.push_back(note); }, .note_after = absl::Milliseconds(50)});
  EXPECT_THAT(connection.status().ToString(),
              AllOf(HasSubstr("DEADLINE_EXCEEDED"), HasSubstr("cannot resolve 'no-such-host.invalid'")));
  EXPECT_THAT(notes, ::testing::ElementsAre(
                         AllOf(HasSubstr("cannot resolve 'no-such-host.invalid'"), HasSubstr("trying again for "))));
}

// "localhost" may stand for ::1 first, where nobody listens.
TEST(TcpMeeting, OneOfSeveralAddressesIsEnough) {
  const HostAndPort place = FreePlace();
  auto acceptor = TcpAcceptor::Listen(Resolve(place)->front(), "");
  ASSERT_TRUE(acceptor.ok());
  auto connecting = std::async(std::launch::async, [=] {
    return ConnectOverTcp({"localhost", place.port}, "", Hello(), SteadyNow() + kTcpTimeout).status();
  });
  std::vector<TcpConnection> proven;
  while (proven.empty()) proven = *acceptor->Accept(absl::Milliseconds(20));
  EXPECT_TRUE(connecting.get().ok());
}

TEST(TcpMeeting, ARankThatCannotTakePartTellsWhy) {
  for (const uint32_t failing : {0u, 1u}) {
    const HostAndPort place = FreePlace();
    std::vector<std::future<absl::Status>> ranks;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      ranks.push_back(std::async(std::launch::async, [=] {
        const auto own_failure = [=] {
          return rank == failing ? absl::NotFoundError("in.safetensors: cannot open") : absl::OkStatus();
        };
        return MeetOverTcp({.place = place,
                            .rank = rank,
                            .size = 3,
                            .secret = "",
                            .timeout = kTcpTimeout,
                            .own_failure = own_failure})
            .status();
      }));
    }
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const std::string text = Text(std::move(ranks[rank]));
      EXPECT_THAT(text, HasSubstr(rank == failing && rank != 0
                                      ? "in.safetensors: cannot open"
                                      : absl::StrCat("rank ", failing, ": in.safetensors: cannot open")));
    }
  }
}

// By its launcher: of a rank that was killed before it had connected, nobody else knows.
TEST(TcpMeeting, ADeathThatIsReportedIsSaidOnAll) {
  for (const uint32_t dead : {0u, 2u}) {
    const HostAndPort place = FreePlace();
    std::vector<std::future<absl::Status>> ranks;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      if (rank != dead) ranks.push_back(Meet(place, rank, 3, "secret"));
    }
    EXPECT_TRUE(ReportDeath({.place = place, .rank = dead, .size = 3, .secret = "secret", .timeout = kTcpTimeout},
                            absl::UnavailableError("killed by signal 9, process 17")));
    const auto names_the_dead = AllOf(HasSubstr("UNAVAILABLE"), HasSubstr(absl::StrCat("rank ", dead)),
                                      HasSubstr("killed by signal 9, process 17"));
    for (size_t i = 0; i < ranks.size(); ++i) {
      const std::string text = Text(std::move(ranks[i]));
      // Rank 0 hears of it. One that has not joined by then finds rank 0 gone.
      if (dead != 0 && i == 0) {
        EXPECT_THAT(text, names_the_dead);
      } else {
        EXPECT_THAT(text, ::testing::AnyOf(names_the_dead, HasSubstr("ended before all ranks had joined")));
      }
    }
  }
}

TEST(TcpMeeting, AReportThatNobodyHearsEndsSoon) {
  EXPECT_FALSE(ReportDeath({.place = FreePlace(), .rank = 1, .size = 2, .secret = "", .timeout = kTcpTimeout},
                           absl::UnavailableError("killed by signal 9")));
}

// Rank 0 looks seldom, so that it finds the report, and rank 1 behind it, at the same moment.
TEST(TcpMeeting, WhoComesWithTheReportOfADeathHearsOfIt) {
  const HostAndPort place = FreePlace();
  auto zero = std::async(std::launch::async, [=] {
    const auto delay = [] {
      absl::SleepFor(absl::Milliseconds(200));
      return absl::OkStatus();
    };
    return MeetOverTcp(
               {.place = place, .rank = 0, .size = 3, .secret = "", .timeout = kTcpTimeout, .own_failure = delay})
        .status();
  });
  Stranger(place);  // rank 0 listens
  auto report = std::async(std::launch::async, [=] {
    return ReportDeath({.place = place, .rank = 2, .size = 3, .secret = "", .timeout = kTcpTimeout},
                       absl::UnavailableError("killed by signal 9, process 17"));
  });
  absl::SleepFor(absl::Milliseconds(50));
  auto one = Meet(place, 1, 3);
  EXPECT_TRUE(report.get());
  for (auto* rank : {&zero, &one}) EXPECT_THAT(Text(std::move(*rank)), HasSubstr("rank 2: killed by signal 9"));
}

TEST(TcpMeeting, ARankBeyondTheJob) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 2);
  Hello claim;
  claim.rank = 1'000'000'000;
  claim.size = 2;
  claim.purpose = 1;
  claim.SetVersion(BuildVersion());
  const auto stray = ConnectOverTcp(place, "", claim, SteadyNow() + kTcpTimeout);
  ASSERT_TRUE(stray.ok());
  EXPECT_THAT(Text(std::move(zero)), AllOf(HasSubstr("FAILED_PRECONDITION: rank 1000000000 (at 127.0.0.1:"),
                                           HasSubstr("is none of the 2 ranks of this job")));
}

TEST(TcpMeeting, TwoOfOneRank) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 3), one = Meet(place, 1, 3), other = Meet(place, 1, 3);
  for (auto* rank : {&zero, &one, &other})
    EXPECT_THAT(Text(std::move(*rank)), HasSubstr("two processes say that they are rank 1, one at 127.0.0.1:"));
}

TEST(TcpMeeting, AnotherSecretIsRefusedAndTheOthersMeet) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 2, "right");
  EXPECT_THAT(Text(Meet(place, 1, 2, "wrong")),
              AllOf(HasSubstr("PERMISSION_DENIED"),
                    HasSubstr("it was started with another secret (SGD_SECRET or --secret-file)")));
  EXPECT_THAT(Text(Meet(place, 1, 2, "")), HasSubstr("PERMISSION_DENIED"));
  EXPECT_EQ(Text(Meet(place, 1, 2, "right")), "OK");
  EXPECT_EQ(Text(std::move(zero)), "OK");
}

TEST(TcpMeeting, RefusalsAreSaidWhereRanksAreMissing) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 2, "right", absl::Seconds(1));
  EXPECT_THAT(Text(Meet(place, 1, 2, "wrong")), HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(Text(std::move(zero)),
              AllOf(HasSubstr("rank 1 of 2 did not come"), HasSubstr("; a process at 127.0.0.1:"),
                    HasSubstr(" was refused: it was started with another secret")));
}

TEST(TcpMeeting, NeedsASecretOffLoopback) {
  EXPECT_THAT(Text(Meet({"0.0.0.0", 1}, 0, 2)),
              AllOf(HasSubstr("FAILED_PRECONDITION"),
                    HasSubstr("have no secret; expected one; give all ranks the same SGD_SECRET or --secret-file")));
  EXPECT_THAT(Text(Meet({"192.0.2.1", 1}, 1, 2)), AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("have no secret")));
}

// Rank 0 of 2, whose notes go to `notes`.
std::future<absl::Status> NotingMeeting(const HostAndPort& place, const std::string& secret, absl::Duration timeout,
                                        std::vector<std::string>& notes) {
  return std::async(std::launch::async, [=, &notes] {
    return MeetOverTcp({.place = place,
                        .rank = 0,
                        .size = 2,
                        .secret = secret,
                        .timeout = timeout,
                        .note = [&](const std::string& note) { notes.push_back(note); }})
        .status();
  });
}

TEST(TcpMeeting, StrangersHurtNobodyAndAreNoted) {
  const HostAndPort place = FreePlace();
  std::vector<std::string> notes;
  auto zero = NotingMeeting(place, "secret", kTcpTimeout, notes);
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 300; ++i) strangers.push_back(Stranger(place));  // say nothing, more than are kept
  for (const std::string& noise :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(1 << 16, '\xff'), std::string(1, '\0')}) {
    strangers.push_back(Stranger(place));
    EXPECT_GT(send(strangers.back().get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  }
  strangers.erase(strangers.begin(), strangers.begin() + 50);  // gone again
  EXPECT_EQ(Text(Meet(place, 1, 2, "secret")), "OK");
  EXPECT_EQ(Text(std::move(zero)), "OK");
  // Each reason once at most, although 300 came from this host; which ones depends on how many wait at a time.
  const auto note = [&](const char* what) {
    return AllOf(HasSubstr(absl::StrCat("port ", place.port, ": turned away a connection from 127.0.0.1:")),
                 HasSubstr(what));
  };
  EXPECT_THAT(notes, ::testing::Each(note("")));
  EXPECT_LE(notes.size(), 4u);
}

TEST(TcpMeeting, NotesWhoDidNotSpeakAsARank) {
  const HostAndPort place = FreePlace();
  std::vector<std::string> notes;
  auto zero = NotingMeeting(place, "", absl::Milliseconds(400), notes);
  const UniqueFd stranger = Stranger(place);
  EXPECT_GT(send(stranger.get(), "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 0);
  Stranger(place);  // and away again
  EXPECT_THAT(Text(std::move(zero)), HasSubstr("rank 1 of 2 did not come"));
  EXPECT_THAT(notes, ::testing::UnorderedElementsAre(HasSubstr("that did not speak as a rank does"),
                                                     HasSubstr("that went away before it had said who it is")));
}

TEST(TcpMeeting, SomethingElseListensThere) {
  const HostAndPort place = FreePlace();
  UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress address = Resolve(place)->front();
  ASSERT_EQ(bind(other.get(), address.get(), address.length), 0);
  ASSERT_EQ(listen(other.get(), 4), 0);
  EXPECT_THAT(Text(Meet(place, 0, 2)), AllOf(HasSubstr("ALREADY_EXISTS"), HasSubstr("is in use by another program")));
  auto one = Meet(place, 1, 2);
  UniqueFd accepted(accept(other.get(), nullptr, nullptr));
  const std::string noise(100, 'x');
  ASSERT_GT(send(accepted.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  EXPECT_THAT(Text(std::move(one)), AllOf(HasSubstr("FAILED_PRECONDITION"),
                                          HasSubstr("is no rank of this job; expected rank 0; choose another port")));
}

TEST(TcpMeeting, ARankThatEndsMeanwhile) {
  const HostAndPort place = FreePlace();
  auto zero = Meet(place, 0, 3);
  Hello claim;
  claim.rank = 1;
  claim.size = 3;
  claim.purpose = 1;
  claim.SetVersion(BuildVersion());
  {
    const auto gone = ConnectOverTcp(place, "", claim, SteadyNow() + kTcpTimeout);
    ASSERT_TRUE(gone.ok());
  }
  EXPECT_THAT(Text(std::move(zero)), AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("rank 1 (at 127.0.0.1:"),
                                           HasSubstr("has ended during start-up")));
}

}  // namespace
}  // namespace sgd::comm
