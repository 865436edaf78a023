// Files of tensors that the user names: one file, or the index of a set.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/train/job.h"

namespace sgd::train {

// Opens `path`, or, where its name ends in `.index.json`, the files beside it that it names, as Hugging Face writes
// large models: {"weight_map": {TENSOR: FILE}}. Errors as of SafetensorsFile::Open; InvalidArgument for an index that
// is none, that names files in other folders, or tensors that its files lack.
absl::StatusOr<std::vector<FilePtr>> OpenTensorFiles(const std::string& path);

}  // namespace sgd::train
