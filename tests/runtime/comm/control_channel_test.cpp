// Agreements of every size, and every way in which a job ends early.
#include "runtime/comm/tcp/control_channel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "absl/time/clock.h"
#include "runtime/comm/tcp/tcp_control.h"
#include "runtime/comm/tcp/tcp_socket.h"
#include "tcp_threads.h"

namespace sgd::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Text(const absl::Status& status) { return status.ToString(); }

TEST(ControlChannel, GathersBytesOfAnyLength) {
  const HostAndPort place = FreePlace();
  RunOverTcpAsThreads(3, [](ControlChannel& channel) {
    for (int round = 0; round < 50; ++round) {
      const auto all = channel.AllGather(std::string(channel.rank() * 100, 'a'), kTcpTimeout);
      ASSERT_TRUE(all.ok()) << all.status();
      for (uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ((*all)[rank].size(), rank * 100);
    }
    const auto large = channel.AllGather(std::string(channel.MaxContribution(), 'b'), kTcpTimeout);
    ASSERT_TRUE(large.ok()) << large.status();
    EXPECT_EQ((*large)[2].size(), channel.MaxContribution());
  });
}

TEST(ControlChannel, GathersForRank0Alone) {
  RunOverTcpAsThreads(3, [](ControlChannel& channel) {
    for (int round = 0; round < 3; ++round) {
      const auto all = channel.Gather(std::to_string(channel.rank() + 7), kTcpTimeout);
      ASSERT_TRUE(all.ok()) << all.status();
      const std::vector<std::string> none(3), some = {"7", "8", "9"};
      EXPECT_EQ(*all, channel.rank() == 0 ? some : none);
    }
  });
}

TEST(ControlChannel, ARankAlone) {
  auto channel = ControlChannel::Start({}, ChannelOptions(0, 1));
  ASSERT_TRUE(channel.ok());
  EXPECT_EQ((*channel)->AllGather("x", kTcpTimeout)->front(), "x");
  EXPECT_TRUE((*channel)->WaitForOthers(kTcpTimeout).ok());
}

TEST(ControlChannel, LateRanksAreNamedOnAll) {
  for (uint32_t late : {0u, 2u}) {
    std::atomic<int> waited = 0;
    RunOverTcpAsThreads(3, [&](ControlChannel& channel) {
      if (channel.rank() == late) {
        while (waited < 2) absl::SleepFor(absl::Milliseconds(5));
        return;
      }
      const absl::Status status = channel.AllGather("", absl::Milliseconds(200)).status();
      EXPECT_THAT(Text(status),
                  HasSubstr("DEADLINE_EXCEEDED: rank " + std::to_string(late) + " did not arrive within 200ms"));
      ++waited;
    });
  }
}

TEST(ControlChannel, TheFirstCauseEndsAllWaits) {
  RunOverTcpAsThreads(4, [](ControlChannel& channel) {
    if (channel.rank() == 2) channel.Abort(absl::InvalidArgumentError("mlp.py:31:8: bad input"));
    const absl::Status status = channel.AllGather("", kTcpTimeout).status();
    EXPECT_EQ(Text(status), "INVALID_ARGUMENT: rank 2: mlp.py:31:8: bad input");
    channel.Abort(absl::InternalError("a later one"));
    EXPECT_EQ(channel.abort_cause(), status);
    EXPECT_EQ(channel.WaitForOthers(kTcpTimeout).ok(), channel.rank() != 0);
  });
}

TEST(ControlChannel, AnEndWithoutAWordIsADeath) {
  for (uint32_t dead : {0u, 1u}) {
    const HostAndPort place = FreePlace();
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      threads.emplace_back([=] {
        auto links = MeetOverTcp({.place = place, .rank = rank, .size = 3, .secret = "s", .timeout = kTcpTimeout});
        ASSERT_TRUE(links.ok()) << links.status();
        auto channel = ControlChannel::Start(*std::move(links), ChannelOptions(rank, 3));
        ASSERT_TRUE(channel.ok());
        if (rank == dead) return;
        EXPECT_THAT(Text((*channel)->AllGather("", kTcpTimeout).status()),
                    AllOf(HasSubstr("UNAVAILABLE: rank " + std::to_string(dead)),
                          HasSubstr("its process or host has ended: the connection to 127.0.0.1:")));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// As of another version of the program: texts are taken by ranks' numbers.
TEST(ControlChannel, AnAgreementThatLacksRanksEndsTheJob) {
  for (const std::string& payload : {EncodeTexts(std::vector<std::string>{"0"}), std::string(7, 'x')}) {
    const HostAndPort place = FreePlace();
    std::thread zero([=] {
      auto links = MeetOverTcp({.place = place, .rank = 0, .size = 2, .secret = "", .timeout = kTcpTimeout});
      ASSERT_TRUE(links.ok()) << links.status();
      ControlLink& link = links->front();
      const auto wire = link.encoder.Encode(static_cast<uint32_t>(ControlKind::kGathered), 0, payload);
      ASSERT_TRUE(wire.ok());
      ASSERT_TRUE(WriteAll(link.socket.get(), std::as_bytes(std::span(*wire)), absl::Now() + kTcpTimeout).ok());
      std::byte byte;
      while (ReadAll(link.socket.get(), {&byte, 1}, absl::Now() + kTcpTimeout).ok()) {
      }
    });
    auto links = MeetOverTcp({.place = place, .rank = 1, .size = 2, .secret = "", .timeout = kTcpTimeout});
    ASSERT_TRUE(links.ok()) << links.status();
    auto channel = ControlChannel::Start(*std::move(links), ChannelOptions(1, 2));
    ASSERT_TRUE(channel.ok());
    EXPECT_THAT(Text((*channel)->AllGather("1", kTcpTimeout).status()),
                AllOf(HasSubstr("INTERNAL: rank 0: gave "), HasSubstr("start all ranks with the same sgdrun")));
    channel->reset();
    zero.join();
  }
}

TEST(ControlChannel, GivesUpARankThatComputes) {
  std::atomic<int> given_up = 0;
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      auto links = MeetOverTcp({.place = place, .rank = rank, .size = 2, .secret = "", .timeout = kTcpTimeout});
      ASSERT_TRUE(links.ok()) << links.status();
      ControlChannelOptions options = ChannelOptions(rank, 2);
      std::atomic<int> told = 0;
      options.on_abort = [&](uint32_t at_fault, const absl::Status&) { told += at_fault == 1 ? 1 : 100; };
      options.grace = absl::Milliseconds(20);
      options.give_up = [&](const absl::Status& cause) {
        EXPECT_EQ(Text(cause), "INTERNAL: rank 1: broken");
        ++given_up;
      };
      auto channel = ControlChannel::Start(*std::move(links), std::move(options));
      ASSERT_TRUE(channel.ok());
      if (rank == 1) (*channel)->Abort(absl::InternalError("broken"));
      while (given_up < 2) absl::SleepFor(absl::Milliseconds(1));
      channel->reset();
      EXPECT_EQ(told, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ControlMessage, TextsByRankAreThoseThatWereGiven) {
  const std::vector<std::vector<std::string>> cases = {
      {"", "", ""}, {"a"}, {"a", "a", "b", "a"}, {"a", "b", std::string(1000, 'c')}, {"", "x", ""}};
  for (const std::vector<std::string>& texts : cases) {
    const std::string payload = EncodeByRank(texts);
    const uint32_t ranks = static_cast<uint32_t>(texts.size());
    EXPECT_EQ(DecodeByRank(payload, ranks), texts);
    EXPECT_EQ(DecodeByRank(payload, ranks + 1), std::nullopt);
    for (size_t length = 0; length < payload.size(); ++length)
      EXPECT_EQ(DecodeByRank(std::string_view(payload).substr(0, length), ranks), std::nullopt);
  }
  EXPECT_LT(EncodeByRank(std::vector<std::string>(1000, "equal")).size(), 40u);
}

TEST(TcpControl, AgreesOnTextsLongerThanAFrame) {
  const HostAndPort place = FreePlace();
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    threads.emplace_back([=] {
      auto links = MeetOverTcp({.place = place, .rank = rank, .size = 2, .secret = "", .timeout = kTcpTimeout});
      ASSERT_TRUE(links.ok()) << links.status();
      auto channel = ControlChannel::Start(*std::move(links), ChannelOptions(rank, 2));
      ASSERT_TRUE(channel.ok());
      TcpControl control(*std::move(channel));
      EXPECT_TRUE(control.spans_hosts());
      EXPECT_TRUE(control.Barrier(kTcpTimeout).ok());
      const auto text = [](uint32_t of) { return std::string(of == 0 ? 3 : 20'000'001, static_cast<char>('a' + of)); };
      for (int round = 0; round < 2; ++round) {
        const auto all = control.AllGatherBytes(text(rank), kTcpTimeout);
        ASSERT_TRUE(all.ok()) << all.status();
        EXPECT_TRUE((*all)[0] == text(0) && (*all)[1] == text(1));
        const auto of_rank0 = control.GatherBytes(text(rank), kTcpTimeout);
        ASSERT_TRUE(of_rank0.ok()) << of_rank0.status();
        EXPECT_TRUE(rank != 0 || ((*of_rank0)[0] == text(0) && (*of_rank0)[1] == text(1)));
      }
      EXPECT_TRUE(control.Poll().ok());
      control.Finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sgd::comm
