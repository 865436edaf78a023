// The kernels of a cuda artifact as text.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"

namespace sgd::inspect {

// The text of the kernels for one of the artifact's GPU architectures; NotFound lists those there are.
absl::StatusOr<std::string> ModuleText(const artifact::ArtifactFile& file, const std::string& architecture);

}  // namespace sgd::inspect
