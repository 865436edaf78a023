// The part of a module's text that a rank needs: of a pipeline, the kernels of its own stage. The driver compiles what
// it is given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/artifact/program_generated.h"

namespace sgd::cuda {

// For each kernel of a verified artifact, whether a program that the ranks of `stage` run launches it, alone or
// combined. -1: all are.
std::vector<bool> KernelsOf(const artifact::Artifact& root, int32_t stage);

// The text of PTX without the entries of `symbols`, which nothing refers to. An entry is as LLVM writes it: from a line
// that begins with ".visible .entry" to one that is "}". Other texts stay as they are.
std::string WithoutEntries(std::string_view text, const std::vector<std::string_view>& symbols);

}  // namespace sgd::cuda
