// From names of files to open sources.
#include "runtime/data/data_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/data/data_set_json.h"
#include "runtime/data/file_list.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/packed_documents.h"
#include "runtime/data/tensor_rows.h"
#include "runtime/data/token_windows.h"
#include "runtime/text/text_file.h"

namespace sgd::data {
namespace {

using Paths = std::vector<std::string>;

constexpr const char* kTensorEndings[] = {".safetensors", ".npy", ".npz"};
constexpr const char* kRawEndings[] = {".bin"};

absl::StatusOr<Paths> ListAll(const Paths& texts, const std::string& folder, std::span<const char* const> endings) {
  Paths all;
  for (const std::string& text : texts) {
    absl::StatusOr<Paths> files = ListFiles(text, folder, endings);
    if (!files.ok()) return files.status();
    all.insert(all.end(), files->begin(), files->end());
  }
  return all;
}

absl::StatusOr<std::unique_ptr<const RowSource>> OpenTensorRows(std::shared_ptr<DataFiles> files, const Paths& paths) {
  for (const std::string& path : paths) {
    if (!path.ends_with(kRawEndings[0])) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": files of nothing but tokens do not say what is in them; describe them in a file set.json as {\"sources\": "
        "[{\"tokens\": ..., \"type\": \"u16\", \"sequence\": ...}]}, and give it to --data (docs/data.md)"));
  }
  return TensorRows::Open(std::move(files), paths);
}

absl::StatusOr<std::unique_ptr<const RowSource>> OpenTokens(std::shared_ptr<DataFiles> files, const std::string& folder,
                                                            const SourceDescription& source, DataSet& set) {
  const std::span<const char* const> endings =
      source.type ? std::span<const char* const>(kRawEndings) : std::span<const char* const>(kTensorEndings);
  absl::StatusOr<Paths> paths = ListAll(source.tokens, folder, endings);
  if (!paths.ok()) return paths.status();
  absl::StatusOr<TokenFiles> tokens = TokenFiles::Open(std::move(files), *paths, source.type);
  if (!tokens.ok()) return tokens.status();
  if (!source.has_documents)
    return TokenWindows::Make(*std::move(tokens), {source.sequence, source.stride, source.has_targets});
  absl::StatusOr<Paths> starts = ListAll(source.documents, folder, kTensorEndings);
  if (!starts.ok()) return starts.status();
  absl::StatusOr<std::unique_ptr<PackedDocuments>> packed = PackedDocuments::Make(
      *std::move(tokens), {source.sequence, source.has_targets, source.pad, source.ignored, *std::move(starts)});
  if (!packed.ok()) return packed.status();
  set.notes.push_back(
      absl::StrFormat("%s: documents are packed into %d rows of %d tokens, %.1f %% of which are no padding",
                      (*packed)->name(), (*packed)->columns()[0].rows, source.sequence, 100 * (*packed)->fill()));
  return packed;
}

absl::Status OpenDescription(const std::string& path, DataSet& set) {
  std::string text;
  if (std::optional<std::string> fault = text::ReadTextFile(path, text))
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", *fault));
  absl::StatusOr<std::vector<SourceDescription>> sources = ParseDataSet(text);
  if (!sources.ok()) return absl::Status(sources.status().code(), absl::StrCat(path, ": ", sources.status().message()));
  const std::string folder = DirectoryOf(path);
  const auto files = std::make_shared<DataFiles>();  // so that limits are those of all sources together
  for (SourceDescription& source : *sources) {
    absl::StatusOr<std::unique_ptr<const RowSource>> rows = nullptr;
    if (source.files.empty()) {
      rows = OpenTokens(files, folder, source, set);
    } else {
      absl::StatusOr<Paths> paths = ListAll(source.files, folder, kTensorEndings);
      if (!paths.ok()) return paths.status();
      rows = OpenTensorRows(files, *paths);
    }
    if (!rows.ok()) return rows.status();
    set.sources.push_back({std::move(source.name), *std::move(rows), std::move(source.weight)});
  }
  set.name = path;
  return absl::OkStatus();
}

absl::Status OpenFiles(const Paths& texts, DataSet& set) {
  absl::StatusOr<Paths> paths = ListAll(texts, "", kTensorEndings);
  if (!paths.ok()) return paths.status();
  absl::StatusOr<std::unique_ptr<const RowSource>> rows = OpenTensorRows(std::make_shared<DataFiles>(), *paths);
  if (!rows.ok()) return rows.status();
  set.name = NameOfFiles(*paths);
  set.sources.push_back({.name = set.name, .rows = *std::move(rows)});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const DataSet>> OpenDataSet(const std::vector<std::string>& arguments) {
  Paths texts;
  for (const std::string& argument : arguments) {
    const Paths parts = SplitAtCommas(argument);
    texts.insert(texts.end(), parts.begin(), parts.end());
  }
  auto set = std::make_shared<DataSet>();
  for (const std::string& text : texts) {
    if (!text.ends_with(".json") || texts.size() == 1) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        text, ": is a description of a data set and stands alone; expected no other files beside it; name them in it"));
  }
  const bool is_description = texts.size() == 1 && texts[0].ends_with(".json");
  absl::Status status = is_description ? OpenDescription(texts[0], *set) : OpenFiles(texts, *set);
  if (!status.ok()) return status;
  return set;
}

}  // namespace sgd::data
