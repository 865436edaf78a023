// A program of an artifact as the command line speaks of it: types and names of its inputs and
// outputs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"
#include "runtime/data/feed.h"
#include "runtime/train/signature.h"

namespace sgd::train {

struct ProgramView : Signature {
  data::NameTable input_names;   // argN or the model's names
  data::NameTable output_names;  // resultN or the model's names
  artifact::WholeProgram whole;  // which stages have what; of the file that it was viewed in
};

// The program called `name`. NotFound lists what there is.
absl::StatusOr<ProgramView> ViewProgram(const artifact::ArtifactFile& file, std::string_view name);

// The program to run without --program: main, else train, else the only one.
absl::StatusOr<std::string> DefaultProgram(const artifact::ArtifactFile& file);

bool HasProgram(const artifact::ArtifactFile& file, std::string_view name);

// "input arg3 'x' (f32[128,64]) of program 'train'", "output result0 'loss' (f32[]) of program
// 'train'".
std::string InputText(const ProgramView& program, size_t input);
std::string OutputText(const ProgramView& program, size_t output);

// The path in one word, for people: "params/0/w"; "result" when nothing is left of it.
std::string ShortName(std::string_view name);

}  // namespace sgd::train
