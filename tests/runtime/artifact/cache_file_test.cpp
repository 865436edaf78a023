// Checks that caches read only what their own user wrote, and that a failed write leaves nothing.
#include "runtime/artifact/cache_file.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace sgd::artifact {
namespace {

using testing::HasSubstr;

class CacheFileTest : public testing::Test {
 protected:
  CacheFileTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        path_(folder_ / "entry") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~CacheFileTest() override { std::filesystem::remove_all(folder_); }

  std::string Refusal() const { return std::string(ReadCacheFile(path_).status().message()); }

  std::filesystem::path folder_, path_;
};

TEST_F(CacheFileTest, ReadsWhatItWrote) {
  EXPECT_TRUE(absl::IsNotFound(ReadCacheFile(path_).status()));
  const mode_t before = umask(0);  // group members could write what other programs create
  ASSERT_TRUE(WriteCacheFile(path_, "first").ok());
  umask(before);
  ASSERT_TRUE(WriteCacheFile(path_, "second").ok());
  EXPECT_EQ(ReadCacheFile(path_).value(), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(CacheFileTest, RefusesFilesThatOthersMayWrite) {
  ASSERT_TRUE(WriteCacheFile(path_, "mine").ok());
  chmod(path_.c_str(), 0664);
  EXPECT_THAT(Refusal(), HasSubstr("entry: writable by other users; expected a file that you alone may write; delete"));
  chmod(path_.c_str(), 0646);
  EXPECT_THAT(Refusal(), HasSubstr("writable by other users"));
}

TEST_F(CacheFileTest, RefusesFilesOfOtherUsers) {
  ASSERT_TRUE(WriteCacheFile(path_, "theirs").ok());
  if (chown(path_.c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0) GTEST_SKIP() << "needs root";
  EXPECT_THAT(Refusal(), HasSubstr("entry: owned by another user; expected"));
}

TEST_F(CacheFileTest, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(Refusal(), HasSubstr("entry: not a regular file; expected"));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/zero", path_);
  EXPECT_THAT(Refusal(), HasSubstr("cannot open"));
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_THAT(Refusal(), HasSubstr("not a regular file"));
}

TEST_F(CacheFileTest, AFullDiskKeepsTheOlderFile) {
  ASSERT_TRUE(WriteCacheFile(path_, "older").ok());
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  const absl::Status status = WriteCacheFile(path_, std::string(2000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_THAT(std::string(status.message()), HasSubstr("entry: cannot write: File too large"));
  EXPECT_EQ(ReadCacheFile(path_).value(), "older");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace sgd::artifact
