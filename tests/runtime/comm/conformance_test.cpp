// The communicator of a host's ranks under the cases of every communicator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "conformance_cases.h"
#include "rank_threads.h"

namespace sgd::comm {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(60);

// How a collective is executed.
enum class Way { kWhole, kSplit, kThread };

absl::Status Run(Communicator& communicator, CollectiveHandle handle, Way way) {
  if (way == Way::kWhole) return communicator.Execute(handle, kTimeout);
  absl::Status status = communicator.Start(handle, kTimeout);
  return status.ok() ? communicator.Wait(handle, kTimeout) : status;
}

void RunCase(const Mesh& mesh, const Case& test, Way way, Communicator& communicator) {
  const uint32_t rank = communicator.control().rank();
  const uint64_t bytes = test.before[rank].size();
  auto handle = communicator.Prepare(mesh, test.spec);
  ASSERT_TRUE(handle.ok()) << handle.status();
  std::memcpy(communicator.window(), test.before[rank].data(), bytes);
  ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
  const absl::Status status = Run(communicator, *handle, way);
  ASSERT_TRUE(status.ok()) << status;
  const std::byte* expected = test.after[rank].data();
  const std::byte* actual = communicator.window();
  if (std::memcmp(actual, expected, bytes) == 0) return;
  const uint64_t at = std::mismatch(actual, actual + bytes, expected).first - actual;
  ADD_FAILURE() << "rank " << rank << ": " << CollectiveName(test.spec.kind) << " " << ReduceName(test.spec.reduce)
                << " of " << ElementName(test.spec.operands[0].element) << "[" << test.spec.operands[0].outer << ","
                << test.spec.operands[0].inner << "]: first difference at byte " << at << ", target at "
                << test.spec.operands[0].target_offset;
}

class Conformance : public testing::TestWithParam<std::tuple<RankRunner, Shape, CollectiveKind, Way>> {};

TEST_P(Conformance, MatchesTheReference) {
  const auto& [runner, shape, kind, way] = GetParam();
  const std::vector<Case> cases = AllCases(shape, kind);
  runner.run(static_cast<uint32_t>(shape.mesh.ranks()), kConformanceWindowBytes,
             [&, &mesh = shape.mesh, &way = way](SharedMemoryCommunicator& communicator) {
               if (way == Way::kThread) ASSERT_TRUE(communicator.StartThread(/*has_own_core=*/false).ok());
               for (const Case& test : cases) RunCase(mesh, test, way, communicator);
               EXPECT_TRUE(communicator.control().Barrier(kTimeout).ok());
             });
}

std::string Name(const testing::TestParamInfo<Conformance::ParamType>& info) {
  const auto& [runner, shape, kind, way] = info.param;
  const char* ways[] = {"whole", "split", "thread"};
  return runner.name + "_" + CollectiveName(kind) + "_" + shape.name + "_" + ways[static_cast<int>(way)];
}

const RankRunner kThreads = {"threads", RunAsThreads};
const RankRunner kProcesses = {"processes", RunAsProcesses};

std::vector<Shape> ProcessShapes() {
  if (!CanRunAsProcesses()) return {};
  const std::vector<Shape> all = AllShapes();
  return {all[1], all[3], all[9]};
}

const auto kAllKinds = testing::Values(
    CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
    CollectiveKind::kPermute, CollectiveKind::kBroadcast, CollectiveKind::kGatherRange);

// Ways differ in when things happen, not in what: some shapes will do.
std::vector<Shape> SplitShapes() {
  const std::vector<Shape> all = AllShapes();
  return {all[0], all[1], all[2], all[7]};
}

const auto kSplitWays = testing::Values(Way::kSplit, Way::kThread);

INSTANTIATE_TEST_SUITE_P(Threads, Conformance,
                         testing::Combine(testing::Values(kThreads), testing::ValuesIn(AllShapes()), kAllKinds,
                                          testing::Values(Way::kWhole)),
                         Name);
INSTANTIATE_TEST_SUITE_P(ThreadsSplit, Conformance,
                         testing::Combine(testing::Values(kThreads), testing::ValuesIn(SplitShapes()), kAllKinds,
                                          kSplitWays),
                         Name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Conformance);
INSTANTIATE_TEST_SUITE_P(Processes, Conformance,
                         testing::Combine(testing::Values(kProcesses), testing::ValuesIn(ProcessShapes()), kAllKinds,
                                          testing::Values(Way::kWhole, Way::kThread)),
                         Name);

}  // namespace
}  // namespace sgd::comm
