// The description of a data set, as a person writes it; docs/data.md lists its fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/mixture.h"

namespace sgd::data {

// One element of "sources": rows of tensors in `files`, or rows of `tokens`.
struct SourceDescription {
  std::string name;
  WeightSchedule weight{{0, 1.0}};
  std::vector<std::string> files;   // paths, folders and globs
  std::vector<std::string> tokens;  // likewise

  // Of tokens alone.
  std::optional<artifact::ElementType> type;  // of files of nothing else
  uint64_t sequence = 0;
  uint64_t stride = 0;
  bool has_targets = false;
  bool has_documents = false;
  std::vector<std::string> documents;  // files of their starts; empty: they are in the files of tokens
  int32_t pad = 0;
  int32_t ignored = -100;
};

// InvalidArgument, completing "FILE: ", for text that is not JSON, and for fields that are unknown, missing, of another
// kind or out of range; the field at fault is named by its path, as sources[1].weight.
absl::StatusOr<std::vector<SourceDescription>> ParseDataSet(std::string_view text);

}  // namespace sgd::data
