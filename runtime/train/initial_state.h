// Values of inputs before the first step, from the files that the user names.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Uses every tensor of the file as the initial value of the input that it names; does nothing without a path.
// InvalidArgument with file and tensor when there is no such input, its type differs, or it occurs twice.
absl::Status TakeFile(const std::string& path, Job& job);

// Restores state, step and seed from `checkpoint`. Errors as below.
absl::Status TakeState(checkpoint::Checkpoint checkpoint, bool has_carry_request, Job& job);

// Restores state, step and seed from the checkpoint of --resume, if there is one. Notes damaged checkpoints and
// differences. InvalidArgument when the seed or, unless `has_carry_request`, the carry is another one than it was
// trained with.
absl::Status TakeCheckpoint(bool has_carry_request, Job& job);

// Notes the inputs that --init leaves to the program `init`: a file of parameters alone is legal, and one that lacks a
// parameter may be the wrong one.
void NoteSources(Job& job);

// Every input must have a source by now: file, feed, program `init` or seed. InvalidArgument names the first without.
absl::Status CheckComplete(const Job& job);

}  // namespace sgd::train
