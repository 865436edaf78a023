// A plan of an .sgda file for reading: mapped, hashed, and verified down to every offset, count, enum
// and index before anyone uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/file_mapping.h"
#include "runtime/artifact/plan_choice.h"
#include "runtime/artifact/program_generated.h"

namespace sgd::artifact {

// A verified plan of an artifact. Keeps the file mapped; everything it hands out lives as long as it does.
// Immutable, so threads may share it.
class ArtifactFile {
 public:
  // Errors are one line and begin with the path: NotFound or PermissionDenied from the system,
  // InvalidArgument for a file that is truncated, corrupted, of another format version, or whose
  // contents are not consistent (see verify.h and elf.h), those of ChoosePlan.
  static absl::StatusOr<std::unique_ptr<ArtifactFile>> Open(const std::string& path, const PlanChoice& choice = {});

  // The same from memory; `bytes` is copied. `name` takes the path's place in messages.
  static absl::StatusOr<std::unique_ptr<ArtifactFile>> FromBytes(std::string_view bytes, const std::string& name,
                                                                 const PlanChoice& choice = {});

  // The same of what ArtifactWriter::SerializeWithoutCode gives, for who only reads what a step does: its kernels are
  // described, and there is no code of them.
  static absl::StatusOr<std::unique_ptr<ArtifactFile>> FromBytesWithoutCode(std::string_view bytes,
                                                                            const std::string& name);

  ArtifactFile(const ArtifactFile&) = delete;
  ArtifactFile& operator=(const ArtifactFile&) = delete;

  const std::string& path() const { return path_; }

  // The plan's name, unique in the file.
  const std::string& plan() const { return plan_.name; }
  // The number of ranks, the product of the mesh axes; 1 without a mesh.
  uint64_t ranks() const { return plan_.ranks; }

  // The program section's root. Vectors and optional tables may be null where the schema does not
  // say `required`; see Size() below.
  const Artifact& root() const { return *root_; }

  // The program of that name, of several stages the first; NotFound lists the names there are.
  absl::StatusOr<const Program*> FindProgram(std::string_view name) const;
  // The one that the ranks of `stage` run, as StageOf says.
  absl::StatusOr<const Program*> FindProgram(std::string_view name, int32_t stage) const;

  // The stage of a rank, which are numbered stage by stage; -1 where there are none.
  int32_t StageOf(uint64_t rank) const;
  // How many ranks a stage has; without stages, all.
  uint64_t ranks_of_stage() const;
  // The memory that a rank of that stage needs.
  struct Spaces {
    uint64_t private_bytes = 0, window_bytes = 0;
  };
  Spaces SpacesOf(uint64_t rank) const;

  // The kernels' ELF object, page aligned, empty when the artifact has no kernels.
  Bytes kernels() const { return sections_.kernels; }
  // The constants section, page aligned, root().constant_bytes() long; read-only.
  Bytes constants() const { return sections_.constants; }

  // Covers every byte of the file, all plans: ranks that agree on it and on the plan's name run the same plan.
  const Hash& hash() const { return sections_.hash; }

 private:
  friend class Bundle;
  ArtifactFile() = default;

  std::string path_;
  Plan plan_;
  std::shared_ptr<const FileMapping> mapping_;
  Sections sections_;
  const Artifact* root_ = nullptr;
};

// Length of a FlatBuffers vector or string that may be absent.
template <typename Vector>
uint64_t Size(const Vector* vector) {
  return vector == nullptr ? 0 : vector->size();
}

}  // namespace sgd::artifact
