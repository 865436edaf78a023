// The epilogue lists of an artifact's matmuls and convolutions.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "runtime/artifact/program_generated.h"
#include "runtime/library/epilogue.h"

namespace sgd::artifact {

// Total: of a list that is not verified, as many steps as a list of known steps has, whatever they are.
library::Epilogue EpilogueOf(const flatbuffers::Vector<EpilogueStep>* steps);
library::Epilogue EpilogueOf(const std::vector<EpilogueStep>& steps);

// The inverse.
std::vector<EpilogueStep> StepsOf(const library::Epilogue& epilogue);

// Whether the instruction may have its list, and has the operands for it and no others; where those lie is another
// check.
absl::Status VerifyEpilogue(const Matmul& matmul);
absl::Status VerifyEpilogue(const Convolution& convolution);

}  // namespace sgd::artifact
