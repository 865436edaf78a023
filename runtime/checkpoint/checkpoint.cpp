// Writing aside and renaming of checkpoint folders, search for the newest, verification.
#include "runtime/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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
#include "runtime/artifact/replace_file.h"
#include "runtime/artifact/writer.h"
#include "runtime/checkpoint/digest.h"
#include "runtime/comm/control/unique_fd.h"
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

struct FileDigest {
  uint64_t bytes = 0;
  std::string checksum;  // hexadecimal
};

absl::StatusOr<std::string> ChecksumOf(std::span<const std::byte> bytes, Manifest::Checksum kind) {
  if (kind == Manifest::Checksum::kSha256) {
    absl::StatusOr<artifact::Hash> hash =
        artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    if (!hash.ok()) return hash.status();
    return artifact::HexHash(*hash);
  }
  Digest digest;
  digest.Add(bytes);
  return digest.Hex();
}

absl::StatusOr<FileDigest> DigestFile(const std::string& path, Manifest::Checksum kind) {
  absl::StatusOr<data::MappedFile> file = data::MappedFile::OpenForReading(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> checksum = ChecksumOf(file->bytes(), kind);
  if (!checksum.ok()) return Annotate(path, checksum.status());
  return FileDigest{file->bytes().size(), *std::move(checksum)};
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

struct Paths {
  std::string directory;
  std::string checkpoint;
  std::string aside;
};

Paths PathsOf(const std::string& directory, uint64_t step) {
  std::string path = absl::StrFormat("%s/%s%010d", directory, kPrefix, step);
  return {directory, path, path + kAsideSuffix};
}

absl::Status MakeAside(const Paths& paths) {
  if (mkdir(paths.aside.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return data::SystemError(paths.aside, "create", errno);
}

void RemoveAside(const Paths& paths) {
  std::error_code ignored;
  fs::remove_all(paths.aside, ignored);
}

// The last part of a save, when the tensors are on the disk: manifest and rename.
absl::Status Finish(const Paths& paths, const TrainingPoint& point, const FileDigest& digest) {
  const Manifest manifest{point, Manifest::Checksum::kXxh3, digest.bytes, digest.checksum};
  absl::Status status = artifact::WriteFileAtomically(ManifestPath(paths.aside), ManifestJson(manifest));
  if (status.ok()) status = PutInPlace(paths.aside, paths.checkpoint);
  if (status.ok()) status = data::SyncDirectory(paths.directory);
  return status;
}

absl::Status CheckSpace(const std::string& directory, uint64_t bytes) {
  struct statvfs info;
  if (statvfs(directory.c_str(), &info) != 0) return absl::OkStatus();  // not every file system says
  const uint64_t free = uint64_t{info.f_bavail} * info.f_frsize;
  if (free >= bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(directory, ": a checkpoint has ", bytes, " bytes, but ", free,
                                                   " are free; make room, or keep fewer (--keep)"));
}

absl::StatusOr<FileDigest> WriteImage(const std::string& path, std::span<const std::byte> image,
                                      const std::function<absl::Status()>& poll) {
  constexpr size_t kChunk = 4 << 20;
  const comm::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.get() < 0) return data::SystemError(path, "create", errno);
  Digest digest;
  for (size_t at = 0; at < image.size(); at += kChunk) {
    if (absl::Status status = poll(); !status.ok()) return status;
    const std::span<const std::byte> chunk = image.subspan(at, std::min(kChunk, image.size() - at));
    digest.Add(chunk);
    absl::Status status =
        artifact::WriteAll(file.get(), {reinterpret_cast<const char*>(chunk.data()), chunk.size()}, path);
    if (!status.ok()) return status;
  }
  if (fsync(file.get()) != 0) return data::SystemError(path, "write", errno);
  return FileDigest{image.size(), digest.Hex()};
}

}  // namespace

absl::StatusOr<std::vector<Listed>> List(const std::string& directory) {
  if (!IsFile(ManifestPath(directory))) return ListCheckpoints(directory);
  const absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(directory));
  return std::vector<Listed>{{directory, manifest.ok() ? manifest->point.step : 0}};
}

absl::StatusOr<Checkpoint> OpenOne(const std::string& path) {
  absl::StatusOr<Manifest> manifest = ReadManifest(ManifestPath(path));
  if (!manifest.ok()) return manifest.status();
  absl::StatusOr<FileDigest> digest = DigestFile(StatePath(path), manifest->checksum);
  if (!digest.ok()) return digest.status();
  if (digest->bytes != manifest->state_bytes) {
    return absl::DataLossError(absl::StrCat(StatePath(path), ": has ", digest->bytes, " bytes, but the manifest says ",
                                            manifest->state_bytes,
                                            "; expected the file that was saved; resume from another checkpoint"));
  }
  if (digest->checksum != manifest->state_checksum) {
    return absl::DataLossError(absl::StrCat(StatePath(path),
                                            ": is corrupt: its checksum is not the manifest's; expected the file that "
                                            "was saved; resume from another checkpoint"));
  }
  absl::StatusOr<data::SafetensorsFile> state = data::SafetensorsFile::Open(StatePath(path));
  if (!state.ok()) return state.status();
  return Checkpoint{path, std::move(manifest->point), *std::move(state), {}};
}

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

absl::StatusOr<std::string> SetAside(const std::string& directory, uint64_t steps_done) {
  const std::string path = PathsOf(directory, steps_done).checkpoint, other = path + ".doubtful";
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

absl::Status Save(const std::string& directory, const TrainingPoint& point, const std::vector<LocalTensor>& state,
                  comm::Agreements& ranks, absl::Duration deadline) {
  const Paths paths = PathsOf(directory, point.step);
  const bool is_creator = ranks.rank() == 0;
  absl::Status status = is_creator ? MakeAside(paths) : absl::OkStatus();
  if (status.ok()) status = WriteShardedFile(StatePath(paths.aside), state, StateMetadata(), ranks, deadline);
  if (!is_creator) return status;
  if (status.ok()) {
    const absl::StatusOr<FileDigest> digest = DigestFile(StatePath(paths.aside), Manifest::Checksum::kXxh3);
    status = digest.ok() ? Finish(paths, point, *digest) : digest.status();
  }
  if (!status.ok()) RemoveAside(paths);
  return status;
}

absl::Status SaveImage(const std::string& directory, const TrainingPoint& point, std::span<const std::byte> image,
                       const std::function<absl::Status()>& poll) {
  const Paths paths = PathsOf(directory, point.step);
  absl::Status status = CheckSpace(directory, image.size());
  if (status.ok()) status = MakeAside(paths);
  if (!status.ok()) return status;
  const absl::StatusOr<FileDigest> digest = WriteImage(StatePath(paths.aside), image, poll);
  status = digest.ok() ? Finish(paths, point, *digest) : digest.status();
  if (!status.ok()) RemoveAside(paths);
  return status;
}

}  // namespace sgd::checkpoint
