// The most expensive instructions of a profile, for people.
#pragma once

#include <string>
#include <vector>

namespace sgd::sgdrun {

// `lines` are those of trace::InstructionTimeJson, of a pipeline with the field "stage". A row for each of the ten
// kernels, library calls and collectives that take longest in a step: all instructions of a name, source line
// and scope together. Shares are of all instructions of their stage.
std::string ProfileTable(const std::vector<std::string>& lines);

}  // namespace sgd::sgdrun
