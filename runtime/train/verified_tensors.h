// The tensors of a step that are compared: as global tensors in memory that all ranks share, and of one rank.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/train/job.h"
#include "runtime/train/step_replay.h"

namespace sgd::train {

// kBefore: an input as the step has found it. kAfter: a carried input behind the step. kOutput: an output that is not
// carried.
enum class TensorTime : uint8_t { kBefore, kAfter, kOutput };

struct VerifiedTensor {
  TensorTime time;
  size_t position;  // of the input or output in the program
};

// In the order in which differences are told: inputs, outputs with the loss first, state.
std::vector<VerifiedTensor> VerifiedTensors(const Job& job);

std::vector<data::TensorSpec> SpecsOf(const Job& job, std::span<const VerifiedTensor> tensors);

// As users know it: "params/w1".
std::string NameOf(const Job& job, const VerifiedTensor& tensor);

// Its position in the program of another plan, by name and type; nothing where that has none.
std::optional<VerifiedTensor> CounterpartOf(const Job& job, const VerifiedTensor& tensor, const Job& other);

// This rank's part, after the step.
checkpoint::LocalTensor LocalTensorOf(const StepReplay& replay, const VerifiedTensor& tensor);

}  // namespace sgd::train
