// Messages of any length between ranks of different hosts, over memory and over UCX.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

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
    if (communicator.control().rank() == 1) {
      communicator.control().Abort(absl::UnavailableError("the host is gone"));
      return;
    }
    std::vector<std::byte> bytes(1000);
    const absl::Status status = communicator.Exchange({.sends = {}, .receives = {{1, bytes}}}, kTimeout);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("the host is gone"));
  });
}

INSTANTIATE_TEST_SUITE_P(Networks, Exchange, testing::Bool(),
                         [](const auto& info) { return info.param ? "Ucx" : "Memory"; });

}  // namespace
}  // namespace sgd::comm
