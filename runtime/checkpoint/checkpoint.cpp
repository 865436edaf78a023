// Search for the newest checkpoint, verification, and removal.
#include "runtime/checkpoint/checkpoint.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/checkpoint_paths.h"
#include "runtime/checkpoint/digest.h"
#include "runtime/checkpoint/state_file.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/data/zstd_frames.h"

namespace sgd::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr char kRemovedSuffix[] = ".removed";

absl::Status Annotate(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

// The step of a folder's name; nothing for folders that are no finished checkpoints.
std::optional<uint64_t> StepOfName(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  uint64_t step = 0;
  const char* last = name.data() + name.size();
  auto [end, error] = std::from_chars(name.data() + kPrefix.size(), last, step);
  if (error != std::errc() || end != last) return std::nullopt;
  return step;
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

using Found = Listed;

// Folders with the names of finished checkpoints, newest first.
absl::StatusOr<std::vector<Found>> ListCheckpoints(const std::string& directory) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) return data::SystemError(directory, "open", error.value());
  std::vector<Found> found;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::optional<uint64_t> step = StepOfName(entries->path().filename().string());
    if (step && entries->is_directory()) found.push_back({entries->path().string(), *step});
  }
  if (error) return data::SystemError(directory, "read", error.value());
  std::ranges::sort(found, std::greater(), &Found::step);
  return found;
}

absl::StatusOr<Manifest> ReadManifest(const std::string& path) {
  absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  const std::span<const std::byte> bytes = file->bytes();
  absl::StatusOr<Manifest> manifest = ParseManifest({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!manifest.ok()) return Annotate(path, manifest.status());
  return manifest;
}

absl::Status IsCorrupt(const std::string& path, const char* what) {
  return absl::DataLossError(absl::StrCat(path, ": is corrupt: ", what,
                                          " is not the manifest's; expected the file that was saved; resume from "
                                          "another checkpoint"));
}

absl::Status HasOtherSize(const std::string& path, uint64_t bytes, const StateFile& file) {
  return absl::DataLossError(absl::StrCat(path, ": has ", bytes, " bytes, but the manifest says ", file.bytes_on_disk(),
                                          "; expected the file that was saved; resume from another checkpoint"));
}

absl::Status VerifySize(const std::string& path, const StateFile& file) {
  std::error_code error;
  const uint64_t bytes = fs::file_size(path, error);
  if (error) return data::SystemError(path, "open", error.value());
  return bytes == file.bytes_on_disk() ? absl::OkStatus() : HasOtherSize(path, bytes, file);
}

// Compares what lies on the disk with the manifest.
absl::Status VerifyStored(const std::string& path, const StateFile& file, Manifest::Checksum kind) {
  const absl::StatusOr<FileDigest> digest = DigestFile(path, kind);
  if (!digest.ok()) return digest.status();
  if (digest->bytes != file.bytes_on_disk()) return HasOtherSize(path, digest->bytes, file);
  const std::string& expected = file.is_compressed() ? file.stored_checksum : file.checksum;
  return digest->checksum == expected ? absl::OkStatus() : IsCorrupt(path, "its checksum");
}

absl::Status VerifyDecompressed(const std::string& path, const data::ZstdFrames& frames, const StateFile& file) {
  Digest digest;
  std::vector<std::byte> frame(std::min(kFrameBytes, frames.size()));
  for (uint64_t at = 0; at < frames.size(); at += frame.size()) {
    const std::span<std::byte> part = std::span(frame).first(std::min<uint64_t>(frame.size(), frames.size() - at));
    if (absl::Status status = frames.Read(at, part); !status.ok()) return status;
    digest.Add(part);
  }
  return digest.Hex() == file.checksum ? absl::OkStatus() : IsCorrupt(path, "the checksum of what it decompresses to");
}

absl::StatusOr<data::SafetensorsFile> OpenVerified(const std::string& folder, const StateFile& file,
                                                   const Manifest& manifest, Depth depth) {
  const std::string path = absl::StrCat(folder, "/", file.name);
  const absl::Status status =
      depth == Depth::kSizes ? VerifySize(path, file) : VerifyStored(path, file, manifest.checksum);
  if (!status.ok()) return status;
  if (!file.is_compressed()) return data::SafetensorsFile::Open(path);
  absl::StatusOr<std::unique_ptr<data::ZstdFrames>> frames =
      data::ZstdFrames::Open(path, file.bytes, manifest.frame_bytes);
  if (!frames.ok()) return frames.status();
  if (depth == Depth::kDecompressed) {
    if (absl::Status status = VerifyDecompressed(path, **frames, file); !status.ok()) return status;
  }
  return data::SafetensorsFile::Open(path, *std::move(frames));
}

bool IsSmallerBetter(std::string_view name) {
  for (const std::string_view part : {"loss", "perplexity", "error"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// The steps of the checkpoint with the best mean; of equal ones the newest, which comes first.
std::optional<uint64_t> BestStep(const std::vector<Found>& found, const std::string& name) {
  std::optional<uint64_t> step;
  double best = 0;
  for (const Found& one : found) {
    const absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(one.path));
    if (!manifest.ok()) continue;
    for (const auto& [metric, mean] : manifest->point.metrics) {
      if (metric != name || (step && (IsSmallerBetter(name) ? mean >= best : mean <= best))) continue;
      step = one.step;
      best = mean;
    }
  }
  return step;
}

}  // namespace

absl::StatusOr<std::vector<Listed>> List(const std::string& directory) {
  if (!IsCheckpoint(directory)) return ListCheckpoints(directory);
  const absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(directory));
  return std::vector<Listed>{{directory, manifest.ok() ? manifest->point.step : 0}};
}

absl::StatusOr<Checkpoint> OpenOne(const std::string& path, Depth depth) {
  absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(path));
  if (!manifest.ok()) return manifest.status();
  std::vector<data::SafetensorsFile> files;
  for (const StateFile& file : manifest->files) {
    absl::StatusOr<data::SafetensorsFile> state = OpenVerified(path, file, *manifest, depth);
    if (!state.ok()) return state.status();
    files.push_back(*std::move(state));
  }
  absl::StatusOr<data::SafetensorsFile> state = absl::UnknownError("");
  if (manifest->has_pieces()) {
    state = data::SafetensorsFile::Compose(path, std::move(files));
    if (!state.ok()) return state.status();
  } else {
    state = std::move(files.front());
  }
  return Checkpoint{path, std::move(manifest->point), *std::move(state), std::move(manifest->files)};
}

bool IsCheckpoint(const std::string& directory) { return IsFile(ManifestPath(directory)); }

absl::Status VerifyFiles(const std::string& checkpoint,
                         const std::function<bool(uint32_t file, uint32_t files)>& is_chosen) {
  const absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(checkpoint));
  if (!manifest.ok()) return manifest.status();
  for (uint32_t i = 0; i < manifest->files.size(); ++i) {
    if (!is_chosen(i, static_cast<uint32_t>(manifest->files.size()))) continue;
    const StateFile& file = manifest->files[i];
    absl::Status status = VerifyStored(absl::StrCat(checkpoint, "/", file.name), file, manifest->checksum);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<Checkpoint> OpenCheckpoint(const std::string& directory, Depth depth, std::optional<uint64_t> below) {
  if (IsCheckpoint(directory)) return OpenOne(directory, depth);
  absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  if (!found.ok()) return found.status();
  std::vector<std::string> damages;
  absl::StatusCode code = absl::StatusCode::kNotFound;
  for (const Found& candidate : *found) {
    if (below && candidate.step >= *below) continue;
    absl::StatusOr<Checkpoint> checkpoint = OpenOne(candidate.path, depth);
    if (checkpoint.ok()) {
      checkpoint->passed_over = std::move(damages);
      return checkpoint;
    }
    if (damages.empty()) code = checkpoint.status().code();
    damages.push_back(std::string(checkpoint.status().message()));
  }
  return absl::Status(code, absl::StrCat(directory, ": holds no complete checkpoint",
                                         damages.empty() ? "; expected folders step-* that --save wrote" : ": ",
                                         absl::StrJoin(damages, "; ")));
}

std::optional<uint64_t> NewestStep(const std::string& directory) {
  const absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  return found.ok() && !found->empty() ? std::optional(found->front().step) : std::nullopt;
}

absl::Status CheckContinues(const std::string& directory, const std::string& resumed) {
  std::error_code error;
  if (!fs::exists(directory, error)) return absl::OkStatus();
  absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  if (!found.ok()) return found.status();
  if (found->empty()) return absl::OkStatus();
  const Found& newest = found->front();
  if (resumed.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(directory, ": holds checkpoints of another run, the last after ",
                                                      newest.step, " steps; go on with that one by --resume ",
                                                      directory, ", or save into another folder"));
  }
  if (fs::equivalent(resumed, directory, error)) return absl::OkStatus();
  const bool is_inside =
      std::ranges::any_of(*found, [&](const Found& one) { return fs::equivalent(resumed, one.path, error); });
  if (!is_inside) {
    return absl::FailedPreconditionError(
        absl::StrCat(directory, ": holds checkpoints of another run than the one that is resumed (", resumed,
                     "), the last after ", newest.step, " steps; save into another folder"));
  }
  if (fs::equivalent(resumed, newest.path, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(directory, ": holds later checkpoints, up to ", newest.step,
                                                    " steps, than the one that is resumed, ", resumed,
                                                    "; remove those or save into another folder"));
}

absl::Status CheckWritable(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return data::SystemError(directory, "create", error.value());
  return data::TensorFileWriter::CheckWritable(directory + "/probe");
}

void RemoveUnfinished(const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> rest;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    for (const std::string_view suffix : {std::string_view(kAsideSuffix), std::string_view(kRemovedSuffix)}) {
      if (name.ends_with(suffix) && StepOfName(name.substr(0, name.size() - suffix.size()))) rest.push_back(at->path());
    }
  }
  std::error_code ignored;  // what cannot be removed does no harm
  for (const fs::path& path : rest) fs::remove_all(path, ignored);
}

absl::StatusOr<std::string> SetAside(const std::string& directory, uint64_t steps_done) {
  const std::string path = CheckpointPath(directory, steps_done), other = path + ".doubtful";
  std::error_code error;
  if (!fs::exists(path, error)) return "";
  fs::rename(path, other, error);
  if (error) return absl::InternalError(absl::StrCat(path, ": cannot be renamed: ", error.message()));
  return other;
}

absl::Status RemoveOthers(const std::string& directory, const KeepPolicy& policy) {
  if (policy.keeps_all()) return absl::OkStatus();
  absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  if (!found.ok()) return found.status();
  std::erase_if(*found, [](const Found& one) { return !IsFile(ManifestPath(one.path)); });
  const std::optional<uint64_t> best = policy.best.empty() ? std::nullopt : BestStep(*found, policy.best);
  const uint64_t last = std::max<uint64_t>(policy.last, 1);
  for (uint64_t i = last; i < found->size(); ++i) {
    const Found& one = (*found)[i];
    if (one.step == best || (policy.every != 0 && one.step % policy.every == 0)) continue;
    const std::string removed = one.path + kRemovedSuffix;
    if (rename(one.path.c_str(), removed.c_str()) != 0) return data::SystemError(one.path, "remove", errno);
    std::error_code error;
    fs::remove_all(removed, error);
    if (error) return data::SystemError(removed, "remove", error.value());
  }
  return absl::OkStatus();
}

}  // namespace sgd::checkpoint
