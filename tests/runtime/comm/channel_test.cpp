// Messages between ranks of one host: order, places, errors that name who did not come; as threads and as processes.
#include <signal.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/comm/collectives/channel.h"
#include "tests/runtime/comm/rank_threads.h"

namespace sgd::comm {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

ChannelSpec Spec(bool sends, uint32_t peer, uint64_t offset, uint64_t bytes, uint32_t depth) {
  return {.sends = sends,
          .peer = peer,
          .mailbox_offset = offset,
          .message_bytes = bytes,
          .depth = depth,
          .description = absl::StrCat(sends ? "send to rank " : "receive from rank ", peer, " by channel 0"),
          .location = "model.py:1:1"};
}

ChannelHandle Open(SharedMemoryCommunicator& communicator, const ChannelSpec& spec) {
  absl::StatusOr<ChannelHandle> handle = communicator.PrepareChannel(spec);
  EXPECT_TRUE(handle.ok()) << handle.status();
  return handle.ok() ? *handle : ChannelHandle();
}

class Channels : public ::testing::TestWithParam<RankRunner> {
 protected:
  void SetUp() override {
    if (GetParam().run == RunAsProcesses && !CanRunAsProcesses()) GTEST_SKIP() << "no processes here";
  }
};

// Content of message `number`: of its number and place, so that torn or swapped messages show.
std::vector<uint64_t> Message(uint64_t number, size_t words) {
  std::vector<uint64_t> message(words);
  for (size_t i = 0; i < words; ++i) message[i] = number * 1000003 + i;
  return message;
}

TEST_P(Channels, MessagesComeInOrderWhateverTheDelays) {
  for (const uint32_t depth : {1u, 2u, 5u}) {
    for (const size_t words : {size_t{1}, size_t{9}, size_t{5000}}) {
      const uint64_t bytes = words * sizeof(uint64_t);
      GetParam().run(2, *MailboxBytes(bytes, depth), [&](SharedMemoryCommunicator& communicator) {
        const uint32_t rank = communicator.control().rank();
        ASSERT_TRUE(communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
        const ChannelHandle channel = Open(communicator, Spec(rank == 0, 1 - rank, 0, bytes, depth));
        std::mt19937 random(depth * 7919 + static_cast<uint32_t>(words) + rank);
        constexpr uint64_t kMessages = 200;
        for (uint64_t number = 0; number < kMessages; ++number) {
          if (random() % 16 == 0) absl::SleepFor(absl::Microseconds(random() % 300));
          std::vector<uint64_t> message = Message(number, words);
          if (rank == 0) {
            const absl::Status status =
                communicator.Send(channel, reinterpret_cast<const std::byte*>(message.data()), kTimeout);
            ASSERT_TRUE(status.ok()) << status;
          } else {
            std::vector<uint64_t> received(words);
            const absl::Status status =
                communicator.Receive(channel, reinterpret_cast<std::byte*>(received.data()), kTimeout);
            ASSERT_TRUE(status.ok()) << status;
            ASSERT_EQ(received, message) << number;
          }
        }
        EXPECT_EQ(communicator.sent_bytes(), rank == 0 ? kMessages * bytes : 0);
        ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
      });
    }
  }
}

// Four ranks, two stages: each rank of the first plays with its own peer, while each stage reduces by itself as often
// as it likes.
TEST_P(Channels, StagesHaveCollectivesOfTheirOwn) {
  constexpr uint64_t kValue = 64, kMailbox = 1024;
  const uint64_t box = *MailboxBytes(sizeof(float), 2);
  GetParam().run(4, kMailbox + box, [&](SharedMemoryCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank(), stage = rank / 2;
    ASSERT_TRUE(communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
    const Mesh mesh{{2, 2}};
    CollectiveSpec spec;
    spec.kind = CollectiveKind::kAllReduce;
    spec.axes = {{1, 1, 2}};
    spec.operands.resize(1);
    spec.operands[0].element = ElementType::kF32;
    spec.operands[0].source_offset = spec.operands[0].target_offset = kValue;
    spec.operands[0].count = 1;
    spec.location = "test";
    absl::StatusOr<CollectiveHandle> sum = communicator.Prepare(mesh, spec);
    ASSERT_TRUE(sum.ok()) << sum.status();
    const ChannelHandle channel = Open(communicator, Spec(stage == 0, (rank + 2) % 4, kMailbox, sizeof(float), 2));
    float* value = reinterpret_cast<float*>(communicator.window() + kValue);
    for (int step = 0; step < 50; ++step) {
      // Stages execute different numbers of collectives.
      for (uint32_t i = 0; i <= stage * 2; ++i) {
        *value = static_cast<float>(rank + 1);
        ASSERT_TRUE(communicator.Execute(*sum, kTimeout).ok());
        ASSERT_EQ(*value, stage == 0 ? 3.0f : 7.0f);
      }
      float message = static_cast<float>(step * 10 + static_cast<int>(rank));
      if (stage == 0) {
        ASSERT_TRUE(communicator.Send(channel, reinterpret_cast<std::byte*>(&message), kTimeout).ok());
      } else {
        ASSERT_TRUE(communicator.Receive(channel, reinterpret_cast<std::byte*>(&message), kTimeout).ok());
        ASSERT_EQ(message, static_cast<float>(step * 10 + static_cast<int>(rank) - 2));
      }
      // All meet now and then, wherever their stages are.
      if (step % 10 != 9) continue;
      absl::StatusOr<std::vector<std::string>> all =
          communicator.control().AllGatherBytes(std::string(9000, static_cast<char>('a' + rank)), kTimeout);
      ASSERT_TRUE(all.ok()) << all.status();
      for (uint32_t other = 0; other < 4; ++other)
        ASSERT_EQ((*all)[other], std::string(9000, static_cast<char>('a' + other)));
    }
  });
}

TEST_P(Channels, ADeadlineNamesThePeer) {
  GetParam().run(2, *MailboxBytes(8, 1), [&](SharedMemoryCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ASSERT_TRUE(communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
    uint64_t message = 0;
    const ChannelHandle channel = Open(communicator, Spec(rank == 0, 1 - rank, 0, 8, 1));
    std::byte* bytes = reinterpret_cast<std::byte*>(&message);
    if (rank == 0) {
      // One place: the second message has none.
      ASSERT_TRUE(communicator.Send(channel, bytes, kTimeout).ok());
      const absl::Status status = communicator.Send(channel, bytes, absl::Milliseconds(50));
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_THAT(std::string(status.message()),
                  AnyOf(HasSubstr("send to rank 1 by channel 0: rank 1 freed no place within 50ms"),
                        HasSubstr("send to rank 1 by channel 0: ranks wait for each other since 50ms: rank 0 waits for "
                                  "rank 1 in send to rank 1 by channel 0, rank 1 waits for rank 0 in barrier")));
    }
    ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
    if (rank == 1) {
      ASSERT_TRUE(communicator.Receive(channel, bytes, kTimeout).ok());
      const absl::Status status = communicator.Receive(channel, bytes, absl::Milliseconds(50));
      EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
      EXPECT_THAT(
          std::string(status.message()),
          AnyOf(HasSubstr("receive from rank 0 by channel 0: rank 0 sent nothing within 50ms"),
                HasSubstr("ranks wait for each other since 50ms: rank 1 waits for rank 0 in receive from rank 0 "
                          "by channel 0, rank 0 waits for rank 1 in barrier")));
    }
    ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
  });
}

TEST_P(Channels, AnAbortEndsWaits) {
  GetParam().run(2, *MailboxBytes(8, 1), [&](SharedMemoryCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ASSERT_TRUE(communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
    uint64_t message = 0;
    const ChannelHandle channel = Open(communicator, Spec(rank == 0, 1 - rank, 0, 8, 1));
    if (rank == 0) {
      absl::SleepFor(absl::Milliseconds(20));
      communicator.control().Abort(absl::DataLossError("the disk is gone"));
      return;
    }
    const absl::Status status = communicator.Receive(channel, reinterpret_cast<std::byte*>(&message), kTimeout);
    EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("receive from rank 0 by channel 0 was given up: rank 0: the disk is gone"));
  });
}

TEST_P(Channels, AnEndedPeerIsNamed) {
  GetParam().run(2, *MailboxBytes(8, 1), [&](SharedMemoryCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ASSERT_TRUE(communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
    uint64_t message = 7;
    std::byte* bytes = reinterpret_cast<std::byte*>(&message);
    const ChannelHandle channel = Open(communicator, Spec(rank == 0, 1 - rank, 0, 8, 1));
    if (rank == 0) {
      ASSERT_TRUE(communicator.Send(channel, bytes, kTimeout).ok());
      communicator.control().Finish();
      return;
    }
    ASSERT_TRUE(communicator.Receive(channel, bytes, kTimeout).ok());  // what it has sent is there
    const absl::Status status = communicator.Receive(channel, bytes, kTimeout);
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0 has already ended"));
  });
}

TEST(ChannelSpecs, MailboxesMustBeInTheWindow) {
  RunAsThreads(2, *MailboxBytes(8, 1), [&](SharedMemoryCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ChannelSpec outside = Spec(true, 1 - rank, kMailboxAlignment, 8, 1);
    EXPECT_EQ(communicator.PrepareChannel(outside).status().code(), absl::StatusCode::kInvalidArgument);
    ChannelSpec itself = Spec(true, rank, 0, 8, 1);
    EXPECT_EQ(communicator.PrepareChannel(itself).status().code(), absl::StatusCode::kInvalidArgument);
    ChannelSpec nobody = Spec(true, 2, 0, 8, 1);
    EXPECT_EQ(communicator.PrepareChannel(nobody).status().code(), absl::StatusCode::kInvalidArgument);
    ChannelSpec deep = Spec(true, 1 - rank, 0, 8, 3);
    EXPECT_EQ(communicator.PrepareChannel(deep).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(communicator.UseStages({3, {{0, 1}, {1, 0}}}, kTimeout).code(), absl::StatusCode::kInvalidArgument);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Channels,
                         ::testing::Values(RankRunner{"threads", RunAsThreads},
                                           RankRunner{"processes", RunAsProcesses}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace sgd::comm
