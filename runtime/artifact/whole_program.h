// A program as a whole: the union of what its stages take and give, by position. Programs that all ranks run are one
// stage that has everything.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Where an input or output stands: in the program of `stage` (-1: of all ranks) as number `index`.
struct Holder {
  int32_t stage = -1;
  uint32_t index = 0;
};

template <typename Tensor>
struct Whole {
  const Tensor* tensor = nullptr;  // of the first holder; names, types but for rows, and what is carried are the same
  std::vector<Holder> holders;     // by stage, at least one
  std::vector<const Tensor*> tensors;  // theirs

  // The one of `stage`, or null.
  const Holder* HolderOf(int32_t stage) const {
    for (const Holder& holder : holders) {
      if (holder.stage == stage) return &holder;
    }
    return nullptr;
  }
};

struct WholeProgram {
  std::vector<const Program*> stages;  // by stage
  std::vector<Whole<Input>> inputs;    // by position
  std::vector<Whole<Output>> outputs;

  // The position of the input that an output becomes on the next step; -1 for none.
  int64_t CarryOf(const Whole<Output>& output) const;
  // The position of the output that most likely becomes an input; -1 for none.
  int64_t CandidateOf(const Whole<Input>& input) const;
};

// Whether the same stages hold both.
bool SameStages(const std::vector<Holder>& a, const std::vector<Holder>& b);

// The programs of each name, by stage.
std::map<std::string_view, std::vector<const Program*>> StagesByName(const Artifact& root);

// The whole that these are, by stage; one of all ranks alone is a whole.
WholeProgram WholeOf(std::vector<const Program*> stages);
// The program called `name` of a verified artifact, which has it.
WholeProgram WholeOf(const Artifact& root, std::string_view name);

// Checks that the stages' programs of each name are one whole: positions are 0, 1, ... without gaps, each once in a
// stage; what stands at one position has one name, type and carried input in all stages that hold it; a carried output
// is held by exactly the stages that hold its input. Where a stage has some rows of a tensor alone, the stages together
// have each row once. Nothing without stages.
absl::Status VerifyWholes(const Artifact& root);

}  // namespace sgd::artifact
