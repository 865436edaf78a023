// Maps the file privately and read-only, then checks from the outside in: container, FlatBuffers
// structure, meaning, kernels.
#include "runtime/artifact/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/elf.h"
#include "runtime/artifact/kernel_modules.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/tree_size.h"
#include "runtime/artifact/verify.h"

namespace sgd::artifact {
namespace {

constexpr flatbuffers::uoffset_t kMaxDepth = 16;
// Offset of the root, and the identifier.
constexpr uint64_t kLeastProgramBytes = 8, kMostProgramBytes = uint64_t{1} << 31;
// Of a program, each part of it counted where it is used, for each byte that the file has. Writers may share a little,
// as equal strings.
constexpr uint64_t kTreeBytesPerByte = 4, kLeastTreeBytes = 1 << 16;

absl::Status SystemError(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot ", what, " the artifact"));
}

// The kernels as the program names them against the object that must define them.
absl::Status CheckKernels(const Artifact& root, Bytes object) {
  std::vector<std::string> functions;
  if (root.kernels() != nullptr) {
    for (const Kernel* kernel : *root.kernels()) functions.push_back(kernel->symbol()->str());
  }
  if (object.empty()) {
    return functions.empty() ? absl::OkStatus() : absl::InvalidArgumentError("has kernels but no kernels section");
  }
  if (root.target()->string_view() == kCudaTarget) return CheckKernelModules(root, object);
  return CheckKernelObject(object, functions);
}

absl::StatusOr<const Artifact*> CheckStructure(Bytes program) {
  // FlatBuffers' offsets are of 31 bits.
  if (program.size() >= kMostProgramBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("section 'program' has ", program.size(), " bytes where less than 2^31 are possible"));
  }
  if (program.size() < kLeastProgramBytes || !ArtifactBufferHasIdentifier(program.data())) {
    return absl::InvalidArgumentError("section 'program' is not a program");
  }
  const uint64_t most_bytes = std::min(kTreeBytesPerByte * program.size() + kLeastTreeBytes, uint64_t{UINT32_MAX} - 1);
  if (!FitsAsTree(program, *ArtifactTypeTable(), most_bytes, kMaxDepth)) {
    return absl::InvalidArgumentError(
        absl::StrCat("section 'program' of ", program.size(),
                     " bytes is not a well-formed program, or shares parts so that it has more than ", most_bytes,
                     " bytes when each is counted where it is used"));
  }
  flatbuffers::Verifier verifier(program.data(), program.size(), kMaxDepth,
                                 static_cast<flatbuffers::uoffset_t>(most_bytes));
  if (!VerifyArtifactBuffer(verifier)) {
    return absl::InvalidArgumentError("section 'program' is not a well-formed program");
  }
  return GetArtifact(program.data());
}

// Whatever the checks find in a file, its reader can do one thing about it. Messages that know better end in a remedy
// of their own.
absl::Status WithRemedy(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kInvalidArgument || absl::StrContains(status.message(), "; expected ")) {
    return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), "; expected a program that sgdc of this version writes; compile the model again"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::Open(const std::string& path) {
  // Not blocking, so that a pipe is refused instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return SystemError(path, "open");
  std::unique_ptr<ArtifactFile> file(new ArtifactFile);
  file->path_ = path;
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file; expected an artifact; give the path of a file that sgdc wrote"));
  }
  absl::Status mapped;
  if (const uint64_t size = static_cast<uint64_t>(status.st_size); size > 0) {
    void* mapping = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED) {
      mapped = SystemError(path, "map");
    } else {
      file->mapping_ = FileMapping(mapping, size);
    }
  }
  close(descriptor);
  if (!mapped.ok()) return mapped;
  if (absl::Status loaded = file->Load(Code::kPresent); !loaded.ok()) return WithRemedy(loaded);
  return file;
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::FromBytes(std::string_view bytes, const std::string& name) {
  return FromMemory(bytes, name, Code::kPresent);
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::FromBytesWithoutCode(std::string_view bytes,
                                                                                 const std::string& name) {
  return FromMemory(bytes, name, Code::kAbsent);
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::FromMemory(std::string_view bytes, const std::string& name,
                                                                       Code code) {
  std::unique_ptr<ArtifactFile> file(new ArtifactFile);
  file->path_ = name;
  if (!bytes.empty()) {
    // Sections are page aligned within the file, so the copy must begin on a page too.
    void* mapping = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return SystemError(name, "hold");
    file->mapping_ = FileMapping(mapping, bytes.size());
    std::memcpy(mapping, bytes.data(), bytes.size());
    if (mprotect(mapping, bytes.size(), PROT_READ) != 0) return SystemError(name, "protect");
  }
  if (absl::Status loaded = file->Load(code); !loaded.ok()) return loaded;
  return file;
}

absl::Status ArtifactFile::Load(Code code) {
  const Bytes bytes(static_cast<const uint8_t*>(mapping_.data()), mapping_.size());
  const auto check = [&]() -> absl::Status {
    absl::StatusOr<Sections> sections = OpenContainer(bytes);
    if (!sections.ok()) return sections.status();
    sections_ = *sections;
    absl::StatusOr<const Artifact*> root = CheckStructure(sections_.program);
    if (!root.ok()) return root.status();
    root_ = *root;
    if (absl::Status status = VerifyArtifact(*root_, sections_.constants.size()); !status.ok()) return status;
    ranks_ = MeshOf(*root_).ranks();
    return code == Code::kAbsent ? absl::OkStatus() : CheckKernels(*root_, sections_.kernels);
  };
  const absl::Status status = WithMemoryFor("what the artifact describes", check);
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(path_, ": ", status.message()));
}

uint64_t ArtifactFile::ranks_of_stage() const { return ranks_ / std::max<uint64_t>(1, Size(root_->stages())); }

int32_t ArtifactFile::StageOf(uint64_t rank) const {
  return Size(root_->stages()) == 0 ? -1 : static_cast<int32_t>(rank / ranks_of_stage());
}

ArtifactFile::Spaces ArtifactFile::SpacesOf(uint64_t rank) const {
  const int32_t stage = StageOf(rank);
  if (stage < 0) return {root_->private_bytes(), root_->window_bytes()};
  const Stage& own = *root_->stages()->Get(static_cast<uint32_t>(stage));
  return {own.private_bytes(), own.window_bytes()};
}

absl::StatusOr<const Program*> ArtifactFile::FindProgram(std::string_view name, int32_t stage) const {
  for (const Program* program : *root_->programs()) {
    if (program->name()->string_view() == name && program->stage() == stage) return program;
  }
  return FindProgram(name);
}

absl::StatusOr<const Program*> ArtifactFile::FindProgram(std::string_view name) const {
  std::vector<std::string> names;
  for (const Program* program : *root_->programs()) {
    if (program->name()->string_view() == name) return program;
    if (program->stage() <= 0) names.push_back(absl::CEscape(program->name()->str()));
  }
  return absl::NotFoundError(absl::StrCat(path_, ": has no program '", absl::CEscape(std::string(name)),
                                          "'; expected one of: ", absl::StrJoin(names, ", "),
                                          "; compile the model again with that program"));
}

}  // namespace sgd::artifact
