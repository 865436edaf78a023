// A program of an artifact inside another process, which calls it like a function: ranks are threads that stay, inputs
// and outputs are memory between calls.
//
//   program = Executable::Load(file, {});
//   program->SetInput(0, bytes);  ...
//   program->Run();
//   program->ReadOutput(0, bytes);
//   program->Carry();  // a training step's new state becomes the input of the next Run
//
// The C interface (sgd.h) and the Python package are made of it. The JAX plugin has arrays that come and go between
// many programs, and shares the ranks (rank_pool.h) and what is prepared on them (rank_program.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/artifact/reader.h"
#include "runtime/data/safetensors.h"
#include "runtime/embed/rank_pool.h"
#include "runtime/exec/executor.h"
#include "runtime/train/program_view.h"

namespace sgd::embed {

struct ExecutableOptions {
  std::string program = {};  // empty: main, else train, else the only one
  // As many ranks as the artifact has, shared by executables. Null: started for this one, as `ranks` says.
  std::shared_ptr<RankPool> pool = nullptr;
  RankPoolOptions ranks = {};
  absl::Duration timeout = absl::Seconds(300);  // of each wait of a rank for its peers
  // Calls functions of this process where the program says so, on the ranks' threads, several at a time. Null: programs
  // with such calls are refused.
  exec::HostCallHandler host_calls = nullptr;
};

// All functions but Abort and status belong to one thread at a time. Tensors are counted by their position in the whole
// program, ranks from 0; positions and ranks must be in range.
//
// A step's plan gives the memory of a tensor to another once it is not needed any more. So a value has an end: a step
// may overwrite inputs, an input that is set may overwrite outputs. An executable knows which, and refuses to read or
// use what is not there any more, with the tensor's name.
class Executable {
 public:
  // Prepares all ranks. NotFound for an unknown program; FailedPrecondition when the artifact is for another CPU, GPU
  // or number of ranks, or a GPU, driver or library is missing; ResourceExhausted when memory or threads are. Errors
  // begin with the file, or name the rank.
  static absl::StatusOr<std::unique_ptr<Executable>> Load(std::shared_ptr<const artifact::ArtifactFile> file,
                                                          const ExecutableOptions& options);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  uint32_t ranks() const { return static_cast<uint32_t>(file_->ranks()); }
  const artifact::ArtifactFile& file() const { return *file_; }
  // Names, types and roles of inputs and outputs, and which outputs are carried to which inputs.
  const train::ProgramView& program() const { return program_; }
  // A tensor as a rank sees it: its shard, and whether the rank holds it.
  const exec::Tensor& input(uint32_t rank, size_t position) const;
  const exec::Tensor& output(uint32_t rank, size_t position) const;

  // Cuts a row-major global tensor into the ranks' shards. InvalidArgument for another number of bytes.
  absl::Status SetInput(size_t position, std::span<const std::byte> global);
  // A rank's shard of an input in the host's memory, which counts as set once the caller has filled the shards of all
  // ranks as a whole. Valid until the next Run, which copies it to a GPU. Empty where the rank holds nothing of it.
  std::span<std::byte> InputShard(uint32_t rank, size_t position);

  // Sets an input from each tensor of a safetensors file, by its name in the model. Errors name file and tensor, and
  // set nothing: a tensor that no input is named after, that has another type or dimensions, or holds a value that the
  // input cannot.
  absl::Status SetInputsFrom(const std::string& path);

  // One step on all ranks. FailedPrecondition, naming the input, where one has no value. Other errors end the job of
  // the ranks: they name rank, instruction and source line, and further calls return FailedPrecondition until Restart.
  absl::Status Run();
  // Makes the outputs of the last Run that the artifact carries the inputs of the next one. FailedPrecondition where
  // one of them has no value any more.
  absl::Status Carry();
  // Run since Load.
  uint64_t steps() const { return steps_; }

  // Whether there is a value: the next Run finds one of the input, the last Run has left one of the output.
  bool has_input(size_t position) const { return has_input_[position]; }
  bool has_output(size_t position) const { return has_output_[position]; }
  // Whether no step overwrites the input.
  bool keeps_input(size_t position) const { return keeps_input_[position]; }

  // Puts the ranks' shards together. InvalidArgument for another number of bytes, FailedPrecondition without a value.
  absl::Status ReadInput(size_t position, std::span<std::byte> global) const;
  absl::Status ReadOutput(size_t position, std::span<std::byte> global) const;
  // A rank's shard of an output that has a value, in the host's memory; valid until the next Run or Carry. Empty where
  // the rank holds nothing of it, or where it cannot be copied from a GPU: then status() says why.
  std::span<const std::byte> OutputShard(uint32_t rank, size_t position) const;

  // Why no more steps can be run; OK while they can.
  absl::Status status() const { return job_->status(); }
  // Ends the run in progress, from any thread. A single rank on the thread that calls ends with its step.
  void Abort(const absl::Status& cause) { job_->Abort(cause); }
  // Prepares the ranks anew, after a failure. No tensor has a value afterwards.
  absl::Status Restart();

 private:
  struct State;
  Executable(std::shared_ptr<const artifact::ArtifactFile> file, train::ProgramView program,
             const ExecutableOptions& options);
  void FindOverlaps();
  absl::Status Start();
  // Calls `body` with each rank's state on its thread.
  absl::Status RunOnRanks(const std::function<absl::Status(State& state)>& body) const;
  // Calls `read` with each rank's executor on its thread, where the host reads its device by copies: the bytes that it
  // asks for are in the host's memory then.
  absl::Status Fetch(const std::function<void(exec::Executor& executor)>& read) const;
  // The ranks' states, for functions of ranks: one that is lost keeps its own alone.
  std::vector<std::weak_ptr<State>> Shared() const;
  // Destroys what is prepared, and its job.
  void Release();
  // Of an input that is about to be written.
  void EndOutputsOver(size_t input);
  // The input that a tensor of a file is the value of.
  absl::StatusOr<size_t> InputOf(const data::SafetensorsFile& file, const data::TensorEntry& entry) const;
  std::string InputName(size_t position) const;
  std::string OutputName(size_t position) const;

  const std::shared_ptr<const artifact::ArtifactFile> file_;
  const train::ProgramView program_;
  const ExecutableOptions options_;
  std::shared_ptr<RankPool> pool_;
  std::unique_ptr<RankJob> job_;
  std::vector<std::shared_ptr<State>> states_;     // by rank; a lost function of a failed run shares its own
  std::vector<std::vector<size_t>> outputs_over_;  // by input: outputs in the same memory, on any rank
  std::vector<bool> has_input_, keeps_input_;      // by input
  std::vector<bool> has_output_;                   // by output
  uint64_t steps_ = 0;
};

}  // namespace sgd::embed
