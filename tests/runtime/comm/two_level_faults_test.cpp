// Ranks on several hosts beyond values: bytes between hosts, channels, and every way in which a wait can fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "host_threads.h"
#include "memory_transport.h"
#include "runtime/comm/collectives/channel.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr absl::Duration kShort = absl::Milliseconds(300);
constexpr uint64_t kCount = 40000;

CollectiveSpec SpecOf(CollectiveKind kind, uint32_t ranks) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.axes = {{0, 1, ranks}};
  spec.location = "model.py:3:1";
  CollectiveOperand operand;
  operand.count = kind == CollectiveKind::kAllGather ? kCount / ranks : kCount;
  operand.inner = kCount / ranks;
  operand.target_offset = kind == CollectiveKind::kAllReduce ? 0 : kCount * sizeof(float);
  spec.operands = {operand};
  return spec;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// The sum over all ranks of what they send to other hosts.
uint64_t HostBytes(CollectiveKind kind, const Layout& layout) {
  std::atomic<uint64_t> bytes = 0;
  RunOnHosts(layout, 1 << 20, OverMemory(), [&](TwoLevelCommunicator& communicator) {
    const uint32_t ranks = communicator.control().size();
    auto handle = communicator.Prepare(Mesh{{ranks}}, SpecOf(kind, ranks));
    ASSERT_TRUE(handle.ok()) << handle.status();
    ASSERT_TRUE(communicator.Execute(*handle, kTimeout).ok());
    ASSERT_TRUE(communicator.Execute(*handle, kTimeout).ok());
    bytes += communicator.host_bytes() / 2;
  });
  return bytes;
}

// S bytes on G hosts, whatever their ranks: nobody can send less, but for parts that begin on cache lines.
TEST(HostBytes, AreWhatHostsHaveToSend) {
  constexpr uint64_t kBytes = kCount * sizeof(float);
  for (const uint32_t ranks : {4u, 8u}) {
    for (const uint32_t hosts : {2u, 4u}) {
      const uint64_t once = kBytes * (hosts - 1);
      EXPECT_EQ(HostBytes(CollectiveKind::kAllReduce, InBlocks(ranks, hosts)), 2 * once) << ranks << " on " << hosts;
      EXPECT_EQ(HostBytes(CollectiveKind::kReduceScatter, InBlocks(ranks, hosts)), once) << ranks << " on " << hosts;
      EXPECT_EQ(HostBytes(CollectiveKind::kAllGather, InBlocks(ranks, hosts)), once) << ranks << " on " << hosts;
    }
    EXPECT_EQ(HostBytes(CollectiveKind::kAllReduce, InBlocks(ranks, 1)), 0);
  }
}

// A sender goes on while its receivers have not come: by a window of messages, not more.
TEST(HostLinks, BoundWhatIsSentAhead) {
  std::atomic<int> sent = 0;
  RunOnHosts({0, 1}, 1 << 20, OverMemory(), [&](TwoLevelCommunicator& communicator) {
    CollectiveSpec spec = SpecOf(CollectiveKind::kBroadcast, 2);
    spec.operands[0].count = 16;
    auto handle = communicator.Prepare(Mesh{{2}}, spec);
    ASSERT_TRUE(handle.ok()) << handle.status();
    constexpr int kRuns = 200;
    if (communicator.control().rank() == 1) {
      while (sent < static_cast<int>(HostLink::kWindow)) std::this_thread::yield();
      absl::SleepFor(absl::Milliseconds(50));
      EXPECT_EQ(sent, static_cast<int>(HostLink::kWindow));
    }
    for (int run = 0; run < kRuns; ++run) {
      float* const values = reinterpret_cast<float*>(communicator.window());
      if (communicator.control().rank() == 0) values[0] = static_cast<float>(run);
      ASSERT_TRUE(communicator.Execute(*handle, kTimeout).ok());
      if (communicator.control().rank() == 0) ++sent;
      EXPECT_EQ(values[kCount], static_cast<float>(run));
    }
  });
}

// Preparing needs the job: links look up the addresses of their peers.
void WaitUntilAllHavePrepared(TwoLevelCommunicator& communicator) {
  ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
}

class Faults : public testing::TestWithParam<CollectiveKind> {};

TEST_P(Faults, AnAbsentRankIsNamedWithItsHost) {
  RunOnHosts({0, 0, 1, 1}, 1 << 20, OverMemory(), [&](TwoLevelCommunicator& communicator) {
    auto handle = communicator.Prepare(Mesh{{4}}, SpecOf(GetParam(), 4));
    ASSERT_TRUE(handle.ok()) << handle.status();
    WaitUntilAllHavePrepared(communicator);
    const uint32_t rank = communicator.control().rank();
    if (rank >= 2) {
      while (communicator.control().Poll().ok()) absl::SleepFor(absl::Milliseconds(5));
      return;
    }
    absl::Status status = communicator.Execute(*handle, kShort);
    EXPECT_FALSE(status.ok());
    communicator.control().Abort(status);
    if (status.code() == absl::StatusCode::kAborted) return;
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(Message(status), HasSubstr(absl::StrCat(CollectiveName(GetParam()), " #0 (model.py:3:1): rank ")));
    EXPECT_THAT(Message(status), HasSubstr(" (host "));
    EXPECT_THAT(Message(status), HasSubstr(" sent nothing within 300ms"));
    EXPECT_THAT(Message(status), testing::AnyOf(HasSubstr("rank 2"), HasSubstr("rank 3")));
  });
}

// Ranks that wait for one that waits for the absent one do not name that one.
TEST(FaultsOfForms, TheAbsentRankIsNamedNotThoseThatWaitForIt) {
  struct Form {
    CollectiveKind kind;
    uint64_t bytes;
    uint32_t absent;
  };
  // A swap, doubling, parts; directly, in a tree, spread.
  for (const Form& form :
       {Form{CollectiveKind::kAllReduce, 4 << 10, 3}, Form{CollectiveKind::kAllReduce, 48 << 10, 3},
        Form{CollectiveKind::kAllReduce, 160 << 10, 3}, Form{CollectiveKind::kBroadcast, 4 << 10, 0},
        Form{CollectiveKind::kBroadcast, 26 << 10, 0}, Form{CollectiveKind::kBroadcast, 160 << 10, 0}}) {
    SCOPED_TRACE(absl::StrCat(CollectiveName(form.kind), " of ", form.bytes));
    RunOnHosts(InBlocks(4, 4), 1 << 20, OverMemory(), [&](TwoLevelCommunicator& communicator) {
      CollectiveSpec spec = SpecOf(form.kind, 4);
      spec.operands[0].count = spec.operands[0].inner = form.bytes / sizeof(float);
      if (form.kind == CollectiveKind::kBroadcast) spec.operands[0].target_offset = form.bytes;
      auto handle = communicator.Prepare(Mesh{{4}}, spec);
      ASSERT_TRUE(handle.ok()) << handle.status();
      WaitUntilAllHavePrepared(communicator);
      Control& control = communicator.control();
      if (control.rank() == form.absent) {
        while (control.Poll().ok()) absl::SleepFor(absl::Milliseconds(5));
        EXPECT_THAT(Message(control.Poll()), HasSubstr(absl::StrCat(": rank ", form.absent, " (host ")));
        return;
      }
      // One that waits for a rank that waits does so for longer than it takes the job to end.
      absl::Status status = communicator.Execute(*handle, kShort);
      if (!status.ok()) control.Abort(status);
    });
  }
}

TEST_P(Faults, AnErrorElsewhereEndsTheWait) {
  RunOnHosts({0, 0, 1, 1}, 1 << 20, OverMemory(), [&](TwoLevelCommunicator& communicator) {
    auto handle = communicator.Prepare(Mesh{{4}}, SpecOf(GetParam(), 4));
    ASSERT_TRUE(handle.ok()) << handle.status();
    WaitUntilAllHavePrepared(communicator);
    if (communicator.control().rank() == 3) {
      communicator.control().Abort(absl::DataLossError("its disk is on fire"));
      return;
    }
    const absl::Time begin = absl::Now();
    absl::Status status = communicator.Execute(*handle, kTimeout);
    EXPECT_THAT(Message(status), HasSubstr("its disk is on fire"));
    EXPECT_LT(absl::Now() - begin, kTimeout / 2);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Faults,
                         testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                         CollectiveKind::kAllGather),
                         [](const auto& info) { return CollectiveName(info.param); });

struct Found {
  std::string version, devices;
};

// What ranks, each on a host of its own, say of these transports.
std::vector<absl::Status> Meet(const std::vector<Found>& found) {
  auto network = MakeMemoryNetwork();
  const uint32_t ranks = static_cast<uint32_t>(found.size());
  std::vector<absl::StatusOr<std::shared_ptr<SharedMemorySegment>>> segments(ranks);
  for (auto& segment : segments) segment = SharedMemorySegment::Create(1, 4096);
  std::vector<absl::Status> said(ranks);
  RunOnHostsWithoutCommunicator(ranks, [&](Control& control) {
    const uint32_t rank = control.rank();
    auto local = SharedMemoryCommunicator::Connect(*segments[rank], 0, kTimeout, UINT32_MAX, {rank});
    ASSERT_TRUE(local.ok()) << local.status();
    auto placement = AgreeOnPlacement(control, absl::StrCat(rank), kTimeout);
    ASSERT_TRUE(placement.ok()) << placement.status();
    auto transport = MakeMemoryTransport(network, found[rank].version, found[rank].devices);
    auto communicator = TwoLevelCommunicator::Connect(control, *std::move(local), *std::move(placement),
                                                      std::move(transport), kTimeout);
    said[rank] = communicator.status();
  });
  return said;
}

TEST(TransportMeeting, RefusesVersionsThatDiffer) {
  const std::vector<absl::Status> said = Meet({{"UCX 1.13.1", "tcp/eth0"}, {"UCX 1.22.0", "tcp/eth0 tcp/lo"}});
  for (const absl::Status& status : said) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Message(status), HasSubstr("rank 0 (host "));
    EXPECT_THAT(Message(status), HasSubstr(") has UCX 1.13.1 with tcp/eth0, rank 1 (host "));
    EXPECT_THAT(Message(status), HasSubstr(") has UCX 1.22.0 with tcp/eth0 tcp/lo, which do not understand each other; "
                                           "expected one version; install the same on all hosts"));
  }
}

TEST(TransportMeeting, RefusesHostsWithoutACommonKindOfNetwork) {
  // Each has one in common with the first.
  const std::vector<absl::Status> said = Meet(
      {{"UCX 1.13.1", "rc_mlx5/mlx5_0:1 tcp/eth0"}, {"UCX 1.13.1", "tcp/eth1"}, {"UCX 1.13.1", "rc_mlx5/mlx5_3:1"}});
  for (const absl::Status& status : said) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Message(status), HasSubstr("rank 1 (host "));
    EXPECT_THAT(Message(status), HasSubstr(") has UCX 1.13.1 with tcp/eth1, rank 2 (host "));
    EXPECT_THAT(Message(status), HasSubstr(") has UCX 1.13.1 with rc_mlx5/mlx5_3:1; expected a kind of network that "
                                           "both have; look at UCX_TLS and --net-devices on both hosts"));
  }
  for (const absl::Status& status : Meet({{"UCX 1.13.1", "rc_mlx5/mlx5_0:1 tcp/eth0"}, {"UCX 1.13.1", "tcp/eth1"}}))
    EXPECT_TRUE(status.ok()) << status;
}

// Content of message `number`: of its number and place, so that torn or swapped messages show.
std::vector<uint64_t> Content(uint64_t number, size_t words) {
  std::vector<uint64_t> message(words);
  for (size_t i = 0; i < words; ++i) message[i] = number * 1000003 + i;
  return message;
}

ChannelSpec ChannelTo(bool sends, uint32_t peer, uint64_t bytes, uint32_t depth) {
  ChannelSpec spec;
  spec.sends = sends;
  spec.peer = peer;
  spec.message_bytes = bytes;
  spec.depth = depth;
  spec.description = absl::StrCat(sends ? "send to rank " : "receive from rank ", peer, " by channel 0");
  return spec;
}

// Both ways at once, through mailboxes at the same place, between ranks of one host and of two.
TEST(HostChannels, MessagesComeInOrderWhateverTheDelays) {
  for (const Layout& layout : {Layout{0, 1}, Layout{0, 0}}) {
    for (const uint32_t depth : {1u, 2u, 5u}) {
      for (const size_t words : {size_t{1}, size_t{9}, size_t{100000}}) {
        const uint64_t bytes = words * sizeof(uint64_t);
        RunOnHosts(layout, *MailboxBytes(bytes, depth), OverMemory(), [&](TwoLevelCommunicator& communicator) {
          const uint32_t rank = communicator.control().rank();
          ASSERT_TRUE(communicator.UseStages({.stages = 2, .links = {{0, 1}, {1, 0}}}, kTimeout).ok());
          auto out = communicator.PrepareChannel(ChannelTo(true, 1 - rank, bytes, depth));
          auto in = communicator.PrepareChannel(ChannelTo(false, 1 - rank, bytes, depth));
          ASSERT_TRUE(out.ok() && in.ok()) << out.status() << in.status();
          std::vector<uint64_t> message(words);
          for (uint64_t number = 0; number < 30; ++number) {
            const std::vector<uint64_t> sent = Content(number * 2 + rank, words);
            ASSERT_TRUE(communicator.Send(*out, reinterpret_cast<const std::byte*>(sent.data()), kTimeout).ok());
            if ((number + rank) % 7 == 0) absl::SleepFor(absl::Milliseconds(1));
            ASSERT_TRUE(communicator.Receive(*in, reinterpret_cast<std::byte*>(message.data()), kTimeout).ok());
            ASSERT_EQ(message, Content(number * 2 + 1 - rank, words)) << number;
          }
          EXPECT_EQ(communicator.host_bytes(), layout[1] == 0 ? 0 : 30 * bytes);
          EXPECT_EQ(communicator.sent_bytes(), 30 * bytes);
        });
      }
    }
  }
}

// What was sent arrives though its sender computes, and the receiver has not come when it is sent.
TEST(HostChannels, MessagesArriveWhileRanksCompute) {
  constexpr uint64_t kBytes = 3 << 20;
  std::atomic<bool> has_sent = false, has_received = false;
  RunOnHosts({0, 1}, *MailboxBytes(kBytes, 1), OverMemory(), [&](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ASSERT_TRUE(communicator.UseStages({.stages = 2, .links = {{0, 1}}}, kTimeout).ok());
    auto channel = communicator.PrepareChannel(ChannelTo(rank == 0, 1 - rank, kBytes, 1));
    ASSERT_TRUE(channel.ok()) << channel.status();
    std::vector<std::byte> message(kBytes, std::byte{7});
    if (rank == 0) {
      ASSERT_TRUE(communicator.Send(*channel, message.data(), kTimeout).ok());
      has_sent = true;
      while (!has_received) absl::SleepFor(absl::Milliseconds(1));
    } else {
      while (!has_sent) absl::SleepFor(absl::Milliseconds(1));
      message.assign(kBytes, std::byte{0});
      ASSERT_TRUE(communicator.Receive(*channel, message.data(), kTimeout).ok());
      EXPECT_EQ(message[kBytes - 1], std::byte{7});
      has_received = true;
    }
  });
}

TEST(HostChannels, NameWhoDoesNotCome) {
  RunOnHosts({0, 1}, *MailboxBytes(8, 1), OverMemory(), [&](TwoLevelCommunicator& communicator) {
    if (communicator.control().rank() == 1) {
      while (communicator.control().Poll().ok()) absl::SleepFor(absl::Milliseconds(5));
      return;
    }
    ASSERT_TRUE(communicator.UseStages({.stages = 2, .links = {}}, kTimeout).ok());
    auto in = communicator.PrepareChannel(ChannelTo(false, 1, 8, 1));
    ASSERT_TRUE(in.ok()) << in.status();
    std::byte message[8];
    const absl::Status status = communicator.Receive(*in, message, kShort);
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(Message(status), HasSubstr("receive from rank 1 by channel 0: rank 1 (host "));
    EXPECT_THAT(Message(status), HasSubstr(" sent nothing within 300ms"));
    EXPECT_EQ(communicator.PrepareChannel(ChannelTo(true, 0, 8, 1)).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(communicator.PrepareChannel(ChannelTo(true, 1, 800, 1)).status().code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(communicator.Send(*in, message, kShort).code(), absl::StatusCode::kInvalidArgument);
    communicator.control().Abort(status);
  });
}

}  // namespace
}  // namespace sgd::comm
