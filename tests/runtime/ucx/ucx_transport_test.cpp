// Two ends of UCX over the loopback interface, in one thread that moves both on in turn.
#include "runtime/ucx/ucx_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>

namespace sgd::ucx {
namespace {

using comm::Completion;
using testing::HasSubstr;

class UcxTransportTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("UCX_TLS", "tcp", /*overwrite=*/0); }

  void SetUp() override {
    for (auto& end : ends_) {
      auto opened = UcxTransport::Open({});
      ASSERT_TRUE(opened.ok()) << opened.status();
      end = *std::move(opened);
    }
    for (uint32_t rank : {0u, 1u}) {
      const absl::Status status = ends_[rank]->Connect(1 - rank, ends_[1 - rank]->address());
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  // Until `done` is true, for ten seconds at most.
  template <typename Done>
  void Await(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!done() && std::chrono::steady_clock::now() < end)
      for (auto& transport : ends_)
        if (transport != nullptr) transport->Progress();
    EXPECT_TRUE(done()) << "nothing happened for ten seconds";
  }

  void Await(const Completion& completion) {
    Await([&] { return completion.state != Completion::State::kPending; });
  }

  void Send(uint64_t tag, const std::vector<std::byte>& data, Completion& completion) {
    ends_[0]->Send(1, tag, data.data(), data.size(), completion);
  }
  void Receive(uint64_t tag, std::vector<std::byte>& data, Completion& completion) {
    ends_[1]->Receive(tag, data.data(), data.size(), completion);
  }

  std::array<std::unique_ptr<UcxTransport>, 2> ends_;
};

std::vector<std::byte> Bytes(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251 + seed);
  return bytes;
}

// Short messages are copied, long ones negotiated: none of the ways may lose a byte, nor an empty message.
TEST_F(UcxTransportTest, MessagesOfEachSizeArriveWhole) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{8191}, size_t{65537}, size_t{3} << 20}) {
    const std::vector<std::byte> sent = Bytes(size, 7);
    std::vector<std::byte> received(size);
    Completion send, receive;
    Receive(5, received, receive);
    EXPECT_EQ(receive.state, Completion::State::kPending) << size;
    Send(5, sent, send);
    Await(send);
    Await(receive);
    EXPECT_EQ(send.state, Completion::State::kDone) << size;
    EXPECT_EQ(receive.state, Completion::State::kDone) << size;
    EXPECT_EQ(received, sent) << size;
  }
}

TEST_F(UcxTransportTest, TagsAndNotOrderPairMessages) {
  const std::vector<std::byte> first = Bytes(100, 1), second = Bytes(100, 2);
  std::vector<std::byte> of_first(100), of_second(100);
  std::array<Completion, 4> all;
  Send(uint64_t{1} << 63, first, all[0]);  // all 64 bits count
  Send(0, second, all[1]);
  Receive(0, of_second, all[2]);
  Receive(uint64_t{1} << 63, of_first, all[3]);
  for (const Completion& one : all) Await(one);
  EXPECT_EQ(of_first, first);
  EXPECT_EQ(of_second, second);
}

// The receiver's memory ends where it says; a shorter message would leave old bytes in it.
TEST_F(UcxTransportTest, OtherSizesFail) {
  for (const size_t size : {size_t{8}, size_t{32}}) {
    const std::vector<std::byte> sent = Bytes(size, 3);
    std::vector<std::byte> received(16);
    Completion send, receive;
    Send(9, sent, send);
    Receive(9, received, receive);
    Await(receive);
    EXPECT_EQ(receive.state, Completion::State::kFailed) << size;
    EXPECT_STREQ(receive.cause, comm::kOtherSize) << size;
    EXPECT_EQ(receive.request, nullptr) << size;
  }
}

TEST_F(UcxTransportTest, ConnectingAgainKeepsTheConnection) {
  const absl::Status again = ends_[0]->Connect(1, "no address");
  EXPECT_TRUE(again.ok()) << again;
  const std::vector<std::byte> sent = Bytes(10, 4);
  std::vector<std::byte> received(10);
  Completion send, receive;
  Send(1, sent, send);
  Receive(1, received, receive);
  Await(receive);
  EXPECT_EQ(received, sent);
}

TEST_F(UcxTransportTest, ADeadPeerIsAnErrorOfThatPeer) {
  const std::vector<std::byte> sent = Bytes(10, 4);
  std::vector<std::byte> received(10);
  Completion send, receive;
  Send(1, sent, send);
  Receive(1, received, receive);
  Await(receive);
  EXPECT_TRUE(ends_[0]->ErrorOf(1).ok());
  ends_[1].reset();
  Await([&] { return !ends_[0]->ErrorOf(1).ok(); });
  EXPECT_TRUE(absl::IsUnavailable(ends_[0]->ErrorOf(1)));
  EXPECT_THAT(std::string(ends_[0]->ErrorOf(1).message()), HasSubstr("expected a device that reaches its host"));
  EXPECT_TRUE(ends_[0]->ErrorOf(2).ok());  // never connected
  Send(2, sent, send);
  EXPECT_EQ(send.state, Completion::State::kFailed);
}

TEST_F(UcxTransportTest, ReadyMessagesForbidToSleep) {
  EXPECT_GE(ends_[1]->descriptor(), 0);
  const std::vector<std::byte> sent = Bytes(10, 4);
  std::vector<std::byte> received(10);
  Completion send, receive;
  Receive(1, received, receive);
  Send(1, sent, send);
  // As a rank that waits does it: it moves on until it may sleep, and sleeps only then.
  Await([&] {
    while (ends_[1]->Progress()) {
    }
    return ends_[1]->Arm() && receive.state == Completion::State::kDone;
  });
}

TEST(UcxTransportOpen, RefusesDevicesThatAreNotThere) {
  setenv("UCX_TLS", "tcp", /*overwrite=*/0);
  auto opened = UcxTransport::Open({.net_devices = "lo,mlx9_0:1"});
  ASSERT_FALSE(opened.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(opened.status()));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("--net-devices: UCX finds no 'mlx9_0:1' among "));
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr("name one of these"));
}

TEST(UcxTransportOpen, UsesTheGivenInterfaceAlone) {
  setenv("UCX_TLS", "tcp", /*overwrite=*/0);
  auto opened = UcxTransport::Open({.net_devices = "", .interfaces = {"lo"}});
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ((*opened)->devices(), "tcp/lo");
  EXPECT_THAT((*opened)->version(), testing::StartsWith("UCX "));
}

}  // namespace
}  // namespace sgd::ucx
