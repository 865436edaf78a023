// One rank prints the cause, and the others refer to it.
#include "runtime/comm/shared_memory/job_cause.h"

#include <gtest/gtest.h>

namespace sgd::comm {
namespace {

TEST(JobCause, TheFirstRankThatAsksPrintsTheFirstCause) {
  auto segment = SharedMemorySegment::Create(3, 4096);
  ASSERT_TRUE(segment.ok());
  (*segment)->Abort(1, absl::DataLossError("its disk is on fire"));
  const absl::Status own = absl::AbortedError("rank 2: all_reduce was given up: rank 1: its disk is on fire");
  EXPECT_EQ(JobCause(**segment, 2, own), absl::DataLossError("rank 1: its disk is on fire"));
  EXPECT_EQ(JobCause(**segment, 0, own), absl::DataLossError("rank 0: ended with the job; rank 2 says why"));
  EXPECT_EQ(JobCause(**segment, 2, own), absl::DataLossError("rank 1: its disk is on fire"));
}

TEST(JobCause, AnErrorOfItsOwnIsPrintedByItsRank) {
  auto segment = SharedMemorySegment::Create(2, 4096);
  ASSERT_TRUE(segment.ok());
  (*segment)->Abort(0, absl::NotFoundError("in.safetensors: cannot open"));
  EXPECT_EQ(JobCauseOrOwn(**segment, 0, absl::NotFoundError("in.safetensors: cannot open")).message(),
            "rank 0: in.safetensors: cannot open");
  EXPECT_EQ(JobCauseOrOwn(**segment, 1, absl::NotFoundError("in.safetensors: cannot open")).message(),
            "rank 1: ended with the job; rank 0 says why");
  EXPECT_EQ(JobCauseOrOwn(**segment, 1, absl::InternalError("another")).message(), "rank 1: another");
}

// A rank that dies while it writes the cause leaves none.
TEST(JobCause, WithoutACauseTheRankPrintsItsError) {
  auto segment = SharedMemorySegment::Create(2, 4096);
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(JobCause(**segment, 1, absl::InternalError("late")), absl::InternalError("rank 1: late"));
}

}  // namespace
}  // namespace sgd::comm
