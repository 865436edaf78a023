// Each command over the reader that sgdrun uses.
#include "tools/sgd-ckpt/commands.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ranges>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/save.h"
#include "runtime/checkpoint/sharded_file.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/json/json_text.h"
#include "tools/sgd-ckpt/difference.h"

namespace sgd::ckpt {
namespace {

using Json = nlohmann::ordered_json;

std::string MeshText(const checkpoint::TrainingPoint& point) {
  std::string text;
  for (const auto& [name, size] : point.mesh) absl::StrAppend(&text, text.empty() ? "" : ",", name, "=", size);
  return text.empty() ? "one rank" : text;
}

uint64_t BytesOf(const data::SafetensorsFile& state) {
  uint64_t bytes = 0;
  for (const data::TensorEntry& entry : state.tensors()) bytes += entry.size;
  return bytes;
}

uint64_t BytesOnDisk(const checkpoint::Checkpoint& checkpoint) {
  uint64_t bytes = 0;
  for (const checkpoint::StateFile& file : checkpoint.files) bytes += file.bytes_on_disk();
  return bytes;
}

bool IsCompressed(const checkpoint::Checkpoint& checkpoint) { return checkpoint.files.front().is_compressed(); }

Json Describe(const checkpoint::Listed& listed, const absl::StatusOr<checkpoint::Checkpoint>& opened) {
  Json json = {{"path", listed.path}, {"step", listed.step}, {"whole", opened.ok()}};
  if (!opened.ok()) {
    json["damage"] = std::string(opened.status().message());
    return json;
  }
  Json mesh = Json::object();
  for (const auto& [name, size] : opened->point.mesh) mesh[name] = size;
  json["bytes"] = BytesOf(opened->state);
  json["bytes_on_disk"] = BytesOnDisk(*opened);
  json["tensors"] = opened->state.tensors().size();
  json["program"] = opened->point.program;
  json["seed"] = opened->point.seed;
  json["mesh"] = mesh;
  json["artifact"] = opened->point.artifact_hash;
  json["data"] = opened->point.feed;
  return json;
}

std::string Line(const checkpoint::Listed& listed, const absl::StatusOr<checkpoint::Checkpoint>& opened) {
  if (!opened.ok()) return absl::StrCat("damaged  ", opened.status().message(), "\n");
  const std::string on_disk = IsCompressed(*opened) ? absl::StrCat("  ", BytesOnDisk(*opened), " on disk by zstd") : "";
  return absl::StrFormat("whole    %s  %d steps  %d tensors  %d bytes%s  %s  %s\n", listed.path, opened->point.step,
                         opened->state.tensors().size(), BytesOf(opened->state), on_disk, MeshText(opened->point),
                         opened->point.program);
}

// Both commands read everything: a list of checkpoints that cannot be resumed from is of no use.
absl::StatusOr<Result> ListOrVerify(const Options& options) {
  const absl::StatusOr<std::vector<checkpoint::Listed>> listed = checkpoint::List(options.path);
  if (!listed.ok()) return listed.status();
  const checkpoint::Depth depth =
      options.command == Command::kVerify ? checkpoint::Depth::kDecompressed : checkpoint::Depth::kStored;
  Result result;
  Json all = Json::array();
  for (const checkpoint::Listed& one : *listed) {
    const absl::StatusOr<checkpoint::Checkpoint> opened = checkpoint::OpenOne(one.path, depth);
    if (!opened.ok() && options.command == Command::kVerify) result.exit_code = 1;
    if (options.as_json) {
      all.push_back(Describe(one, opened));
    } else {
      absl::StrAppend(&result.text, Line(one, opened));
    }
  }
  if (options.as_json) {
    result.text = json::WriteJson(all, 1) + "\n";
  } else if (listed->empty()) {
    result.text = absl::StrCat(options.path, ": no checkpoints\n");
  }
  return result;
}

std::vector<data::TensorSpec> SpecsOf(const data::SafetensorsFile& state) {
  std::vector<data::TensorSpec> specs;
  for (const data::TensorEntry& entry : state.tensors()) specs.push_back({entry.name, entry.element, entry.dims});
  return specs;
}

absl::Status CopyTensors(const data::SafetensorsFile& state, data::TensorFileWriter& writer) {
  for (size_t i = 0; i < state.tensors().size(); ++i) {
    std::ranges::copy(state.Bytes(state.tensors()[i]), writer.Bytes(i).begin());
    state.Release(state.tensors()[i]);
  }
  return state.fault();
}

absl::Status Write(const data::SafetensorsFile& state, const std::string& path) {
  absl::StatusOr<data::TensorFileWriter> writer =
      data::TensorFileWriter::Create(path, SpecsOf(state), checkpoint::StateMetadata());
  if (!writer.ok()) return writer.status();
  const absl::Status copied = CopyTensors(state, *writer);
  return copied.ok() ? writer->Commit() : copied;
}

// A checkpoint of one file.
absl::Status Save(const checkpoint::Checkpoint& checkpoint, const std::string& directory, checkpoint::ZstdLevel level) {
  const auto never = [] { return absl::OkStatus(); };
  if (checkpoint.state.pieces() == nullptr && !IsCompressed(checkpoint)) {
    absl::StatusOr<data::MappedFile> image = data::MappedFile::OpenForReading(checkpoint.state.path());
    if (!image.ok()) return image.status();
    return checkpoint::SaveImage(directory, checkpoint.point, image->bytes(), level, never).status();
  }
  absl::StatusOr<data::TensorFileWriter> image =
      data::TensorFileWriter::CreateInMemory(SpecsOf(checkpoint.state), checkpoint::StateMetadata());
  if (!image.ok()) return image.status();
  if (absl::Status status = CopyTensors(checkpoint.state, *image); !status.ok()) return status;
  return checkpoint::SaveImage(directory, checkpoint.point, image->image(), level, never).status();
}

absl::StatusOr<Result> Merge(const Options& options) {
  const absl::StatusOr<checkpoint::Checkpoint> opened = checkpoint::OpenCheckpoint(options.path);
  if (!opened.ok()) return opened.status();
  if (absl::Status status = Write(opened->state, options.output); !status.ok()) return status;
  return Result{absl::StrCat(options.output, ": ", opened->state.tensors().size(), " tensors after ",
                             opened->point.step, " steps, from ", opened->path, "\n"),
                0};
}

absl::StatusOr<Result> Convert(const Options& options) {
  const absl::StatusOr<checkpoint::Checkpoint> opened = checkpoint::OpenCheckpoint(options.path);
  if (!opened.ok()) return opened.status();
  if (absl::Status status = checkpoint::CheckWritable(options.output); !status.ok()) return status;
  if (absl::Status status = Save(*opened, options.output, checkpoint::ZstdLevel{options.zstd}); !status.ok())
    return status;
  return Result{
      absl::StrCat(options.output, ": the checkpoint after ", opened->point.step, " steps, from ", opened->path, "\n"),
      0};
}

absl::StatusOr<data::SafetensorsFile> OpenState(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return data::SafetensorsFile::Open(path);
  absl::StatusOr<checkpoint::Checkpoint> opened = checkpoint::OpenCheckpoint(path);
  if (!opened.ok()) return opened.status();
  return std::move(opened->state);
}

std::string Line(const Difference& difference, const Options& options) {
  const std::string name = data::QuotedName(difference.name);
  switch (difference.kind) {
    case Difference::Kind::kOnlyInFirst:
      return absl::StrCat(name, ": only in ", options.path, "\n");
    case Difference::Kind::kOnlyInSecond:
      return absl::StrCat(name, ": only in ", options.other, "\n");
    case Difference::Kind::kType:
      return absl::StrCat(name, ": ", difference.types, "\n");
    case Difference::Kind::kValues:
      break;
  }
  std::string line = absl::StrCat(name, ": ", difference.elements, " of ", difference.size, " elements differ");
  if (difference.by_most) absl::StrAppendFormat(&line, ", by %.9g at most", *difference.by_most);
  return line + "\n";
}

Json Describe(const Difference& difference) {
  static constexpr const char* kKinds[] = {"only_in_first", "only_in_second", "type", "values"};
  Json json = {{"tensor", difference.name}, {"kind", kKinds[static_cast<int>(difference.kind)]}};
  if (difference.kind == Difference::Kind::kType) json["types"] = difference.types;
  if (difference.kind != Difference::Kind::kValues) return json;
  json["elements"] = difference.elements;
  json["of"] = difference.size;
  if (difference.by_most) json["by_most"] = *difference.by_most;
  return json;
}

absl::StatusOr<Result> Diff(const Options& options) {
  const absl::StatusOr<data::SafetensorsFile> first = OpenState(options.path);
  if (!first.ok()) return first.status();
  const absl::StatusOr<data::SafetensorsFile> second = OpenState(options.other);
  if (!second.ok()) return second.status();
  const std::vector<Difference> differences = Compare(*first, *second);
  for (const data::SafetensorsFile* file : {&*first, &*second}) {
    if (absl::Status fault = file->fault(); !fault.ok()) return fault;
  }
  Result result{"", differences.empty() ? 0 : 3};
  Json all = Json::array();
  for (const Difference& difference : differences) {
    absl::StrAppend(&result.text, Line(difference, options));
    all.push_back(Describe(difference));
  }
  if (options.as_json) result.text = json::WriteJson(all, 1) + "\n";
  if (!options.as_json && differences.empty())
    result.text = absl::StrCat("equal: ", first->tensors().size(), " tensors have the same bits\n");
  return result;
}

}  // namespace

absl::StatusOr<Result> Run(const Options& options) {
  switch (options.command) {
    case Command::kList:
    case Command::kVerify:
      return ListOrVerify(options);
    case Command::kMerge:
      return Merge(options);
    case Command::kConvert:
      return Convert(options);
    case Command::kDiff:
      return Diff(options);
  }
  return absl::InternalError("unknown command");
}

}  // namespace sgd::ckpt
