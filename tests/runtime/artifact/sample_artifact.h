// Hand-built artifacts for tests: a small program with every kind of operation, and the ELF objects
// the build makes for it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/writer.h"

namespace sgd::testing {

// The bytes of test_kernels.so (kernels `scale` and `parts`), and of bad_<name>.so.
std::string TestKernels();
std::string BadKernels(const std::string& name);

// A slice on the heap, as FlatBuffers' object form wants it.
std::unique_ptr<artifact::Slice> SliceAt(artifact::Space space, uint64_t offset, uint64_t size);

// A tensor type; `axis` shards dimension 0 over the whole mesh axis 0 of that size, 1 leaves it
// replicated.
std::unique_ptr<artifact::TensorInfo::NativeTableType> TensorOf(artifact::ElementType element,
                                                                const std::vector<uint64_t>& global_dims,
                                                                uint32_t axis);

// Appends an operation to a program, at location 0.
template <typename OperationT>
artifact::InstructionT& Append(artifact::ProgramT& program, OperationT operation) {
  auto instruction = std::make_unique<artifact::InstructionT>();
  instruction->op.Set(std::move(operation));
  program.instructions.push_back(std::move(instruction));
  return *program.instructions.back();
}

// Program "main" for a mesh of `ranks` ranks, axis "data". All values f32.
//   inputs   x [ranks * 4, 8] sharded by rows, state w [8, 16]
//   y = x w (matmul), z = 2 y + rank (launch), z copied to the window, s = sum of z over the ranks
//   (all_reduce), t = s copied out, new_w = constants 0, 1, 2, ... copied, flag filled with 7
//   outputs  t [4, 16] replicated, new_w [8, 16] carried into w, flag i32 []
// Arena offsets are multiples of 64.
void FillSample(artifact::ArtifactWriter& writer, uint32_t ranks);

// The bytes of that artifact.
std::string SampleBytes(uint32_t ranks);

// A folder of its own that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sgd::testing
