// Maps the file privately and read-only, then checks from the outside in: container, FlatBuffers
// structure and names of all plans; meaning and kernels of the one that is loaded.
#include "runtime/artifact/bundle.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/elf.h"
#include "runtime/artifact/kernel_modules.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/replace_file.h"
#include "runtime/artifact/tree_size.h"
#include "runtime/artifact/verify.h"

namespace sgd::artifact {
namespace {

constexpr flatbuffers::uoffset_t kMaxTableDepth = 16;
// Offset of the root, and the identifier.
constexpr uint64_t kLeastProgramBytes = 8, kMostProgramBytes = uint64_t{1} << 31;
// Of a program, each part of it counted where it is used, for each byte that the file has. Writers may share a little,
// as equal strings.
constexpr uint64_t kTreeBytesPerByte = 4, kLeastTreeBytes = 1 << 16;

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
  if (!FitsAsTree(program, *ArtifactTypeTable(), most_bytes, kMaxTableDepth)) {
    return absl::InvalidArgumentError(
        absl::StrCat("section 'program' of ", program.size(),
                     " bytes is not a well-formed program, or shares parts so that it has more than ", most_bytes,
                     " bytes when each is counted where it is used"));
  }
  flatbuffers::Verifier verifier(program.data(), program.size(), kMaxTableDepth,
                                 static_cast<flatbuffers::uoffset_t>(most_bytes));
  if (!VerifyArtifactBuffer(verifier)) {
    return absl::InvalidArgumentError("section 'program' is not a well-formed program");
  }
  return GetArtifact(program.data());
}

// For any fault that the checks find in a file there is one remedy. Messages that know a better one end in a remedy
// of their own.
absl::Status WithRemedy(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kInvalidArgument || absl::StrContains(status.message(), "; expected ")) {
    return status;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(status.message(), "; expected a program that sgdc of this version writes; compile the model again"));
}

// The pages of a regular file.
absl::StatusOr<FileMapping> Map(const std::string& path) {
  // Not blocking, so that a pipe is refused instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return SystemError("open the artifact", path);
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is not a regular file; expected an artifact; give the path of a file that sgdc wrote"));
  }
  const uint64_t size = static_cast<uint64_t>(status.st_size);
  void* mapping = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const absl::Status mapped = mapping == MAP_FAILED ? SystemError("map the artifact", path) : absl::OkStatus();
  close(descriptor);
  if (!mapped.ok()) return mapped;
  return FileMapping(mapping, size);
}

// Sections are page aligned within the file, so the copy must begin on a page too.
absl::StatusOr<FileMapping> Hold(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) return FileMapping();
  void* mapping = mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return SystemError("hold the artifact", name);
  FileMapping copy(mapping, bytes.size());
  std::memcpy(mapping, bytes.data(), bytes.size());
  if (mprotect(mapping, bytes.size(), PROT_READ) != 0) return SystemError("protect the artifact", name);
  return copy;
}

// The plan's program with another name of the plan.
absl::StatusOr<flatbuffers::DetachedBuffer> Rename(Bytes program, const std::string& name) {
  absl::StatusOr<const Artifact*> root = CheckStructure(program);
  if (!root.ok()) return root.status();
  ArtifactT artifact;
  (*root)->UnPackTo(&artifact);
  artifact.plan = name;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Artifact::Pack(builder, &artifact), ArtifactIdentifier());
  return builder.Release();
}

}  // namespace

Bundle::Bundle(std::string path, FileMapping mapping, Origin origin)
    : path_(std::move(path)), origin_(origin), mapping_(std::make_shared<const FileMapping>(std::move(mapping))) {}

absl::StatusOr<Bundle> Bundle::Open(const std::string& path) {
  absl::StatusOr<FileMapping> mapping = Map(path);
  if (!mapping.ok()) return mapping.status();
  Bundle bundle(path, *std::move(mapping), Origin::kFile);
  if (absl::Status status = bundle.Read(); !status.ok()) return status;
  return bundle;
}

absl::StatusOr<Bundle> Bundle::FromBytes(std::string_view bytes, const std::string& name) {
  absl::StatusOr<FileMapping> mapping = Hold(bytes, name);
  if (!mapping.ok()) return mapping.status();
  Bundle bundle(name, *std::move(mapping), Origin::kMemory);
  if (absl::Status status = bundle.Read(); !status.ok()) return status;
  return bundle;
}

absl::Status Bundle::Check(absl::FunctionRef<absl::Status()> check) const {
  const absl::Status status = WithMemoryFor("what the artifact describes", check);
  if (status.ok()) return status;
  const absl::Status named(status.code(), absl::StrCat(path_, ": ", status.message()));
  return origin_ == Origin::kFile ? WithRemedy(named) : named;
}

absl::Status Bundle::Read() {
  return Check([&]() -> absl::Status {
    const Bytes bytes(static_cast<const uint8_t*>(mapping_->data()), mapping_->size());
    absl::StatusOr<std::vector<Sections>> plans = OpenContainer(bytes);
    if (!plans.ok()) return plans.status();
    sections_ = *std::move(plans);
    for (const Sections& sections : sections_) {
      if (absl::Status status = ReadPlan(sections); !status.ok()) return status;
    }
    return absl::OkStatus();
  });
}

absl::Status Bundle::ReadPlan(const Sections& sections) {
  absl::StatusOr<const Artifact*> root = CheckStructure(sections.program);
  if (!root.ok()) return root.status();
  if (absl::Status status = VerifyPlanName(**root); !status.ok()) return status;
  const Plan plan{PlanNameOf(**root), MeshOf(**root).ranks()};
  if (std::ranges::any_of(plans_, [&](const Plan& other) { return other.name == plan.name; }))
    return absl::InvalidArgumentError(absl::StrCat("has two plans named '", absl::CEscape(plan.name), "'"));
  roots_.push_back(*root);
  plans_.push_back(plan);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> Bundle::Load(const PlanChoice& choice) const {
  return Load(choice, Code::kPresent);
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> Bundle::LoadWithoutCode(const PlanChoice& choice) const {
  return Load(choice, Code::kAbsent);
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> Bundle::Load(const PlanChoice& choice, Code code) const {
  size_t plan = 0;
  const absl::Status status = Check([&]() -> absl::Status {
    const absl::StatusOr<size_t> chosen = ChoosePlan(plans_, choice);
    if (!chosen.ok()) return chosen.status();
    plan = *chosen;
    absl::Status verified = VerifyArtifact(*roots_[plan], sections_[plan].constants.size());
    if (!verified.ok() || code == Code::kAbsent) return verified;
    return CheckKernels(*roots_[plan], sections_[plan].kernels);
  });
  if (!status.ok()) return status;
  std::unique_ptr<ArtifactFile> file(new ArtifactFile);
  file->path_ = path_;
  file->plan_ = plans_[plan];
  file->mapping_ = mapping_;
  file->sections_ = sections_[plan];
  file->root_ = roots_[plan];
  return file;
}

absl::StatusOr<std::string> BundlePlans(const std::vector<std::pair<std::string, std::string_view>>& plans) {
  std::vector<flatbuffers::DetachedBuffer> programs;
  std::vector<Sections> all;
  for (const auto& [name, bytes] : plans) {
    absl::StatusOr<std::vector<Sections>> sections =
        OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    if (!sections.ok()) return sections.status();
    if (sections->size() != 1)
      return absl::InvalidArgumentError(absl::StrCat("plan '", name, "' is a bundle itself; expected a plan"));
    absl::StatusOr<flatbuffers::DetachedBuffer> program = Rename(sections->front().program, name);
    if (!program.ok()) return program.status();
    programs.push_back(*std::move(program));
    sections->front().program = {programs.back().data(), programs.back().size()};
    all.push_back(sections->front());
  }
  absl::StatusOr<std::string> bundle = BuildContainer(all);
  if (!bundle.ok()) return bundle.status();
  const absl::Status status = Bundle::FromBytes(*bundle, "the artifact to be written").status();
  if (!status.ok()) return status;
  return bundle;
}

}  // namespace sgd::artifact
