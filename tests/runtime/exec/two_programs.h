// An artifact of two programs, and a rank that executes both over memory of its own.
#pragma once

#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/comm/collectives/communicator.h"
#include "runtime/exec/executor.h"
#include "targets/cpu/device/cpu_device.h"

namespace sgd::testing {

// The sample's program "main": t [4, 16] = the sum over ranks of 2 x w + rank, and flag. Beside it "sum": s [4, 8] =
// the sum of x over the ranks, which all ranks have.
std::string TwoProgramsBytes(uint32_t ranks);

// Memory of the caller, aligned to cache lines.
class Floats {
 public:
  explicit Floats(size_t count) : count_(count), data_(static_cast<float*>(aligned_alloc(64, count * 4)), &free) {
    std::memset(data_.get(), 0, count * 4);
  }
  float& operator[](size_t i) const { return data_.get()[i]; }
  std::vector<float> values() const { return {data_.get(), data_.get() + count_}; }
  std::span<std::byte> bytes() const { return {reinterpret_cast<std::byte*>(data_.get()), count_ * 4}; }

 private:
  size_t count_;
  std::unique_ptr<float, decltype(&free)> data_;
};

// A rank of the job with two programs, prepared once.
class TwoProgramsRank {
 public:
  // Calls `fault` before each copy, which fails with its errors. Borrows the file and the communicator.
  absl::Status Prepare(const artifact::ArtifactFile& file, comm::Communicator& communicator,
                       const cpu::CpuDeviceOptions& options, std::function<absl::Status()> fault);
  // Sets x and w as of a step.
  void Fill(uint32_t rank, uint64_t step);
  absl::Status Run(const std::string& program, uint64_t step) { return (program == "main" ? main_ : sum_)->Run(step); }

  Floats x{32}, w{128}, t{64}, s{32};

 private:
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<exec::ExecutionContext> context_;
  std::unique_ptr<exec::Executor> main_, sum_;
};

// What t and s hold on all ranks after a step with inputs of Fill. All values are small integers.
std::vector<float> ExpectedMain(uint32_t ranks, uint64_t step);
std::vector<float> ExpectedSum(uint32_t ranks, uint64_t step);

}  // namespace sgd::testing
