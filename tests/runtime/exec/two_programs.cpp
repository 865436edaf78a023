// Inputs depend on rank and step, so that outputs of another step are wrong.
#include "tests/runtime/exec/two_programs.h"

#include <utility>

#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"
#include "tests/runtime/exec/guarded_device.h"

namespace sgd::testing {
namespace {

using artifact::Slice;
using artifact::Space;

constexpr absl::Duration kTimeout = absl::Seconds(60);

class FaultyDevice final : public GuardedDevice {
 public:
  FaultyDevice(std::unique_ptr<cpu::CpuDevice> cpu, std::function<absl::Status()> fault)
      : GuardedDevice(std::move(cpu)), fault_(std::move(fault)) {}

  device::PreparedThunk PrepareCopy(const std::byte* source, std::byte* target, uint64_t bytes) override {
    auto copy = GuardedDevice::PrepareCopy(source, target, bytes);
    if (!copy.ok()) return copy.status();
    return std::make_unique<FaultyCopy>(*std::move(copy), fault_);
  }

 private:
  class FaultyCopy final : public device::Thunk {
   public:
    FaultyCopy(std::unique_ptr<device::Thunk> copy, const std::function<absl::Status()>& fault)
        : copy_(std::move(copy)), fault_(fault) {}
    absl::Status Execute() override {
      absl::Status status = fault_();
      return status.ok() ? copy_->Execute() : status;
    }

   private:
    const std::unique_ptr<device::Thunk> copy_;
    const std::function<absl::Status()>& fault_;
  };

  const std::function<absl::Status()> fault_;
};

float InputX(uint32_t rank, uint64_t step, size_t i) { return static_cast<float>(i % 5 + rank + step); }
float InputW(size_t i) { return static_cast<float>(i % 7); }

}  // namespace

std::string TwoProgramsBytes(uint32_t ranks) {
  artifact::ArtifactWriter writer;
  FillSample(writer, ranks);
  artifact::ArtifactT& root = writer.artifact();
  const uint64_t s = root.private_bytes;
  root.private_bytes += 128;
  auto program = std::make_unique<artifact::ProgramT>();
  program->name = "sum";
  program->locations = {"model.py:7:7"};
  const artifact::InputT& x = *root.programs[0]->inputs[0];
  program->inputs.push_back(std::make_unique<artifact::InputT>(x));
  const auto copy = [&](const Slice& source, const Slice& target) {
    artifact::CopyT operation;
    operation.source = std::make_unique<Slice>(source);
    operation.target = std::make_unique<Slice>(target);
    Append(*program, std::move(operation));
  };
  const Slice window(Space::Window, 0, 128);
  copy(*x.slice, window);
  artifact::CollectiveT sum;
  sum.kind = artifact::CollectiveKind::AllReduce;
  sum.reduce = artifact::ReduceKind::Add;
  sum.axes = {artifact::AxisRef(0, 1, ranks)};
  sum.operands.push_back(std::make_unique<artifact::CollectiveOperandT>());
  sum.operands[0]->element = artifact::ElementType::F32;
  sum.operands[0]->source = std::make_unique<Slice>(window);
  sum.operands[0]->target = std::make_unique<Slice>(window);
  sum.operands[0]->count = 32;
  Append(*program, std::move(sum));
  copy(window, Slice(Space::Private, s, 128));
  auto output = std::make_unique<artifact::OutputT>();
  output->name = "s";
  output->type = TensorOf(artifact::ElementType::F32, {4, 8}, 1);
  output->slice = SliceAt(Space::Private, s, 128);
  program->outputs.push_back(std::move(output));
  root.programs.push_back(std::move(program));
  return *writer.Serialize();
}

absl::Status TwoProgramsRank::Prepare(const artifact::ArtifactFile& file, comm::Communicator& communicator,
                                      const cpu::CpuDeviceOptions& options, std::function<absl::Status()> fault) {
  auto cpu = cpu::CpuDevice::Create(options);
  if (!cpu.ok()) return cpu.status();
  device_ = std::make_unique<FaultyDevice>(*std::move(cpu), std::move(fault));
  auto context = exec::ExecutionContext::Create(file, *device_, communicator);
  if (!context.ok()) return context.status();
  context_ = *std::move(context);
  const auto prepare = [&](const std::string& program, exec::ExecutorOptions tensors) {
    tensors.timeout = kTimeout;
    return exec::Executor::Create(*context_, program, tensors);
  };
  auto main = prepare("main", {.inputs = {{0, x.bytes()}, {1, w.bytes()}}, .outputs = {{0, t.bytes()}}});
  if (!main.ok()) return main.status();
  auto sum = prepare("sum", {.inputs = {{0, x.bytes()}}, .outputs = {{0, s.bytes()}}});
  if (!sum.ok()) return sum.status();
  main_ = *std::move(main), sum_ = *std::move(sum);
  return absl::OkStatus();
}

void TwoProgramsRank::Fill(uint32_t rank, uint64_t step) {
  for (size_t i = 0; i < 32; ++i) x[i] = InputX(rank, step, i);
  for (size_t i = 0; i < 128; ++i) w[i] = InputW(i);
}

std::vector<float> ExpectedMain(uint32_t ranks, uint64_t step) {
  std::vector<float> t(64);
  for (size_t m = 0; m < 4; ++m) {
    for (size_t n = 0; n < 16; ++n) {
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        t[m * 16 + n] += static_cast<float>(rank);
        for (size_t k = 0; k < 8; ++k) t[m * 16 + n] += 2 * InputX(rank, step, m * 8 + k) * InputW(k * 16 + n);
      }
    }
  }
  return t;
}

std::vector<float> ExpectedSum(uint32_t ranks, uint64_t step) {
  std::vector<float> s(32);
  for (size_t i = 0; i < 32; ++i)
    for (uint32_t rank = 0; rank < ranks; ++rank) s[i] += InputX(rank, step, i);
  return s;
}

}  // namespace sgd::testing
