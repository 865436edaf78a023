// Folders that are exchanged in one call.
#include "runtime/checkpoint/save.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/artifact/writer.h"
#include "runtime/checkpoint/checkpoint_paths.h"
#include "runtime/checkpoint/state_file.h"
#include "runtime/data/mapped_file.h"

namespace sgd::checkpoint {
namespace {

namespace fs = std::filesystem;

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
  std::string path = CheckpointPath(directory, step);
  return {directory, path, path + kAsideSuffix};
}

absl::Status MakeAside(const Paths& paths) {
  if (mkdir(paths.aside.c_str(), 0777) == 0 || errno == EEXIST) return absl::OkStatus();
  return data::SystemError(paths.aside, "create", errno);
}

// Files that an earlier save of this step by other ranks has left would be taken for part of it.
absl::Status RemoveStrangers(const std::string& folder, const std::vector<StateFile>& files) {
  std::error_code error;
  std::vector<fs::path> strangers;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (std::ranges::find(files, name, &StateFile::name) == files.end()) strangers.push_back(at->path());
  }
  for (const fs::path& path : strangers) fs::remove_all(path, error);
  return error ? data::SystemError(folder, "read", error.value()) : absl::OkStatus();
}

// Of files of `bytes`, among them that of `image`.
absl::Status CheckSpace(const std::string& directory, std::span<const std::byte> image, uint64_t bytes,
                        ZstdLevel level) {
  struct statvfs info;
  if (statvfs(directory.c_str(), &info) != 0) return absl::OkStatus();  // not every file system says
  const uint64_t free = uint64_t{info.f_bavail} * info.f_frsize;
  if (free >= bytes) return absl::OkStatus();
  if (level == kNotCompressed) {
    return absl::ResourceExhaustedError(absl::StrCat(directory, ": a checkpoint has ", bytes, " bytes, but ", free,
                                                     " are free; make room, or keep fewer (--keep)"));
  }
  const absl::StatusOr<double> share = EstimateCompression(image, static_cast<int>(level));
  if (!share.ok()) return share.status();
  const auto compressed = static_cast<uint64_t>(*share * static_cast<double>(bytes));
  if (free >= compressed) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(directory, ": a checkpoint has about ", compressed, " bytes, ",
                                                   bytes, " before it is compressed, but ", free,
                                                   " are free; make room, or keep fewer (--keep)"));
}

absl::StatusOr<StateFile> WriteFile(const std::string& folder, const std::string& name,
                                    std::span<const std::byte> image, ZstdLevel level,
                                    const std::function<absl::Status()>& poll) {
  const std::string full = absl::StrCat(name, level == kNotCompressed ? "" : kCompressedSuffix);
  const std::string path = absl::StrCat(folder, "/", full);
  absl::StatusOr<FileDigest> digest = level == kNotCompressed
                                          ? WriteStateFile(path, image, poll)
                                          : WriteCompressedStateFile(path, image, static_cast<int>(level), poll);
  if (!digest.ok()) return digest.status();
  return StateFile{full, digest->bytes, std::move(digest->checksum), digest->stored_bytes,
                   std::move(digest->stored_checksum)};
}

// The file that ranks have filled together, by one of them.
absl::StatusOr<StateFile> FinishFile(const std::string& folder, ZstdLevel level) {
  const std::string path = absl::StrCat(folder, "/", kStateName);
  if (level != kNotCompressed) {
    const absl::StatusOr<data::MappedFile> image = data::MappedFile::OpenForReading(path);
    if (!image.ok()) return image.status();
    return WriteFile(folder, kStateName, image->bytes(), level, [] { return absl::OkStatus(); });
  }
  absl::StatusOr<FileDigest> digest = DigestFile(path, Manifest::Checksum::kXxh3);
  if (!digest.ok()) return digest.status();
  return StateFile{kStateName, digest->bytes, std::move(digest->checksum)};
}

}  // namespace

absl::StatusOr<StateFile> WriteStateOf(const std::string& directory, uint64_t step, const std::string& name,
                                       std::span<const std::byte> image, uint64_t total_bytes, ZstdLevel level,
                                       const std::function<absl::Status()>& poll) {
  const Paths paths = PathsOf(directory, step);
  absl::Status status = CheckSpace(directory, image, total_bytes, level);
  if (status.ok()) status = MakeAside(paths);
  if (!status.ok()) return status;
  absl::StatusOr<StateFile> file = WriteFile(paths.aside, name, image, level, poll);
  if (!file.ok()) return file;
  // The file's name, too, is to outlive this host.
  if (status = data::SyncDirectory(paths.aside); !status.ok()) return status;
  return file;
}

absl::Status Complete(const std::string& directory, const TrainingPoint& point, std::vector<StateFile> files) {
  const Paths paths = PathsOf(directory, point.step);
  absl::Status status = RemoveStrangers(paths.aside, files);
  const Manifest manifest{point, Manifest::Checksum::kXxh3, std::move(files), kFrameBytes};
  if (status.ok()) status = artifact::WriteFileAtomically(ManifestPath(paths.aside), ManifestJson(manifest));
  if (status.ok()) status = PutInPlace(paths.aside, paths.checkpoint);
  if (status.ok()) status = data::SyncDirectory(paths.directory);
  return status;
}

void Abandon(const std::string& directory, uint64_t step) {
  std::error_code ignored;
  fs::remove_all(PathsOf(directory, step).aside, ignored);
}

absl::Status Save(const std::string& directory, const TrainingPoint& point, const std::vector<LocalTensor>& state,
                  comm::Agreements& ranks, absl::Duration deadline, ZstdLevel level) {
  const Paths paths = PathsOf(directory, point.step);
  const std::string path = absl::StrCat(paths.aside, "/", kStateName);
  const bool is_creator = ranks.rank() == 0;
  absl::Status status = is_creator ? MakeAside(paths) : absl::OkStatus();
  if (status.ok()) status = WriteShardedFile(path, state, StateMetadata(), ranks, deadline);
  if (!is_creator) return status;
  if (status.ok()) {
    absl::StatusOr<StateFile> file = FinishFile(paths.aside, level);
    status = file.ok() ? Complete(directory, point, {*std::move(file)}) : file.status();
  }
  if (!status.ok()) Abandon(directory, point.step);
  return status;
}

absl::StatusOr<StateFile> SaveImage(const std::string& directory, const TrainingPoint& point,
                                    std::span<const std::byte> image, ZstdLevel level,
                                    const std::function<absl::Status()>& poll) {
  absl::StatusOr<StateFile> file = WriteStateOf(directory, point.step, kStateName, image, image.size(), level, poll);
  const absl::Status status = file.ok() ? Complete(directory, point, {*file}) : file.status();
  if (status.ok()) return file;
  Abandon(directory, point.step);
  return status;
}

}  // namespace sgd::checkpoint
