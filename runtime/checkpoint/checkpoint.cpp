// Writing aside and renaming of checkpoint folders, search for the newest, verification.
#include "runtime/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/writer.h"
#include "runtime/data/mapped_file.h"

namespace sgd::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr char kAsideSuffix[] = ".partial";
constexpr char kRemovedSuffix[] = ".removed";

std::string StatePath(const std::string& path) { return path + "/state.safetensors"; }
std::string ManifestPath(const std::string& path) { return path + "/manifest.json"; }

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

struct Found {
  uint64_t step;
  std::string path;
};

// Folders with the names of finished checkpoints, newest first.
absl::StatusOr<std::vector<Found>> ListCheckpoints(const std::string& directory) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) return data::SystemError(directory, "open", error.value());
  std::vector<Found> found;
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const std::optional<uint64_t> step = StepOfName(entries->path().filename().string());
    if (step && entries->is_directory()) found.push_back({*step, entries->path().string()});
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

struct Digest {
  uint64_t bytes = 0;
  std::string sha256;
};

absl::StatusOr<Digest> DigestFile(const std::string& path) {
  absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  const std::span<const std::byte> bytes = file->bytes();
  absl::StatusOr<artifact::Hash> hash =
      artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  if (!hash.ok()) return Annotate(path, hash.status());
  return Digest{bytes.size(), artifact::HexHash(*hash)};
}

// All of the one checkpoint, verified.
absl::StatusOr<Checkpoint> OpenOne(const std::string& path) {
  absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(path));
  if (!manifest.ok()) return manifest.status();
  absl::StatusOr<Digest> digest = DigestFile(StatePath(path));
  if (!digest.ok()) return digest.status();
  if (digest->bytes != manifest->state_bytes) {
    return absl::DataLossError(absl::StrCat(StatePath(path), ": has ", digest->bytes, " bytes, but the manifest says ",
                                            manifest->state_bytes,
                                            "; expected the file that was saved; resume from another checkpoint"));
  }
  if (digest->sha256 != manifest->state_sha256) {
    return absl::DataLossError(absl::StrCat(StatePath(path),
                                            ": is corrupt: its SHA-256 is not the manifest's; expected the file that "
                                            "was saved; resume from another checkpoint"));
  }
  absl::StatusOr<data::SafetensorsFile> state = data::SafetensorsFile::Open(StatePath(path));
  if (!state.ok()) return state.status();
  return Checkpoint{path, std::move(manifest->point), *std::move(state), {}};
}

// Moves a finished folder to its path. An older checkpoint there is exchanged with it in one call,
// so one of them is always whole.
absl::Status PutInPlace(const std::string& aside, const std::string& path) {
  const int error = renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
  if (error == 0) return absl::OkStatus();
  if (error != EEXIST && error != ENOTEMPTY) return data::SystemError(path, "create", error);
  if (renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) != 0) {
    return data::SystemError(path, "replace", errno);
  }
  std::error_code ignored;  // what is left of the old one is never taken for a checkpoint
  fs::remove_all(aside, ignored);
  return absl::OkStatus();
}

// Rank 0's last part of Save: checksum, manifest, rename.
absl::Status Finish(const std::string& directory, const std::string& aside, const std::string& path,
                    const TrainingPoint& point) {
  absl::StatusOr<Digest> digest = DigestFile(StatePath(aside));
  if (!digest.ok()) return digest.status();
  const Manifest manifest{point, digest->bytes, digest->sha256};
  absl::Status status = artifact::WriteFileAtomically(ManifestPath(aside), ManifestJson(manifest));
  if (status.ok()) status = PutInPlace(aside, path);
  if (status.ok()) status = data::SyncDirectory(directory);
  return status;
}

}  // namespace

absl::StatusOr<Checkpoint> OpenCheckpoint(const std::string& directory) {
  if (IsFile(ManifestPath(directory))) return OpenOne(directory);
  absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  if (!found.ok()) return found.status();
  std::vector<std::string> damages;
  absl::StatusCode code = absl::StatusCode::kNotFound;
  for (const Found& candidate : *found) {
    absl::StatusOr<Checkpoint> checkpoint = OpenOne(candidate.path);
    if (checkpoint.ok()) {
      checkpoint->passed_over = std::move(damages);
      return checkpoint;
    }
    if (damages.empty()) code = checkpoint.status().code();
    damages.push_back(std::string(checkpoint.status().message()));
  }
  return absl::Status(code, absl::StrCat(directory, ": holds no complete checkpoint", damages.empty() ? "" : ": ",
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

absl::Status RemoveOlder(const std::string& directory, uint64_t kept) {
  absl::StatusOr<std::vector<Found>> found = ListCheckpoints(directory);
  if (!found.ok()) return found.status();
  uint64_t complete = 0;
  for (const Found& one : *found) {
    if (!IsFile(ManifestPath(one.path)) || ++complete <= std::max<uint64_t>(kept, 1)) continue;
    const std::string removed = one.path + kRemovedSuffix;
    if (rename(one.path.c_str(), removed.c_str()) != 0) return data::SystemError(one.path, "remove", errno);
    std::error_code error;
    fs::remove_all(removed, error);
    if (error) return data::SystemError(removed, "remove", error.value());
  }
  return absl::OkStatus();
}

absl::Status Save(const std::string& directory, const TrainingPoint& point, const std::vector<LocalTensor>& state,
                  comm::Agreements& ranks, absl::Duration deadline) {
  const std::string path = absl::StrFormat("%s/%s%010d", directory, kPrefix, point.step);
  const std::string aside = absl::StrCat(path, kAsideSuffix);
  const bool is_creator = ranks.rank() == 0;
  if (is_creator && mkdir(aside.c_str(), 0777) != 0 && errno != EEXIST) {
    return data::SystemError(aside, "create", errno);
  }
  absl::Status status = WriteShardedFile(StatePath(aside), state, {{"format", "sgd"}}, ranks, deadline);
  if (status.ok() && is_creator) status = Finish(directory, aside, path, point);
  if (!status.ok() && is_creator) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
  }
  return status;
}

}  // namespace sgd::checkpoint
