// Queues, events and recordings on the double of the driver, which runs what is not ordered in a random order.
#include <gmock/gmock.h>

#include "emulated_device.h"

namespace sgd::cuda {
namespace {

using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

class QueuesTest : public EmulatedDevice {
 protected:
  void SetUp() override {
    EmulatedDevice::SetUp();
    arena_ = *device_->Allocate(64);
    ASSERT_TRUE(device_->queues()->Reserve(3, 4).ok());
  }

  void Fill(uint32_t stream, uint8_t value) {
    device_->queues()->Use(stream);
    nodes_.push_back(*device_->PrepareFill(arena_->data(), 1, std::span(&value, 1)));
    ASSERT_TRUE(nodes_.back()->Execute().ok());
    device_->queues()->Use(0);
  }

  uint8_t Value() { return Get<uint8_t>(arena_->data(), 1)[0]; }

  std::unique_ptr<device::Arena> arena_;
  std::vector<std::unique_ptr<device::Node>> nodes_;
};

TEST_F(QueuesTest, EventsOrderQueues) {
  device::Queues& queues = *device_->queues();
  for (uint8_t i = 0; i < 50; ++i) {
    Fill(1, i);
    ASSERT_TRUE(queues.Record(1, 0).ok());
    ASSERT_TRUE(queues.Wait(2, 0).ok());
    Fill(2, static_cast<uint8_t>(i + 100));
    ASSERT_TRUE(device_->Synchronize().ok());
    ASSERT_EQ(Value(), i + 100);
  }
}

TEST_F(QueuesTest, WithoutEventsTheOrderIsOpen) {
  size_t first_wins = 0;
  for (int i = 0; i < 100; ++i) {
    Fill(1, 1);
    Fill(2, 2);
    ASSERT_TRUE(device_->Synchronize().ok());
    first_wins += Value() == 1;
  }
  EXPECT_GT(first_wins, 10u);
  EXPECT_LT(first_wins, 90u);
}

TEST_F(QueuesTest, RecordingsRunWhenTheyAreReplayed) {
  device::Queues& queues = *device_->queues();
  Fill(0, 9);
  ASSERT_TRUE(queues.BeginRecording().ok());
  ASSERT_TRUE(queues.Record(0, 0).ok());
  ASSERT_TRUE(queues.Wait(1, 0).ok());
  Fill(1, 1);
  ASSERT_TRUE(queues.Record(1, 1).ok());
  ASSERT_TRUE(queues.Wait(0, 1).ok());
  Fill(0, 2);
  auto recording = queues.EndRecording();
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE(device_->Synchronize().ok());
  EXPECT_EQ(Value(), 9);
  for (int i = 0; i < 20; ++i) {
    Fill(0, 9);
    ASSERT_TRUE((*recording)->Execute().ok());
    EXPECT_EQ(Value(), 2);
  }
}

TEST_F(QueuesTest, RecordingsMustBeJoined) {
  device::Queues& queues = *device_->queues();
  ASSERT_TRUE(queues.BeginRecording().ok());
  ASSERT_TRUE(queues.Record(0, 0).ok());
  ASSERT_TRUE(queues.Wait(1, 0).ok());
  Fill(1, 1);
  EXPECT_THAT(std::string(queues.EndRecording().status().message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"));
  Fill(1, 3);  // the queue goes on
  ASSERT_TRUE(device_->Synchronize().ok());
  EXPECT_EQ(Value(), 3);
}

TEST_F(QueuesTest, UseOfFreedMemoryIsAnError) {
  Fill(0, 1);
  arena_.reset();  // waits for it
  ASSERT_TRUE(device_->Synchronize().ok());
  ASSERT_TRUE(nodes_.back()->Execute().ok());
  const absl::Status status = device_->Synchronize();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the GPU: CUDA_ERROR_ILLEGAL_ADDRESS"));
}

}  // namespace
}  // namespace sgd::cuda
