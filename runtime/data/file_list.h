// The files that an argument or a field names.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::data {

// The files of `text`: a path, a folder, which stands for its files with these endings, or a glob (*, ? and [...]).
// Files of a folder and of a glob come in the order of their names' bytes; hidden ones are left out. A path in
// `folder`, unless it is absolute; `folder` may be empty. NotFound where a folder or a glob has no such file. Whether
// the file of a path exists shows when it is opened.
absl::StatusOr<std::vector<std::string>> ListFiles(const std::string& text, const std::string& folder,
                                                   std::span<const char* const> endings);

// `text` at its commas, unless a file or folder has that very name.
std::vector<std::string> SplitAtCommas(const std::string& text);

}  // namespace sgd::data
