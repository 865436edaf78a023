// Which rank verifies which file of a checkpoint.
#include "runtime/train/agreed_checkpoint.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sgd::train {
namespace {

TEST(AgreedCheckpoint, FilesAreVerifiedOnTheHostsThatHaveWrittenThem) {
  for (uint32_t hosts = 1; hosts <= 8; ++hosts) {
    for (uint32_t ranks_of_host = 1; ranks_of_host <= 5; ++ranks_of_host) {
      for (uint32_t host = 0; host < hosts; ++host)
        EXPECT_EQ(VerifierOf(host, hosts, hosts * ranks_of_host) / ranks_of_host, host);
    }
  }
}

TEST(AgreedCheckpoint, RanksShareTheFiles) {
  for (uint32_t files = 1; files <= 20; ++files) {
    for (uint32_t ranks = 1; ranks <= 20; ++ranks) {
      std::vector<uint32_t> counts(ranks);
      for (uint32_t file = 0; file < files; ++file) {
        ASSERT_LT(VerifierOf(file, files, ranks), ranks);
        ++counts[VerifierOf(file, files, ranks)];
      }
      const uint32_t most = (files + ranks - 1) / ranks;
      for (const uint32_t count : counts) EXPECT_LE(count, most) << files << " " << ranks;
    }
  }
}

TEST(AgreedCheckpoint, TheProcessThatForksRanksLearnsTheirStep) {
  const auto agreed = AgreedStep::Create();
  ASSERT_TRUE(agreed.ok()) << agreed.status();
  EXPECT_EQ((*agreed)->step(), std::nullopt);
  const pid_t child = fork();
  if (child == 0) {
    (*agreed)->Set(0);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ((*agreed)->step(), 0u);
}

}  // namespace
}  // namespace sgd::train
