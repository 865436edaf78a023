// Which inputs of a program stay in their memory from step to step.
#pragma once

#include <cstdint>

#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// Whether nothing that the artifact's programs write, and no other input of any of them, touches the bytes of
// `program`'s input: filled once, it holds the same before every step. An input of another program that is the same
// tensor, by name and place, does no harm.
bool KeepsInput(const Artifact& root, const Program& program, uint32_t input);

}  // namespace sgd::artifact
