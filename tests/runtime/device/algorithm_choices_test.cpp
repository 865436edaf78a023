// One rank chooses, the others take its choices, and nobody believes bytes that the library refuses.
#include "runtime/device/algorithm_choices.h"

#include <gmock/gmock.h>

namespace sgd::device {
namespace {

using ::testing::HasSubstr;

// A library that accepts one choice.
struct Library {
  std::string accepted;
  int chosen = 0;

  absl::Status Use(AlgorithmChoices& choices, const std::string& key) {
    return choices.Use(
        key,
        [this](std::string_view bytes) {
          return bytes == accepted ? absl::OkStatus() : absl::InvalidArgumentError("no such algorithm");
        },
        [this]() -> absl::StatusOr<std::string> { return ++chosen, accepted; });
  }
};

TEST(AlgorithmChoices, AreMadeOnceAndTakenByOthers) {
  AlgorithmChoices first("a GPU"), second("a GPU");
  second.set_decides(false);
  Library library{.accepted = std::string("\0 7", 3)};
  ASSERT_TRUE(library.Use(first, "product").ok());
  ASSERT_TRUE(library.Use(first, "product").ok());
  EXPECT_EQ(library.chosen, 1);
  EXPECT_EQ(first.chosen(), 1u);
  ASSERT_TRUE(second.Restore(first.Save()).ok());
  ASSERT_TRUE(library.Use(second, "product").ok());
  EXPECT_EQ(library.chosen, 1);
}

TEST(AlgorithmChoices, WhatTheLibraryRefusesIsChosenAnew) {
  AlgorithmChoices choices("a GPU");
  Library before{.accepted = "3"}, after{.accepted = "4"};
  ASSERT_TRUE(before.Use(choices, "product").ok());
  ASSERT_TRUE(after.Use(choices, "product").ok());
  EXPECT_EQ(after.chosen, 1);
  EXPECT_EQ(choices.chosen(), 2u);
}

TEST(AlgorithmChoices, ARankThatDoesNotChooseFails) {
  AlgorithmChoices choices("a GPU");
  choices.set_decides(false);
  Library library{.accepted = "3"};
  absl::Status missing = library.Use(choices, "product of 3 by 4");
  EXPECT_EQ(missing.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(missing.message(), "rank 0's choice of an algorithm does not fit here: there is none (product of 3 by 4)");
  AlgorithmChoices other("a GPU");
  Library another{.accepted = "5"};
  ASSERT_TRUE(another.Use(other, "product of 3 by 4").ok());
  ASSERT_TRUE(choices.Restore(other.Save()).ok());
  EXPECT_THAT(std::string(library.Use(choices, "product of 3 by 4").message()), HasSubstr("no such algorithm"));
  EXPECT_EQ(library.chosen, 0);
}

TEST(AlgorithmChoices, DamagedBytesAddNothing) {
  AlgorithmChoices choices("a GPU");
  Library library{.accepted = "3"};
  ASSERT_TRUE(library.Use(choices, "a").ok());
  ASSERT_TRUE(library.Use(choices, "b").ok());
  const std::string bytes = choices.Save();
  for (size_t length = 1; length < bytes.size(); ++length) {
    AlgorithmChoices other("a GPU");
    absl::Status status = other.Restore(bytes.substr(0, length));
    if (!status.ok()) EXPECT_EQ(other.Save(), "");
    // A whole pair may be missing.
    EXPECT_EQ(status.ok(), length == bytes.size() / 2) << length;
  }
  AlgorithmChoices other("a GPU");
  EXPECT_FALSE(other.Restore(std::string(9, '\xff')).ok());
}

}  // namespace
}  // namespace sgd::device
