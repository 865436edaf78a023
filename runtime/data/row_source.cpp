// Names for messages.
#include "runtime/data/row_source.h"

#include "absl/strings/str_cat.h"

namespace sgd::data {

std::string NameOfFiles(const std::vector<std::string>& paths) {
  if (paths.empty()) return "data without files";
  return paths.size() == 1 ? paths[0] : absl::StrCat(paths[0], " and ", paths.size() - 1, " more files");
}

}  // namespace sgd::data
