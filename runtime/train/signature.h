// A program of an artifact as training sees it: types and names of its inputs and outputs, and what is known about
// which output is which input of the next step.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/artifact/whole_program.h"
#include "runtime/data/feed.h"
#include "runtime/exec/carry.h"

namespace sgd::train {

// Why it is not known which output, if any, is the next value of an input.
struct CarryDoubt {
  std::string why;
  std::optional<size_t> candidate;  // the likeliest output
};

struct Signature {
  std::string name;
  std::vector<data::InputType> inputs;
  std::vector<data::InputType> outputs;
  exec::CarryPairs carry;                   // decided when the artifact was made
  std::vector<artifact::CarryBasis> basis;  // of these pairs
  std::map<size_t, CarryDoubt> doubts;      // by input; none of them stands in `carry`
  std::optional<size_t> loss;               // the output with the role Loss
  std::optional<size_t> commit;             // the output with the role Commit
};

// Of all stages together, by position.
Signature SignatureOf(const artifact::WholeProgram& program);

// "arg3 'x' (f32[128,64])", "result0 'loss' (f32[])".
std::string InputName(const Signature& program, size_t input);
std::string OutputName(const Signature& program, size_t output);

}  // namespace sgd::train
