// Streams, events and recordings on the fake of the driver, which runs what is not ordered in a random order.
#include <gmock/gmock.h>

#include "emulated_device.h"

namespace sgd::cuda {
namespace {

using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

class StreamsTest : public EmulatedDevice {
 protected:
  void SetUp() override {
    EmulatedDevice::SetUp();
    arena_ = *device_->Allocate(64);
    ASSERT_TRUE(device_->streams()->Reserve(3, 4).ok());
  }

  void Fill(uint32_t stream, uint8_t value) {
    device_->streams()->Use(stream);
    thunks_.push_back(*device_->PrepareFill(arena_->data(), 1, std::span(&value, 1)));
    ASSERT_TRUE(thunks_.back()->Execute().ok());
    device_->streams()->Use(0);
  }

  uint8_t Value() { return Get<uint8_t>(arena_->data(), 1)[0]; }

  std::unique_ptr<device::Arena> arena_;
  std::vector<std::unique_ptr<device::Thunk>> thunks_;
};

TEST_F(StreamsTest, EventsOrderStreams) {
  device::Streams& streams = *device_->streams();
  for (uint8_t i = 0; i < 50; ++i) {
    Fill(1, i);
    ASSERT_TRUE(streams.Record(1, 0).ok());
    ASSERT_TRUE(streams.Wait(2, 0).ok());
    Fill(2, static_cast<uint8_t>(i + 100));
    ASSERT_TRUE(device_->Synchronize().ok());
    ASSERT_EQ(Value(), i + 100);
  }
}

TEST_F(StreamsTest, WithoutEventsTheOrderIsOpen) {
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

TEST_F(StreamsTest, RecordingsRunWhenTheyAreReplayed) {
  device::Streams& streams = *device_->streams();
  Fill(0, 9);
  ASSERT_TRUE(streams.BeginRecording().ok());
  ASSERT_TRUE(streams.Record(0, 0).ok());
  ASSERT_TRUE(streams.Wait(1, 0).ok());
  Fill(1, 1);
  ASSERT_TRUE(streams.Record(1, 1).ok());
  ASSERT_TRUE(streams.Wait(0, 1).ok());
  Fill(0, 2);
  auto recording = streams.EndRecording();
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE(device_->Synchronize().ok());
  EXPECT_EQ(Value(), 9);
  for (int i = 0; i < 20; ++i) {
    Fill(0, 9);
    ASSERT_TRUE((*recording)->Execute().ok());
    EXPECT_EQ(Value(), 2);
  }
}

TEST_F(StreamsTest, RecordingsMustBeJoined) {
  device::Streams& streams = *device_->streams();
  ASSERT_TRUE(streams.BeginRecording().ok());
  ASSERT_TRUE(streams.Record(0, 0).ok());
  ASSERT_TRUE(streams.Wait(1, 0).ok());
  Fill(1, 1);
  EXPECT_THAT(std::string(streams.EndRecording().status().message()), HasSubstr("CUDA_ERROR_STREAM_CAPTURE_UNJOINED"));
  Fill(1, 3);  // the stream goes on
  ASSERT_TRUE(device_->Synchronize().ok());
  EXPECT_EQ(Value(), 3);
}

TEST_F(StreamsTest, UseOfFreedMemoryIsAnError) {
  Fill(0, 1);
  arena_.reset();  // waits for it
  ASSERT_TRUE(device_->Synchronize().ok());
  ASSERT_TRUE(thunks_.back()->Execute().ok());
  const absl::Status status = device_->Synchronize();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the GPU: CUDA_ERROR_ILLEGAL_ADDRESS"));
}

}  // namespace
}  // namespace sgd::cuda
