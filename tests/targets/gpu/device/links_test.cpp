// Messages between ranks of stages over the fake of NCCL, which holds every send until it is received.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "emulated_device.h"
#include "rank_threads.h"
#include "targets/gpu/device/cuda_communicator.h"

namespace sgd::cuda {
namespace {

using ::sgd::testing::ScopedVariable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint64_t kWindow = 4096, kBytes = 16;

struct Rank {
  CudaDevice& device;
  CudaCommunicator& communicator;
  uint32_t number;

  comm::ChannelHandle Open(bool sends, uint32_t peer, const std::string& location = "gpt.py:1:1") {
    absl::StatusOr<comm::ChannelHandle> handle = communicator.PrepareChannel(
        {.sends = sends,
         .peer = peer,
         .mailbox_offset = 0,
         .message_bytes = kBytes,
         .depth = 1,
         .description = absl::StrCat(sends ? "send to rank " : "receive from rank ", peer, " by channel 0"),
         .location = location});
    EXPECT_TRUE(handle.ok()) << handle.status();
    return handle.ok() ? *handle : comm::ChannelHandle{};
  }
  // Enqueues on a stream of its own.
  void Send(comm::ChannelHandle handle, uint32_t stream, uint64_t offset) {
    device.streams()->Use(stream);
    EXPECT_TRUE(communicator.EnqueueSend(handle, communicator.window() + offset).ok());
    device.streams()->Use(0);
  }
  void Receive(comm::ChannelHandle handle, uint32_t stream, uint64_t offset) {
    device.streams()->Use(stream);
    EXPECT_TRUE(communicator.EnqueueReceive(handle, communicator.window() + offset).ok());
    device.streams()->Use(0);
  }
  void Put(uint64_t offset, uint8_t value) {
    const std::vector<uint8_t> bytes(kBytes, value);
    EXPECT_TRUE(device.host_transfer()->Upload(std::as_bytes(std::span(bytes)), communicator.window() + offset).ok());
    EXPECT_TRUE(device.Synchronize().ok());
  }
  uint8_t Get(uint64_t offset) {
    std::vector<uint8_t> bytes(kBytes);
    EXPECT_TRUE(device.host_transfer()
                    ->Download(communicator.window() + offset, std::as_writable_bytes(std::span(bytes)))
                    .ok());
    return bytes.back();
  }
};

void RunRanks(uint32_t ranks, const std::function<void(Rank&)>& function, bool ends_well = true) {
  comm::RunAsThreads(ranks, 0, [&](comm::SharedMemoryCommunicator& host) {
    comm::Control& control = host.control();
    auto device = CudaDevice::Create({.local_rank = control.rank(), .shares_gpus = true});
    ASSERT_TRUE(device.ok()) << device.status();
    ASSERT_TRUE((*device)->nccl().ok() && (*device)->Reserve(kWindow).ok());
    ASSERT_TRUE((*device)->streams()->Reserve(4, 4).ok());
    auto communicator = CudaCommunicator::Create(**device, control, kWindow, kTimeout);
    ASSERT_TRUE(communicator.ok()) << communicator.status();
    Rank rank{**device, **communicator, control.rank()};
    function(rank);
    if (ends_well) {
      ASSERT_TRUE(control.Barrier(kTimeout).ok());
    }
  });
}

class CudaLinks : public ::testing::Test {
 protected:
  ScopedVariable libraries_{"SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES};
};

TEST_F(CudaLinks, MapOfThreeStagesOfTwoRanks) {
  const comm::StageLinks stages{3, {{0, 1}, {1, 0}, {1, 2}, {2, 0}}};
  const auto links_of = [&](uint32_t rank) {
    std::vector<std::pair<uint32_t, uint32_t>> links;
    const LinkMap map = *LinkMap::Create(stages, 6, rank);
    for (const LinkMap::Link& link : map.links()) links.emplace_back(link.from, link.to);
    return links;
  };
  EXPECT_THAT(links_of(1), ElementsAre(Pair(1, 3), Pair(3, 1), Pair(5, 1)));
  EXPECT_THAT(links_of(2), ElementsAre(Pair(0, 2), Pair(2, 0), Pair(2, 4)));
  // Ids: that of the stage by its first rank, then those of links by the sender.
  const LinkMap map = *LinkMap::Create(stages, 6, 3);
  EXPECT_EQ(map.ids(), 2u);
  EXPECT_EQ(map.IdsOf(2), 3u);
  EXPECT_THAT(map.IdOfStage(), Pair(2, 0));
  EXPECT_THAT(map.IdOf({3, 5}), Pair(3, 1));
  EXPECT_THAT(LinkMap::Create(stages, 6, 2)->IdOf({2, 4}), Pair(2, 2));
  EXPECT_EQ(LinkMap::Create(stages, 5, 0).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(LinkMap::Create({2, {{0, 2}}}, 2, 0).status().code(), absl::StatusCode::kInvalidArgument);
}

// Two ranks send to each other before either receives: in one communicator both would wait for ever.
TEST_F(CudaLinks, DirectionsDoNotWaitForEachOther) {
  RunRanks(2, [](Rank& rank) {
    ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
    ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok()) << "again it changes nothing";
    const comm::ChannelHandle out = rank.Open(true, 1 - rank.number), in = rank.Open(false, 1 - rank.number);
    rank.Put(0, static_cast<uint8_t>(rank.number + 1));
    for (int i = 0; i < 3; ++i) rank.Send(out, 1, 0);
    for (int i = 0; i < 3; ++i) rank.Receive(in, 2, 64 + 64 * static_cast<uint64_t>(i));
    ASSERT_TRUE(rank.device.Synchronize().ok());
    for (uint64_t place : {64, 128, 192}) EXPECT_EQ(rank.Get(place), 2 - rank.number);
    EXPECT_EQ(rank.communicator.sent_bytes(), 3 * kBytes);
  });
}

// Groups are split from the communicator of the stage: ranks of other stages prepare none of them.
TEST_F(CudaLinks, CollectivesAreThoseOfAStage) {
  RunRanks(4, [](Rank& rank) {
    ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}}}, kTimeout).ok());
    comm::CollectiveSpec sum;
    sum.axes = {{1, 1, 2}};
    sum.operands.resize(1);
    sum.operands[0].count = 1;
    const bool is_first = rank.number < 2;
    for (int i = 0; i < (is_first ? 2 : 1); ++i) {
      const auto handle = rank.communicator.Prepare({{2, 2}}, sum);
      ASSERT_TRUE(handle.ok()) << handle.status();
      const float value = static_cast<float>(rank.number);
      ASSERT_TRUE(
          rank.device.host_transfer()->Upload(std::as_bytes(std::span(&value, 1)), rank.communicator.window()).ok());
      ASSERT_TRUE(rank.communicator.Execute(*handle, kTimeout).ok());
      float result = 0;
      ASSERT_TRUE(rank.device.host_transfer()
                      ->Download(rank.communicator.window(), std::as_writable_bytes(std::span(&result, 1)))
                      .ok());
      EXPECT_EQ(result, is_first ? 1 : 5);
    }
    const comm::ChannelHandle handle = rank.Open(is_first, (rank.number + 2) % 4);
    is_first ? rank.Send(handle, 1, 64) : rank.Receive(handle, 1, 64);
    EXPECT_TRUE(rank.device.Synchronize().ok());
  });
}

// Recorded once, replayed; each time it is another message.
TEST_F(CudaLinks, MessagesInRecordings) {
  RunRanks(2, [](Rank& rank) {
    ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}}}, kTimeout).ok());
    const bool sends = rank.number == 0;
    const comm::ChannelHandle handle = rank.Open(sends, 1 - rank.number);
    CudaStreams& streams = rank.device.cuda_streams();
    ASSERT_TRUE(streams.BeginRecording().ok());
    ASSERT_TRUE(streams.Record(0, 0).ok());
    ASSERT_TRUE(streams.Wait(1, 0).ok());
    sends ? rank.Send(handle, 1, 0) : rank.Receive(handle, 1, 0);
    ASSERT_TRUE(streams.Record(1, 1).ok());
    ASSERT_TRUE(streams.Wait(0, 1).ok());
    auto recording = streams.EndRecording();
    ASSERT_TRUE(recording.ok()) << recording.status();
    for (uint8_t step = 1; step < 5; ++step) {
      if (sends) rank.Put(0, step);
      ASSERT_TRUE((*recording)->Execute().ok());
      ASSERT_TRUE(rank.device.Synchronize().ok());
      EXPECT_EQ(rank.Get(0), step);
    }
    recording->reset();
  });
}

TEST_F(CudaLinks, RefusesWhatIsNotLinked) {
  RunRanks(4, [](Rank& rank) {
    comm::ChannelSpec spec{.sends = true,
                           .peer = 0,
                           .mailbox_offset = 0,
                           .message_bytes = 1,
                           .depth = 1,
                           .description = "send to rank 0 by channel 0",
                           .location = ""};
    EXPECT_THAT(std::string(rank.communicator.PrepareChannel(spec).status().message()),
                HasSubstr("send to rank 0 by channel 0: ranks have no links"));
    ASSERT_TRUE(rank.communicator.UseStages({4, {{0, 1}}}, kTimeout).ok());
    spec.peer = (rank.number + 2) % 4;
    EXPECT_THAT(std::string(rank.communicator.PrepareChannel(spec).status().message()),
                HasSubstr(absl::StrCat("ranks ", rank.number, " and ", spec.peer, " have no link")));
  });
}

// A peer that sends nothing, and one that receives nothing.
TEST_F(CudaLinks, NamesTheMessageThatIsWaitedFor) {
  for (const bool receives : {true, false}) {
    std::atomic<int> ended = 0;
    RunRanks(
        2,
        [&](Rank& rank) {
          ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}, {1, 0}}}, kTimeout).ok());
          if (rank.number == 1) {
            while (ended == 0) absl::SleepFor(absl::Milliseconds(5));
          } else {
            const comm::ChannelHandle before = rank.Open(true, 1, "gpt.py:40:1");
            const comm::ChannelHandle handle = rank.Open(!receives, 1, "gpt.py:41:9");
            static_cast<void>(before);
            receives ? rank.Receive(handle, 2, 0) : rank.Send(handle, 1, 0);
            for (int i = 0; i < 50; ++i) ASSERT_TRUE(rank.device.cuda_streams().IsIdle().ok());
            const absl::Status status = rank.communicator.Late(absl::Milliseconds(100));
            EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
            EXPECT_THAT(std::string(status.message()),
                        HasSubstr(absl::StrCat("the GPU is at ", receives ? "receive from" : "send to",
                                               " rank 1 by channel 0 (gpt.py:41:9), and has not come to the end in "
                                               "100ms; of those who wait, ")));
            EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 did not arrive"));
            ++ended;
          }
          rank.communicator.EndJob(absl::DeadlineExceededError("late"));
        },
        /*ends_well=*/false);
  }
}

// The first message of a link is where ranks meet; one that never comes is not waited for when the job ends.
TEST_F(CudaLinks, AnEndOfTheJobEndsTheMeeting) {
  RunRanks(
      2,
      [](Rank& rank) {
        if (rank.number == 1) {
          EXPECT_TRUE(rank.communicator.control().AllGatherBytes("", kTimeout).ok());
          rank.communicator.EndJob(absl::ResourceExhaustedError("the GPU has no memory"));
          return;
        }
        const absl::Status status = rank.communicator.UseStages({2, {{0, 1}}}, kTimeout);
        EXPECT_THAT(status.ToString(), HasSubstr("link from rank 0 to rank 1: rank 1: the GPU has no memory"));
      },
      /*ends_well=*/false);
}

TEST_F(CudaLinks, AnErrorOfALinkIsFound) {
  const ScopedVariable broken("SGD_EMULATED_NCCL_ERROR", "2");
  RunRanks(
      2,
      [](Rank& rank) {
        ASSERT_TRUE(rank.communicator.UseStages({2, {{0, 1}}}, kTimeout).ok());
        const comm::ChannelHandle handle = rank.Open(rank.number == 0, 1 - rank.number);
        rank.number == 0 ? rank.Send(handle, 1, 0) : rank.Receive(handle, 1, 0);
        absl::Status status;
        while (status.ok()) {
          ASSERT_TRUE(rank.device.cuda_streams().IsIdle().ok());
          status = rank.communicator.Poll();
        }
        EXPECT_THAT(status.ToString(), HasSubstr("NCCL: remote process exited or there was a network error"));
        rank.communicator.EndJob(status);
      },
      /*ends_well=*/false);
}

}  // namespace
}  // namespace sgd::cuda
