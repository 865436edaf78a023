// The communicator of GPUs under the cases of every communicator, on doubles of the driver and of NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

// A device and a communicator for each rank, which is a thread.
void RunRanks(uint32_t ranks, const std::function<void(CudaDevice&, comm::Communicator&)>& function) {
  comm::RunAsThreads(ranks, 0, [&](comm::SharedMemoryCommunicator& control) {
    auto device = CudaDevice::Create({.local_rank = control.rank(), .shares_gpus = true});
    ASSERT_TRUE(device.ok()) << device.status();
    auto communicator = CudaCommunicator::Create(**device, control, comm::kConformanceWindowBytes, kTimeout);
    ASSERT_TRUE(communicator.ok()) << communicator.status();
    function(**device, **communicator);
    ASSERT_TRUE(control.Barrier(kTimeout).ok());
  });
}

// Of groups of more than one rank.
bool IsReducedByNccl(const Case& test) {
  if (test.spec.kind != CollectiveKind::kAllReduce && test.spec.kind != CollectiveKind::kReduceScatter) return true;
  const bool is_bitwise = test.spec.reduce == ReduceKind::kAnd || test.spec.reduce == ReduceKind::kOr;
  return std::ranges::none_of(test.spec.operands, [&](const comm::CollectiveOperand& operand) {
    if (operand.count == 0) return false;
    const bool is_short = operand.element == ElementType::kI16 || operand.element == ElementType::kU16;
    return is_short || (is_bitwise && operand.element != ElementType::kBool);
  });
}

void RunCase(const Shape& shape, const Case& test, CudaDevice& device, comm::Communicator& communicator) {
  const uint32_t rank = communicator.rank();
  const auto handle = communicator.Prepare(shape.mesh, test.spec);
  if (comm::AxesSize(shape.axes) > 1 && !IsReducedByNccl(test)) {
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

}  // namespace
}  // namespace sgd::cuda
