// Messages of any length between ranks of different hosts, over memory and over UCX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "absl/time/clock.h"
#include "host_threads.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

// What `from` sends to `to`: bytes that say so.
std::vector<std::byte> Message(uint32_t from, uint32_t to, uint64_t bytes) {
  std::vector<std::byte> message(bytes);
  for (uint64_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i / 251 + i + from * 16 + to);
  return message;
}

class Exchange : public testing::TestWithParam<bool> {};

// A byte both ways, after which they are connected: a rank that is gone before that cannot be reached.
void Greet(TwoLevelCommunicator& communicator, uint32_t peer) {
  const std::vector<std::byte> mark(1, std::byte{7});
  std::vector<std::byte> one(1);
  ASSERT_TRUE(communicator.Exchange({.sends = {{peer, mark}}, .receives = {{peer, one}}}, kTimeout).ok());
  ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
}

TEST_P(Exchange, BringsEachMessageToItsRank) {
  const MakeTransport make_transport = GetParam() ? OverUcx() : OverMemory();
  if (make_transport == nullptr) GTEST_SKIP() << "no UCX here";
  // Two ranks on each of three hosts: to the next host, and back to the one before.
  RunOnHosts(InBlocks(6, 3), 4096, make_transport, [](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank(), next = (rank + 2) % 6, before = (rank + 4) % 6;
    // More chunks than may be on their way, none at all, and an odd number of bytes.
    for (const uint64_t bytes : {uint64_t{12} << 20, uint64_t{0}, uint64_t{300'001}}) {
      const std::vector<std::byte> to_next = Message(rank, next, bytes), to_before = Message(rank, before, bytes / 2);
      std::vector<std::byte> from_next(bytes / 2), from_before(bytes);
      const absl::Status status = communicator.Exchange(
          {.sends = {{next, to_next}, {before, to_before}}, .receives = {{before, from_before}, {next, from_next}}},
          kTimeout);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(from_before, Message(before, rank, bytes));
      EXPECT_EQ(from_next, Message(next, rank, bytes / 2));
    }
    // A rank that only sends, and one that only receives.
    std::vector<std::byte> one(1);
    const std::vector<std::byte> mark(1, std::byte{7});
    BulkMessages messages;
    if (rank == 0) messages.sends.push_back({next, mark});
    if (rank == 2) messages.receives.push_back({before, one});
    const absl::Status status = communicator.Exchange(messages, kTimeout);
    ASSERT_TRUE(status.ok()) << status;
    if (rank == 2) EXPECT_EQ(one, mark);
  });
}

TEST_P(Exchange, EndsWithTheJob) {
  const MakeTransport make_transport = GetParam() ? OverUcx() : OverMemory();
  if (make_transport == nullptr) GTEST_SKIP() << "no UCX here";
  RunOnHosts(InBlocks(2, 2), 4096, make_transport, [](TwoLevelCommunicator& communicator) {
    Greet(communicator, 1 - communicator.control().rank());
    if (communicator.control().rank() == 1) {
      communicator.control().Abort(absl::UnavailableError("the host is gone"));
      return;
    }
    std::vector<std::byte> bytes(1000);
    const absl::Status status = communicator.Exchange({.sends = {}, .receives = {{1, bytes}}}, kTimeout);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("the host is gone"));
  });
}

// Beside others, several one after the other; what comes is told before it is waited for.
TEST_P(Exchange, GoesBesideOthers) {
  const MakeTransport make_transport = GetParam() ? OverUcx() : OverMemory();
  if (make_transport == nullptr) GTEST_SKIP() << "no UCX here";
  RunOnHosts(InBlocks(6, 3), 4096, make_transport, [](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank(), next = (rank + 2) % 6, before = (rank + 4) % 6;
    // More chunks than may be on their way; ranks of the second host send none.
    const auto bytes_of = [](uint32_t from) { return from / 2 == 1 ? uint64_t{0} : uint64_t{9} << 20 | from; };
    const auto messages = communicator.ReserveSideMessages(next, bytes_of(rank), before, bytes_of(before));
    ASSERT_TRUE(messages.ok()) << messages.status();
    EXPECT_FALSE(communicator.ReserveSideMessages(next, 1, before, 1).ok());
    EXPECT_TRUE(communicator.FinishSideMessages(kTimeout).ok()) << "none are in flight";
    for (int round = 0; round < 2; ++round) {
      const std::vector<std::byte> sent = Message(rank, next, bytes_of(rank)),
                                   expected = Message(before, rank, bytes_of(before));
      std::ranges::copy(sent, messages->sent.begin());
      std::atomic<int> calls = 0;
      std::vector<std::byte> got;
      absl::Status status = communicator.StartSideMessages([&] {
        // In two calls.
        const size_t half = got.empty() ? messages->received.size() / 2 : messages->received.size();
        got.assign(messages->received.begin(), messages->received.begin() + static_cast<ptrdiff_t>(half));
        return ++calls < 2;
      });
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_FALSE(communicator.StartSideMessages(nullptr).ok()) << "the last ones are in flight";
      // Others go by.
      std::vector<std::byte> one(1);
      const std::vector<std::byte> mark(1, static_cast<std::byte>(round));
      for (int i = 0; i < 20; ++i) {
        status = communicator.Exchange({.sends = {{next, mark}}, .receives = {{before, one}}}, kTimeout);
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(one, mark);
      }
      // It comes without anybody who waits for it.
      for (int i = 0; calls < 2 && i < 60'000; ++i) absl::SleepFor(absl::Milliseconds(1));
      EXPECT_EQ(calls, 2);
      status = communicator.FinishSideMessages(kTimeout);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(calls, 2);
      EXPECT_EQ(got, expected);
    }
  });
}

TEST_P(Exchange, BesideStepsEndsWithTheJob) {
  const MakeTransport make_transport = GetParam() ? OverUcx() : OverMemory();
  if (make_transport == nullptr) GTEST_SKIP() << "no UCX here";
  RunOnHosts(InBlocks(2, 2), 4096, make_transport, [](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    Greet(communicator, 1 - rank);
    ASSERT_TRUE(communicator.ReserveSideMessages(1 - rank, 1 << 20, 1 - rank, 1 << 20).ok());
    if (rank == 1) {
      communicator.control().Abort(absl::UnavailableError("the host is gone"));
      return;
    }
    // The job may have ended before they begin.
    absl::Status status = communicator.StartSideMessages([] {
      ADD_FAILURE() << "nothing has come";
      return false;
    });
    if (status.ok()) status = communicator.FinishSideMessages(kTimeout);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("the host is gone"));
    communicator.DropSideMessages();
  });
}

INSTANTIATE_TEST_SUITE_P(Networks, Exchange, testing::Bool(),
                         [](const auto& info) { return info.param ? "Ucx" : "Memory"; });

}  // namespace
}  // namespace sgd::comm
