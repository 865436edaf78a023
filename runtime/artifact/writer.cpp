// Packs the program with FlatBuffers (deterministic for a given object tree).
#include "runtime/artifact/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/replace_file.h"

namespace sgd::artifact {
namespace {

Bytes ViewOf(std::string_view bytes) { return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}; }

void Pack(const ArtifactT& artifact, flatbuffers::FlatBufferBuilder& builder) {
  builder.Finish(Artifact::Pack(builder, &artifact), ArtifactIdentifier());
}

absl::Status WriteInPlace(const std::string& path, std::string_view bytes) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError("open", path);
  const absl::Status status = WriteAll(descriptor, bytes, path);
  if (close(descriptor) != 0 && status.ok()) return SystemError("write", path);
  return status;
}

}  // namespace

Slice ArtifactWriter::AddConstant(std::string_view bytes, uint64_t alignment) {
  absl::StatusOr<Hash> hash = Sha256(ViewOf(bytes));
  if (hash.ok()) {
    auto found = constant_slices_.find(*hash);
    if (found != constant_slices_.end() && found->second.offset() % alignment == 0) return found->second;
  }
  constants_.resize((constants_.size() + alignment - 1) / alignment * alignment, '\0');
  const Slice slice(Space::Constant, constants_.size(), bytes.size());
  constants_.append(bytes);
  if (hash.ok()) constant_slices_.insert_or_assign(*hash, slice);
  return slice;
}

absl::StatusOr<std::string> ArtifactWriter::Build(std::string_view kernels) {
  artifact_.constant_bytes = constants_.size();
  if (absl::Status status = SetCollectiveHashes(); !status.ok()) return status;
  flatbuffers::FlatBufferBuilder builder;
  Pack(artifact_, builder);
  return BuildContainer({{Bytes(builder.GetBufferPointer(), builder.GetSize()), ViewOf(kernels), ViewOf(constants_)}});
}

absl::StatusOr<std::string> ArtifactWriter::SerializeWithoutCode() { return Build({}); }

absl::StatusOr<std::string> ArtifactWriter::Serialize() {
  absl::StatusOr<std::string> bytes = Build(kernels_);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<std::unique_ptr<ArtifactFile>> file = ArtifactFile::FromBytes(*bytes, "the artifact to be written");
  if (!file.ok()) return file.status();
  return bytes;
}

// The hash is defined on the packed form, so the program is packed once without it.
absl::Status ArtifactWriter::SetCollectiveHashes() {
  flatbuffers::FlatBufferBuilder builder;
  Pack(artifact_, builder);
  flatbuffers::Verifier verifier(builder.GetBufferPointer(), builder.GetSize(), 16, 1u << 28);
  if (!VerifyArtifactBuffer(verifier)) {
    return absl::InvalidArgumentError("the program lacks a required field");
  }
  const Artifact* root = GetArtifact(builder.GetBufferPointer());
  for (size_t i = 0; i < artifact_.programs.size(); ++i) {
    absl::StatusOr<Hash> hash = HashCollectives(*root->programs()->Get(static_cast<uint32_t>(i)));
    if (!hash.ok()) return hash.status();
    artifact_.programs[i]->collective_hash.assign(hash->begin(), hash->end());
  }
  return absl::OkStatus();
}

absl::Status ArtifactWriter::WriteFile(const std::string& path) {
  absl::StatusOr<std::string> bytes = Serialize();
  if (!bytes.ok()) return bytes.status();
  return WriteFileAtomically(path, *bytes);
}

absl::Status CheckWritable(const std::string& path) {
  const absl::StatusOr<std::string> target = ResolveLinks(path);
  if (!target.ok()) return target.status();
  struct stat existing;
  const bool exists = stat(path.c_str(), &existing) == 0;
  if (exists && S_ISDIR(existing.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": is a directory; expected a file or nothing there; give another path"));
  }
  if (exists && access(path.c_str(), W_OK) != 0) return SystemError("write", path);
  if (exists && !S_ISREG(existing.st_mode)) return absl::OkStatus();
  if (access(DirectoryOf(*target).c_str(), W_OK | X_OK) != 0) return SystemError("create", path);
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  if (absl::Status status = CheckWritable(path); !status.ok()) return status;
  struct stat existing;
  // A device or a pipe is written to, not replaced.
  if (stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode)) return WriteInPlace(path, bytes);
  // Of a symbolic link the target is replaced, not the link.
  const absl::StatusOr<std::string> target = ResolveLinks(path);
  return target.ok() ? ReplaceFile(*target, bytes, 0666) : target.status();
}

}  // namespace sgd::artifact
