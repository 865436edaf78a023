// Inputs that are copied beside the steps, on the fake of the driver: every step sees its own, in whatever order the
// streams run.
#include "runtime/exec/staged_inputs.h"

#include <gmock/gmock.h>

#include <cstring>

#include "emulated_device.h"
#include "runtime/exec/host_tensors.h"

namespace sgd::exec {
namespace {

using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

class StagedInputsTest : public EmulatedDevice {
 protected:
  void SetUp() override {
    EmulatedDevice::SetUp();
    arena_ = *device_->Allocate(4096);
    for (uint64_t i = 0; i < 4; ++i) places_.push_back({arena_->data() + 1024 * i, 1000});
  }

  static void Fill(std::span<std::byte> bytes, int value) { std::memset(bytes.data(), value, bytes.size()); }
  std::vector<uint8_t> Bytes(int value) { return std::vector<uint8_t>(1000, static_cast<uint8_t>(value)); }

  std::unique_ptr<device::Arena> arena_;
  std::vector<DevicePlace> places_;
};

TEST_F(StagedInputsTest, EveryStepTakesItsOwn) {
  for (bool records : {false, true}) {
    Put(arena_->data() + 2048, Bytes(77));
    auto staged = *StagedInputs::Create(*device_, {places_[0], places_[1]}, {places_[2]});
    std::vector<std::unique_ptr<device::Thunk>> takes;
    for (uint32_t slot = 0; records && slot < StagedInputs::kSlots; ++slot) {
      ASSERT_TRUE(device_->streams()->BeginRecording().ok());
      ASSERT_TRUE(staged->Take(slot).ok());
      takes.push_back(*device_->streams()->EndRecording());
    }
    // Acts as a step: keeps what it sees, and spoils its inputs.
    auto results = *device_->Allocate(3 * 1000 * 40);
    std::vector<std::unique_ptr<device::Thunk>> thunks;
    const uint8_t spoiled = 0xee;
    for (int step = 0; step < 40; ++step) {
      const uint32_t slot = static_cast<uint32_t>(step) % StagedInputs::kSlots;
      Fill(staged->Fill(0, slot), step);
      Fill(staged->Fill(1, slot), 100 + step);
      ASSERT_TRUE(staged->Upload(slot).ok());
      ASSERT_TRUE((records ? takes[slot]->Execute() : staged->Take(slot)).ok());
      for (int i = 0; i < 3; ++i) {
        thunks.push_back(*device_->PrepareCopy(places_[i].device, results->data() + (3 * step + i) * 1000, 1000));
        thunks.push_back(*device_->PrepareFill(places_[i].device, 1000, std::span(&spoiled, 1)));
        for (size_t k = thunks.size() - 2; k < thunks.size(); ++k) ASSERT_TRUE(thunks[k]->Execute().ok());
      }
      // Two steps in flight at most.
      if (step % 2 == 1) ASSERT_TRUE(device_->Synchronize().ok());
    }
    for (int step = 0; step < 40; ++step) {
      EXPECT_EQ(Get<uint8_t>(results->data() + 3 * step * 1000, 1000), Bytes(step));
      EXPECT_EQ(Get<uint8_t>(results->data() + (3 * step + 1) * 1000, 1000), Bytes(100 + step));
      EXPECT_EQ(Get<uint8_t>(results->data() + (3 * step + 2) * 1000, 1000), Bytes(77));
    }
  }
}

TEST_F(StagedInputsTest, AllIsFilled) {
  auto staged = *StagedInputs::Create(*device_, {places_[0], places_[1]}, {});
  Fill(staged->Fill(1, 0), 1);
  EXPECT_THAT(std::string(staged->Upload(0).message()), HasSubstr("was not filled for this step"));
}

TEST_F(StagedInputsTest, NothingStagedTakesNothing) {
  auto staged = *StagedInputs::Create(*device_, {{arena_->data(), 0}}, {});
  EXPECT_TRUE(staged->Fill(0, 0).empty());
  EXPECT_TRUE(staged->is_empty());
  EXPECT_TRUE(staged->Upload(0).ok());
  EXPECT_EQ(staged->device_bytes(), 0u);
}

TEST_F(StagedInputsTest, SmallOutputsAreThoseOfTheStepThatEnded) {
  auto tensors = *HostTensors::Create(*device_, {}, {{arena_->data(), 4}, {arena_->data() + 64, 4}}, {1});
  std::vector<std::unique_ptr<device::Thunk>> thunks;
  const auto begin = [&](int32_t value) {
    const uint32_t slot = tensors->next_slot();
    EXPECT_TRUE(tensors->BeginStep().ok());
    std::vector<uint8_t> pattern(4);
    std::memcpy(pattern.data(), &value, 4);
    thunks.push_back(*device_->PrepareFill(arena_->data() + 64, 4, pattern));
    EXPECT_TRUE(thunks.back()->Execute().ok());
    EXPECT_TRUE(tensors->FetchOutputs(slot).ok());
  };
  begin(1);
  for (int32_t step = 2; step < 10; ++step) {
    begin(step);
    ASSERT_TRUE(device_->Synchronize().ok());
    tensors->EndStep();
    int32_t value = 0;
    std::memcpy(&value, tensors->ReadOutput(1).data(), 4);
    EXPECT_EQ(value, step - 1);
  }
}

}  // namespace
}  // namespace sgd::exec
