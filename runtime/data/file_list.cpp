// Folders by std::filesystem, globs by the C library.
#include "runtime/data/file_list.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/data/mapped_file.h"

namespace sgd::data {
namespace {

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

absl::StatusOr<std::vector<std::string>> FilesOfFolder(const std::string& path, std::span<const char* const> endings) {
  std::vector<std::string> files;
  std::error_code error;
  std::filesystem::directory_iterator at(path, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    const bool has_ending = std::ranges::any_of(endings, [&](const char* ending) { return name.ends_with(ending); });
    if (has_ending && !name.starts_with(".")) files.push_back(at->path().string());
  }
  if (error) return SystemError(path, "list", error.value());
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": the folder has no file that ends in ", absl::StrJoin(endings, ", ")));
  }
  std::ranges::sort(files);
  return files;
}

absl::StatusOr<std::vector<std::string>> FilesOfGlob(const std::string& pattern) {
  glob_t found = {};
  const int error = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (error == 0 ? found.gl_pathc : 0));
  globfree(&found);
  if (error == GLOB_NOSPACE) return absl::ResourceExhaustedError(absl::StrCat(pattern, ": no memory for its files"));
  if (files.empty()) return absl::NotFoundError(absl::StrCat(pattern, ": no file matches"));
  std::ranges::sort(files);
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListFiles(const std::string& text, const std::string& folder,
                                                   std::span<const char* const> endings) {
  const std::string path = folder.empty() || text.starts_with("/") ? text : absl::StrCat(folder, "/", text);
  if (IsFolder(path)) return FilesOfFolder(path, endings);
  if (!Exists(path) && path.find_first_of("*?[") != std::string::npos) return FilesOfGlob(path);
  return std::vector<std::string>{path};
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  if (Exists(text)) return {text};
  return absl::StrSplit(text, ',', absl::SkipEmpty());
}

}  // namespace sgd::data
