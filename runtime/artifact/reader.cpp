// Accessors of a verified plan.
#include "runtime/artifact/reader.h"

#include <algorithm>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/bundle.h"

namespace sgd::artifact {

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::Open(const std::string& path, const PlanChoice& choice) {
  absl::StatusOr<Bundle> bundle = Bundle::Open(path);
  return bundle.ok() ? bundle->Load(choice) : bundle.status();
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::FromBytes(std::string_view bytes, const std::string& name,
                                                                      const PlanChoice& choice) {
  absl::StatusOr<Bundle> bundle = Bundle::FromBytes(bytes, name);
  return bundle.ok() ? bundle->Load(choice) : bundle.status();
}

absl::StatusOr<std::unique_ptr<ArtifactFile>> ArtifactFile::FromBytesWithoutCode(std::string_view bytes,
                                                                                 const std::string& name) {
  absl::StatusOr<Bundle> bundle = Bundle::FromBytes(bytes, name);
  return bundle.ok() ? bundle->LoadWithoutCode({}) : bundle.status();
}

uint64_t ArtifactFile::ranks_of_stage() const { return ranks() / std::max<uint64_t>(1, Size(root_->stages())); }

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
