// The tensors by which a checkpoint is another model's than the program.
#pragma once

#include <string>
#include <vector>

#include "runtime/data/safetensors.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Texts of tensors for messages: quoted names, and for `reshaped` both types.
struct CheckpointDifference {
  std::vector<std::string> missing;   // carried inputs that the checkpoint lacks, and that do not start by themselves
  std::vector<std::string> extra;     // tensors that are no input of the program
  std::vector<std::string> reshaped;  // tensors with other dimensions than the input

  // The first few of each kind, as one clause for a message. Empty if there is no difference.
  std::string Text() const;
};

// Leaves out the state of compressed reductions, which other runs of the same training may not have.
CheckpointDifference FindDifference(const data::SafetensorsFile& state, const Job& job);

}  // namespace sgd::train
