// The communicator of GPUs under the cases of every communicator, on fakes of the driver and of NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "absl/time/clock.h"
#include "conformance_cases.h"
#include "emulated_device.h"
#include "rank_threads.h"
#include "targets/gpu/device/cuda_communicator.h"

namespace sgd::cuda {
namespace {

using comm::Case;
using comm::CollectiveKind;
using comm::ElementType;
using comm::ReduceKind;
using comm::Shape;
using ::sgd::testing::ScopedVariable;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(60);

// A device and a communicator for each rank, which is a thread. Ranks that end well leave together.
void RunRanks(uint32_t ranks, const std::function<void(CudaDevice&, comm::Communicator&)>& function,
              bool ends_well = true) {
  comm::RunAsThreads(ranks, 0, [&](comm::SharedMemoryCommunicator& host) {
    comm::Control& control = host.control();
    auto device = CudaDevice::Create({.local_rank = control.rank(), .shares_gpus = true});
    ASSERT_TRUE(device.ok()) << device.status();
    ASSERT_TRUE((*device)->nccl().ok());
    ASSERT_TRUE((*device)->Reserve(comm::kConformanceWindowBytes).ok());
    auto communicator = CudaCommunicator::Create(**device, control, comm::kConformanceWindowBytes, kTimeout);
    ASSERT_TRUE(communicator.ok()) << communicator.status();
    function(**device, **communicator);
    if (ends_well) {
      ASSERT_TRUE(control.Barrier(kTimeout).ok());
    }
  });
}

// The compiler replaces these reductions.
bool IsReplaced(const comm::CollectiveOperand& operand, const comm::CollectiveSpec& spec) {
  if (spec.kind != CollectiveKind::kAllReduce && spec.kind != CollectiveKind::kReduceScatter) return false;
  const bool is_bitwise = spec.reduce == ReduceKind::kAnd || spec.reduce == ReduceKind::kOr;
  const bool is_short = operand.element == ElementType::kI16 || operand.element == ElementType::kU16;
  return operand.count > 0 && (is_short || (is_bitwise && operand.element != ElementType::kBool));
}

void RunCase(const Shape& shape, const Case& test, CudaDevice& device, comm::Communicator& communicator) {
  const uint32_t rank = communicator.control().rank();
  const auto handle = communicator.Prepare(shape.mesh, test.spec);
  if (comm::AxesSize(shape.axes) > 1 &&
      std::ranges::any_of(test.spec.operands, [&](const auto& operand) { return IsReplaced(operand, test.spec); })) {
    EXPECT_EQ(handle.status().code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(handle.status().message()), HasSubstr("NCCL does not reduce elements of type "));
    return;
  }
  ASSERT_TRUE(handle.ok()) << handle.status();
  ASSERT_TRUE(device.host_transfer()->Upload(test.before[rank], communicator.window()).ok());
  const absl::Status status = communicator.Execute(*handle, kTimeout);
  ASSERT_TRUE(status.ok()) << status;
  std::vector<std::byte> actual(test.after[rank].size());
  ASSERT_TRUE(device.host_transfer()->Download(communicator.window(), actual).ok());
  if (actual == test.after[rank]) return;
  const auto at = std::ranges::mismatch(actual, test.after[rank]).in1 - actual.begin();
  ADD_FAILURE() << "rank " << rank << ": " << comm::CollectiveName(test.spec.kind) << " "
                << comm::ReduceName(test.spec.reduce) << " of " << comm::ElementName(test.spec.operands[0].element)
                << ": first difference at byte " << at << ", target at " << test.spec.operands[0].target_offset;
}

// With memory that NCCL does not know, knows, and maps.
class CudaVersions : public ::testing::TestWithParam<int> {};

TEST_P(CudaVersions, MatchTheReference) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES),
      version("SGD_EMULATED_NCCL_VERSION", std::to_string(GetParam()).c_str());
  const Shape shape = comm::AllShapes()[6];
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllToAll, CollectiveKind::kGatherRange}) {
    const std::vector<Case> cases = comm::AllCases(shape, kind);
    RunRanks(static_cast<uint32_t>(shape.mesh.ranks()), [&](CudaDevice& device, comm::Communicator& communicator) {
      const char* const text = GetParam() < NCCL_VERSION(2, 19, 0)   ? ", no registered memory"
                               : GetParam() < NCCL_VERSION(2, 27, 0) ? ", registered memory"
                                                                     : ", symmetric memory";
      EXPECT_THAT(device.fingerprint(), HasSubstr(text));
      for (size_t i = 0; i < cases.size(); i += 7) RunCase(shape, cases[i], device, communicator);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Nccl, CudaVersions,
                         ::testing::Values(NCCL_VERSION(2, 18, 3), NCCL_VERSION(2, 22, 3), NCCL_VERSION(2, 28, 9)));

class CudaConformance : public ::testing::TestWithParam<std::tuple<Shape, CollectiveKind>> {
 protected:
  ScopedVariable libraries_{"SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES};
};

TEST_P(CudaConformance, MatchesTheReference) {
  const auto& [shape, kind] = GetParam();
  const std::vector<Case> cases = comm::AllCases(shape, kind);
  RunRanks(static_cast<uint32_t>(shape.mesh.ranks()),
           [&, &shape = shape](CudaDevice& device, comm::Communicator& communicator) {
             for (const Case& test : cases) RunCase(shape, test, device, communicator);
           });
}

// Some group shapes will do: those of sub-axes, of several axes and of odd sizes among them.
std::vector<Shape> Shapes() {
  const std::vector<Shape> all = comm::AllShapes();
  return {all[0], all[1], all[2], all[6], all[7], all[8]};
}

INSTANTIATE_TEST_SUITE_P(Threads, CudaConformance,
                         ::testing::Combine(::testing::ValuesIn(Shapes()),
                                            ::testing::Values(CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                                              CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                                                              CollectiveKind::kPermute, CollectiveKind::kBroadcast,
                                                              CollectiveKind::kGatherRange)),
                         [](const auto& info) {
                           return comm::CollectiveName(std::get<1>(info.param)) + ("_" + std::get<0>(info.param).name);
                         });

TEST(CudaCommunicator, NcclThatIsTooOld) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES), version("SGD_EMULATED_NCCL_VERSION", "21703");
  const absl::Status status = Nccl::Open(true).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("libnccl.so.2 is NCCL 2.17.3; at least 2.18 is needed"));
}

TEST(CudaCommunicator, WaitsOnlyForWhatWasStarted) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  RunRanks(1, [](CudaDevice&, comm::Communicator& communicator) {
    comm::CollectiveSpec spec;
    spec.axes = {{0, 1, 1}};
    spec.operands.resize(1);
    spec.operands[0].count = 4;
    const auto handle = communicator.Prepare({{1}}, spec);
    ASSERT_TRUE(handle.ok()) << handle.status();
    EXPECT_EQ(communicator.Wait(*handle, kTimeout).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(communicator.Start(*handle, kTimeout).ok());
    EXPECT_TRUE(communicator.Wait(*handle, kTimeout).ok());
  });
}

// In place, at offset 0, of one f32.
comm::CollectiveSpec SumOver(const std::vector<comm::AxisRef>& axes, const std::string& location = "mlp.py:31:8") {
  comm::CollectiveSpec spec;
  spec.axes = axes;
  spec.location = location;
  spec.operands.resize(1);
  spec.operands[0].count = 1;
  return spec;
}

float Sum(CudaDevice& device, comm::Communicator& communicator, comm::CollectiveHandle handle, float value) {
  device::HostTransfer& transfer = *device.host_transfer();
  EXPECT_TRUE(transfer.Upload(std::as_bytes(std::span(&value, 1)), communicator.window()).ok());
  const absl::Status status = communicator.Execute(handle, kTimeout);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(transfer.Download(communicator.window(), std::as_writable_bytes(std::span(&value, 1))).ok());
  return value;
}

TEST(CudaCommunicator, GroupsOfPartsOfTheRanks) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  // With the group of all ranks first, from which the others are split, and last.
  for (const bool has_world_first : {true, false}) {
    RunRanks(4, [&](CudaDevice& device, comm::Communicator& communicator) {
      std::vector<std::vector<comm::AxisRef>> axes = {{{0, 1, 2}, {1, 1, 2}}, {{0, 1, 2}}, {{1, 1, 2}}};
      if (!has_world_first) std::ranges::reverse(axes);
      const float mine = static_cast<float>(communicator.control().rank());
      for (const std::vector<comm::AxisRef>& of : axes) {
        const auto handle = communicator.Prepare({{2, 2}}, SumOver(of));
        ASSERT_TRUE(handle.ok()) << handle.status();
        const uint32_t rank = communicator.control().rank();
        const float expected = of.size() == 2 ? 6.f : of[0].axis == 0 ? 2.f * (rank % 2) + 2 : 4.f * (rank / 2) + 1;
        for (int run = 0; run < 2; ++run) EXPECT_EQ(Sum(device, communicator, *handle, mine), expected);
      }
    });
  }
}

TEST(CudaCommunicator, NamesRanksThatAreLateAndWhereTheGpuIs) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  std::atomic<int> ended = 0;
  RunRanks(
      3,
      [&](CudaDevice& device, comm::Communicator& communicator) {
        const auto first = communicator.Prepare({{3}}, SumOver({{0, 1, 3}}, "mlp.py:30:1"));
        const auto second = communicator.Prepare({{3}}, SumOver({{0, 1, 3}}));
        ASSERT_TRUE(first.ok() && second.ok());
        EXPECT_EQ(Sum(device, communicator, *first, 1), 3);
        if (communicator.control().rank() == 1) {
          while (ended < 2) absl::SleepFor(absl::Milliseconds(5));
        } else {
          const absl::Status status = communicator.Execute(*second, absl::Milliseconds(100));
          EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
          EXPECT_THAT(std::string(status.message()),
                      HasSubstr("the GPU is at all_reduce #1 (mlp.py:31:8), and has not come to "
                                "the end in 100ms; of those who wait, "));
          EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 did not arrive within 2s"));
          ++ended;
          while (ended < 2) absl::SleepFor(absl::Milliseconds(5));
        }
        communicator.EndJob(absl::DeadlineExceededError("late"));
      },
      /*ends_well=*/false);
}

// The GPU of rank 1 hangs before the second collective: its host waits as the others do.
TEST(CudaCommunicator, SaysWhereEachGpuIsWhereAllRanksWait) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  RunRanks(
      3,
      [&](CudaDevice& device, comm::Communicator& communicator) {
        const auto first = communicator.Prepare({{3}}, SumOver({{0, 1, 3}}, "mlp.py:30:1"));
        const auto second = communicator.Prepare({{3}}, SumOver({{0, 1, 3}}));
        ASSERT_TRUE(first.ok() && second.ok());
        EXPECT_EQ(Sum(device, communicator, *first, 1), 3);
        const bool hangs = communicator.control().rank() == 1;
        const absl::Status status = hangs ? communicator.stream_collectives()->Late(absl::Milliseconds(100))
                                          : communicator.Execute(*second, absl::Milliseconds(100));
        EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
        EXPECT_THAT(std::string(status.message()),
                    HasSubstr("and has not come to the end in 100ms; all ranks wait: on ranks 0, 2 the GPU is at "
                              "all_reduce #1 (mlp.py:31:8); on rank 1 the GPU is at all_reduce #0 (mlp.py:30:1)"));
        EXPECT_TRUE(communicator.control().Barrier(kTimeout).ok());
        communicator.EndJob(status);
      },
      /*ends_well=*/false);
}

TEST(CudaCommunicator, ThePeersCauseComesBeforeNcclsOwn) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  for (const bool is_told : {true, false}) {
    const ScopedVariable broken("SGD_EMULATED_NCCL_ERROR", "1");
    RunRanks(
        2,
        [&](CudaDevice& device, comm::Communicator& communicator) {
          const auto sum = communicator.Prepare({{2}}, SumOver({{0, 1, 2}}));
          ASSERT_TRUE(sum.ok()) << sum.status();
          if (is_told && communicator.control().rank() == 1) {
            absl::SleepFor(absl::Milliseconds(50));
            communicator.EndJob(absl::InvalidArgumentError("gpt.py:41:9: bad input"));
            return;
          }
          const absl::Status status = communicator.Execute(*sum, kTimeout);
          EXPECT_THAT(status.ToString(), is_told
                                             ? HasSubstr("INVALID_ARGUMENT: rank 1: gpt.py:41:9: bad input")
                                             : HasSubstr("NCCL: remote process exited or there was a network error"));
          communicator.EndJob(status);
        },
        /*ends_well=*/false);
  }
}

// An end comes while a graph holds collectives: NCCL frees a group only when the graph is gone, and the one who ends
// the job must not wait for that.
TEST(CudaCommunicator, AnEndWaitsForNoGraph) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  RunRanks(
      2,
      [&](CudaDevice& device, comm::Communicator& communicator) {
        const auto sum = communicator.Prepare({{2}}, SumOver({{0, 1, 2}}));
        ASSERT_TRUE(sum.ok()) << sum.status();
        CudaStreams& streams = device.cuda_streams();
        ASSERT_TRUE(streams.BeginRecording().ok());
        ASSERT_TRUE(communicator.stream_collectives()->Enqueue(*sum).ok());
        auto graph = streams.EndRecording();
        ASSERT_TRUE(graph.ok()) << graph.status();
        ASSERT_TRUE(communicator.control().Barrier(kTimeout).ok());
        if (communicator.control().rank() == 0) ASSERT_TRUE((*graph)->Execute().ok());
        const absl::Time begin = absl::Now();
        communicator.EndJob(absl::InternalError("broken"));
        EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
        EXPECT_TRUE(device.Synchronize().ok());
        graph->reset();
      },
      /*ends_well=*/false);
}

TEST(CudaCommunicator, AnEndOfTheJobEndsTheMeeting) {
  const ScopedVariable libraries("SGD_CUDA_LIBRARIES", SGD_CUDA_DOUBLES);
  RunRanks(
      2,
      [&](CudaDevice&, comm::Communicator& communicator) {
        // Rank 1 answers as if it were to meet, and does not.
        if (communicator.control().rank() == 1) {
          EXPECT_TRUE(communicator.control().AllGatherBytes("", kTimeout).ok());
          communicator.EndJob(absl::ResourceExhaustedError("the GPU has no memory"));
          return;
        }
        const absl::Status status = communicator.Prepare({{2}}, SumOver({{0, 1, 2}})).status();
        EXPECT_THAT(status.ToString(),
                    HasSubstr("RESOURCE_EXHAUSTED: all_reduce #0 (mlp.py:31:8): rank 1: the GPU has no memory"));
      },
      /*ends_well=*/false);
}

}  // namespace
}  // namespace sgd::cuda
