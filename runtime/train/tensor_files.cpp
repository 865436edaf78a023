// The index is read once; each of its files is opened once.
#include "runtime/train/tensor_files.h"

#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/data/mapped_file.h"
#include "runtime/json/parse_json.h"

namespace sgd::train {
namespace {

absl::StatusOr<std::vector<FilePtr>> OpenIndexed(const std::string& path) {
  auto fault = [&](const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", what...)); };
  absl::StatusOr<data::MappedFile> index = data::MappedFile::OpenForReading(path);
  if (!index.ok()) return index.status();
  const char* text = reinterpret_cast<const char*>(index->bytes().data());
  const absl::StatusOr<nlohmann::json> json = json::ParseJson({text, index->bytes().size()}, json::kAnyFields);
  if (!json.ok()) return fault("is ", json.status().message());
  const bool has_map = json->is_object() && json->contains("weight_map") && (*json)["weight_map"].is_object();
  if (!has_map) return fault("has no object 'weight_map'; expected the names of tensors and of their files");
  std::map<std::string, FilePtr> files;
  for (const auto& [tensor, name] : (*json)["weight_map"].items()) {
    const std::string file = name.is_string() ? name.get<std::string>() : "";
    if (file.empty() || file == ".." || file.find('/') != std::string::npos)
      return fault("tensor ", data::QuotedName(tensor), " is in ", json::WriteJson(name),
                   "; expected the name of a file beside the index");
    FilePtr& open = files[file];
    if (open == nullptr) {
      absl::StatusOr<FilePtr> opened = OpenTensors((std::filesystem::path(path).parent_path() / file).string());
      if (!opened.ok()) return opened.status();
      open = *std::move(opened);
    }
    if (open->Find(tensor) == nullptr)
      return fault("tensor ", data::QuotedName(tensor), " is not in ", open->path(),
                   ", where the index has it; expected files that belong together");
  }
  std::vector<FilePtr> list;
  for (const auto& [name, file] : files) list.push_back(file);
  return list;
}

}  // namespace

absl::StatusOr<std::vector<FilePtr>> OpenTensorFiles(const std::string& path) {
  if (absl::EndsWith(path, ".index.json")) return OpenIndexed(path);
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not a regular file but a folder; expected a file of tensors; a checkpoint is for --resume"));
  absl::StatusOr<FilePtr> file = OpenTensors(path);
  if (!file.ok()) return file.status();
  return std::vector<FilePtr>{*std::move(file)};
}

}  // namespace sgd::train
