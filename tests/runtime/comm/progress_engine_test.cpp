// Messages that must move though no rank waits for them, and transports that fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "host_threads.h"
#include "memory_transport.h"
#include "runtime/comm/collectives/channel.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(20);

// Channels that lie one behind the other in a window.
struct Channels {
  uint32_t count = 1;
  uint64_t words = 1;
  uint32_t depth = 1;

  uint64_t bytes() const { return words * sizeof(uint64_t); }
  uint64_t window_bytes() const { return count * *MailboxBytes(bytes(), depth); }
  ChannelSpec Spec(bool sends, uint32_t peer, uint32_t channel) const {
    ChannelSpec spec;
    spec.sends = sends;
    spec.peer = peer;
    spec.mailbox_offset = channel * *MailboxBytes(bytes(), depth);
    spec.message_bytes = bytes();
    spec.depth = depth;
    spec.description = absl::StrCat(sends ? "send to rank " : "receive from rank ", peer, " by channel ", channel);
    return spec;
  }
};

std::vector<uint64_t> Message(uint64_t channel, uint64_t number, uint64_t words) {
  std::vector<uint64_t> message(words);
  for (uint64_t i = 0; i < words; ++i) message[i] = channel << 48 ^ number << 32 ^ i;
  return message;
}

struct Ends {
  std::vector<ChannelHandle> out, in;
};

void Open(TwoLevelCommunicator& communicator, const Channels& channels, Ends* ends) {
  ASSERT_TRUE(communicator.UseStages({.stages = 2, .links = {{0, 1}, {1, 0}}}, kTimeout).ok());
  const uint32_t peer = 1 - communicator.control().rank();
  for (uint32_t channel = 0; channel < channels.count; ++channel) {
    auto out = communicator.PrepareChannel(channels.Spec(true, peer, channel));
    auto in = communicator.PrepareChannel(channels.Spec(false, peer, channel));
    ASSERT_TRUE(out.ok() && in.ok()) << out.status() << in.status();
    ends->out.push_back(*out);
    ends->in.push_back(*in);
  }
}

void Send(TwoLevelCommunicator& communicator, const Channels& channels, const Ends& ends, uint32_t channel,
          uint64_t number) {
  const std::vector<uint64_t> message = Message(channel, number, channels.words);
  const absl::Status status =
      communicator.Send(ends.out[channel], reinterpret_cast<const std::byte*>(message.data()), kTimeout);
  ASSERT_TRUE(status.ok()) << status;
}

void Receive(TwoLevelCommunicator& communicator, const Channels& channels, const Ends& ends, uint32_t channel,
             uint64_t number) {
  std::vector<uint64_t> message(channels.words);
  const absl::Status status =
      communicator.Receive(ends.in[channel], reinterpret_cast<std::byte*>(message.data()), kTimeout);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(message, Message(channel, number, channels.words)) << "message " << number << " of channel " << channel;
}

class Windows : public testing::TestWithParam<Channels> {};

// Both ranks send more messages than a window has before either receives one.
TEST_P(Windows, BothRanksMaySendBeforeEitherReceives) {
  const Channels& channels = GetParam();
  RunOnHosts({0, 1}, channels.window_bytes(), OverMemory(), [&](TwoLevelCommunicator& communicator) {
    Ends ends;
    ASSERT_NO_FATAL_FAILURE(Open(communicator, channels, &ends));
    for (int round = 0; round < 2; ++round) {
      for (uint64_t number = 0; number < channels.depth; ++number) {
        for (uint32_t channel = 0; channel < channels.count; ++channel)
          ASSERT_NO_FATAL_FAILURE(Send(communicator, channels, ends, channel, number));
      }
      for (uint32_t channel = channels.count; channel-- > 0;) {
        for (uint64_t number = 0; number < channels.depth; ++number)
          ASSERT_NO_FATAL_FAILURE(Receive(communicator, channels, ends, channel, number));
      }
    }
  });
}

// A message of more chunks than a window has arrives while its sender computes.
TEST_P(Windows, MessagesLeaveWhileTheirSenderComputes) {
  const Channels& channels = GetParam();
  std::atomic<uint32_t> received = 0;
  RunOnHosts({0, 1}, channels.window_bytes(), OverMemory(), [&](TwoLevelCommunicator& communicator) {
    Ends ends;
    ASSERT_NO_FATAL_FAILURE(Open(communicator, channels, &ends));
    const uint32_t rank = communicator.control().rank();
    for (uint32_t channel = 0; channel < channels.count; ++channel) {
      ASSERT_NO_FATAL_FAILURE(rank == 0 ? Send(communicator, channels, ends, channel, 0)
                                        : Receive(communicator, channels, ends, channel, 0));
    }
    ++received;
    while (received < 2 && communicator.control().Poll().ok()) absl::SleepFor(absl::Milliseconds(1));
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Windows,
                         testing::Values(Channels{.count = 1, .words = 1, .depth = 100},
                                         Channels{.count = 12, .words = 1000, .depth = 50},
                                         Channels{.count = 2, .words = (9 << 20) / 8, .depth = 2},
                                         Channels{.count = 1, .words = (64 << 20) / 8, .depth = 1}),
                         [](const auto& info) {
                           const Channels& channels = info.param;
                           return absl::StrCat(channels.count, "_of_", channels.bytes(), "_bytes_", channels.depth);
                         });

// Passes everything on but what a test makes fail.
class FaultyTransport : public Transport {
 public:
  struct Faults {
    std::atomic<int> connections = 0;       // that fail before one succeeds
    std::atomic<uint64_t> send_at = ~0ull;  // bytes of the message whose sending fails
  };
  FaultyTransport(std::unique_ptr<Transport> transport, Faults& faults)
      : transport_(std::move(transport)), faults_(faults) {}
  std::string version() const override { return transport_->version(); }
  std::string devices() const override { return transport_->devices(); }
  std::string address() const override { return transport_->address(); }
  absl::Status Register(std::byte* memory, uint64_t bytes) override { return transport_->Register(memory, bytes); }
  absl::Status Connect(uint32_t peer, std::string_view address) override {
    if (faults_.connections-- > 0) return absl::UnavailableError("cannot be reached");
    return transport_->Connect(peer, address);
  }
  void Send(uint32_t peer, uint64_t tag, const std::byte* data, uint64_t bytes, Completion& completion) override {
    if (bytes != faults_.send_at) return transport_->Send(peer, tag, data, bytes, completion);
    completion = {.state = Completion::State::kFailed, .bytes = bytes, .cause = "the card is on fire"};
  }
  void Receive(uint64_t tag, std::byte* data, uint64_t bytes, Completion& completion) override {
    transport_->Receive(tag, data, bytes, completion);
  }
  bool Progress() override { return transport_->Progress(); }
  bool Arm() override { return transport_->Arm(); }
  int descriptor() const override { return transport_->descriptor(); }
  absl::Status ErrorOf(uint32_t peer) const override { return transport_->ErrorOf(peer); }

 private:
  std::unique_ptr<Transport> transport_;
  Faults& faults_;
};

MakeTransport OverFaulty(FaultyTransport::Faults& faults) {
  return [memory = OverMemory(), &faults](uint32_t rank) -> std::unique_ptr<Transport> {
    if (rank != 0) return memory(rank);
    return std::make_unique<FaultyTransport>(memory(rank), faults);
  };
}

// Its slot in the window is not free again: the message behind it would come out of order.
TEST(FaultyTransports, AFailedSendEndsTheRankThatSends) {
  FaultyTransport::Faults faults;
  const Channels channels{.count = 1, .words = 3, .depth = 64};
  faults.send_at = channels.bytes();
  RunOnHosts({0, 1}, channels.window_bytes(), OverFaulty(faults), [&](TwoLevelCommunicator& communicator) {
    Ends ends;
    ASSERT_NO_FATAL_FAILURE(Open(communicator, channels, &ends));
    const std::vector<uint64_t> message(channels.words);
    absl::Status status;
    const uint64_t most = communicator.control().rank() == 0 ? 2 * HostLink::kWindow : 0;
    for (uint64_t number = 0; number < most && status.ok(); ++number)
      status = communicator.Send(ends.out[0], reinterpret_cast<const std::byte*>(message.data()), kTimeout);
    if (communicator.control().rank() == 0) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
      EXPECT_THAT(std::string(status.message()), HasSubstr("send to rank 1 by channel 0: the connection to rank 1"));
      EXPECT_THAT(std::string(status.message()), HasSubstr(" is lost: the card is on fire"));
      communicator.control().Abort(status);
    } else {
      std::vector<uint64_t> received(channels.words);
      const absl::Status ended =
          communicator.Receive(ends.in[0], reinterpret_cast<std::byte*>(received.data()), kTimeout);
      EXPECT_EQ(ended.code(), absl::StatusCode::kAborted);
    }
  });
}

TEST(FaultyTransports, AFailedConnectionLeavesNoLink) {
  FaultyTransport::Faults faults;
  faults.connections = 1;
  const Channels channels{.count = 1, .words = 3, .depth = 4};
  RunOnHosts({0, 1}, channels.window_bytes(), OverFaulty(faults), [&](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    if (rank == 0) {
      EXPECT_EQ(communicator.PrepareChannel(channels.Spec(true, 1, 0)).status().code(), absl::StatusCode::kUnavailable);
      // The engine's thread passes over all links meanwhile.
      absl::SleepFor(absl::Milliseconds(5));
    }
    Ends ends;
    ASSERT_NO_FATAL_FAILURE(Open(communicator, channels, &ends));
    ASSERT_NO_FATAL_FAILURE(Send(communicator, channels, ends, 0, 0));
    ASSERT_NO_FATAL_FAILURE(Receive(communicator, channels, ends, 0, 0));
  });
}

// A message of another size is named as such, and nothing else is.
TEST(FaultyTransports, AMessageOfAnotherSizeIsNamed) {
  const Channels large{.count = 1, .words = 16, .depth = 2};
  RunOnHosts({0, 1}, large.window_bytes(), OverMemory(), [&](TwoLevelCommunicator& communicator) {
    const uint32_t rank = communicator.control().rank();
    ASSERT_TRUE(communicator.UseStages({.stages = 2, .links = {{0, 1}}}, kTimeout).ok());
    ChannelSpec spec = large.Spec(rank == 0, 1 - rank, 0);
    if (rank == 0) spec.message_bytes -= 8;
    auto channel = communicator.PrepareChannel(spec);
    ASSERT_TRUE(channel.ok()) << channel.status();
    std::vector<std::byte> message(large.bytes());
    if (rank == 0) {
      ASSERT_TRUE(communicator.Send(*channel, message.data(), kTimeout).ok());
      while (communicator.control().Poll().ok()) absl::SleepFor(absl::Milliseconds(1));
    } else {
      const absl::Status status = communicator.Receive(*channel, message.data(), kTimeout);
      EXPECT_THAT(std::string(status.message()), HasSubstr("a message had another size than the artifact says"));
      communicator.control().Abort(status);
    }
  });
}

}  // namespace
}  // namespace sgd::comm
