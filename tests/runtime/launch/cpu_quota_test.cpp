// Limits are found in both versions of control groups, inside containers too, and the least one
// counts.
#include "runtime/launch/cpu_quota.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <string>

namespace sgd::launch {
namespace {

// A made-up root of the file system.
class CpuQuotaTest : public ::testing::Test {
 protected:
  CpuQuotaTest() {
    std::string name = (std::filesystem::temp_directory_path() / "sgd-quota-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~CpuQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
};

TEST_F(CpuQuotaTest, NothingToReadIsNoLimit) { EXPECT_TRUE(std::isinf(CpuQuota(root_))); }

TEST_F(CpuQuotaTest, VersionTwo) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_), 1.5);
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(CpuQuota(root_)));
}

TEST_F(CpuQuotaTest, GroupsAboveCountToo) {
  Write("proc/self/cgroup", "0::/slice/job\n");
  Write("sys/fs/cgroup/slice/cpu.max", "200000 100000\n");
  Write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_), 2);
  Write("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_), 0.5);
}

TEST_F(CpuQuotaTest, VersionOne) {
  Write("proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n");
  Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(CpuQuota(root_)));
  Write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_), 3);
}

// There /proc names a path of the host, and the container's own group is mounted at the top.
TEST_F(CpuQuotaTest, VersionOneInAContainer) {
  Write("proc/self/cgroup", "4:cpu:/docker/0123456789abcdef\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(CpuQuota(root_), 1.5);
}

TEST_F(CpuQuotaTest, NonsenseIsNoLimit) {
  Write("proc/self/cgroup", "0::/\nx\n::\n");
  for (const char* text : {"", "x y\n", "100000\n", "100000 0\n", "-5 100000\n"}) {
    Write("sys/fs/cgroup/cpu.max", text);
    EXPECT_TRUE(std::isinf(CpuQuota(root_))) << text;
  }
}

TEST(CoresOfQuota, HalfAProcessorIsWorthAThread) {
  EXPECT_EQ(CoresOfQuota(0.1), 1u);
  EXPECT_EQ(CoresOfQuota(1.4), 1u);
  EXPECT_EQ(CoresOfQuota(1.5), 2u);
  EXPECT_EQ(CoresOfQuota(8), 8u);
  EXPECT_GE(CoresOfQuota(INFINITY), 1u << 20);
}

}  // namespace
}  // namespace sgd::launch
