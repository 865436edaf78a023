// Packs the program with FlatBuffers (deterministic for a given object tree) and writes files aside
// before renaming them.
#include "runtime/artifact/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::artifact {
namespace {

Bytes ViewOf(std::string_view bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

absl::Status SystemError(const std::string& what, const std::string& path) {
  const int error = errno;
  return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot ", what));
}

absl::Status WriteAll(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(descriptor) == 0 ? absl::OkStatus() : SystemError("write", path);
}

// Makes the rename itself durable; a directory that cannot be opened for reading is not an error of
// the file.
void SyncDirectory(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

Slice ArtifactWriter::AddConstant(std::string_view bytes, uint64_t alignment) {
  absl::StatusOr<Hash> hash = Sha256(ViewOf(bytes));
  if (hash.ok()) {
    auto found = constant_slices_.find(*hash);
    if (found != constant_slices_.end() && found->second.offset() % alignment == 0)
      return found->second;
  }
  constants_.resize((constants_.size() + alignment - 1) / alignment * alignment, '\0');
  const Slice slice(Space::Constant, constants_.size(), bytes.size());
  constants_.append(bytes);
  if (hash.ok()) constant_slices_.insert_or_assign(*hash, slice);
  return slice;
}

absl::StatusOr<std::string> ArtifactWriter::Serialize() {
  artifact_.constant_bytes = constants_.size();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Artifact::Pack(builder, &artifact_), ArtifactIdentifier());
  return BuildContainer(
      {Bytes(builder.GetBufferPointer(), builder.GetSize()), ViewOf(kernels_), ViewOf(constants_)});
}

absl::Status ArtifactWriter::WriteFile(const std::string& path) {
  absl::StatusOr<std::string> bytes = Serialize();
  if (!bytes.ok()) return bytes.status();
  return WriteFileAtomically(path, *bytes);
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  // In the same folder, since rename does not cross file systems.
  std::string aside = absl::StrCat(path, ".XXXXXX");
  const int descriptor = mkostemp(aside.data(), O_CLOEXEC);
  if (descriptor < 0) return SystemError("create", path);
  absl::Status status = WriteAll(descriptor, bytes, path);
  const mode_t mask = umask(0);
  umask(mask);
  if (status.ok() && fchmod(descriptor, 0666 & ~mask) != 0)
    status = SystemError("set the mode", path);
  if (close(descriptor) != 0 && status.ok()) status = SystemError("write", path);
  if (status.ok() && rename(aside.c_str(), path.c_str()) != 0)
    status = SystemError("rename to", path);
  if (!status.ok()) {
    unlink(aside.c_str());
    return status;
  }
  SyncDirectory(path);
  return absl::OkStatus();
}

}  // namespace sgd::artifact
