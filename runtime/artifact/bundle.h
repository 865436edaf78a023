// An .sgda file: one plan, or several of which a run executes one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/file_mapping.h"
#include "runtime/artifact/plan_choice.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {

// The plans of a file. Every byte is hashed and every plan is well formed with a name of its own; what a plan means is
// verified when it is loaded. Immutable, so threads may share it.
class Bundle {
 public:
  // Errors as of ArtifactFile::Open.
  static absl::StatusOr<Bundle> Open(const std::string& path);
  // The same from memory; `bytes` is copied. `name` takes the path's place in messages.
  static absl::StatusOr<Bundle> FromBytes(std::string_view bytes, const std::string& name);

  const std::string& path() const { return path_; }
  // In the order of compilation, at least one.
  const std::vector<Plan>& plans() const { return plans_; }

  // Verifies and returns a plan, which keeps the file mapped. Errors are one line and begin with the path: those of
  // ChoosePlan, and InvalidArgument as of ArtifactFile::Open.
  absl::StatusOr<std::unique_ptr<ArtifactFile>> Load(const PlanChoice& choice) const;
  // The same of what ArtifactWriter::SerializeWithoutCode gives.
  absl::StatusOr<std::unique_ptr<ArtifactFile>> LoadWithoutCode(const PlanChoice& choice) const;

 private:
  enum class Code { kPresent, kAbsent };
  enum class Origin { kFile, kMemory };

  Bundle(std::string path, FileMapping mapping, Origin origin);
  // Errors of `check` begin with the path; of a file, they say what to do.
  absl::Status Check(absl::FunctionRef<absl::Status()> check) const;
  // Finds the plans of the mapped file.
  absl::Status Read();
  absl::Status ReadPlan(const Sections& sections);
  absl::StatusOr<std::unique_ptr<ArtifactFile>> Load(const PlanChoice& choice, Code code) const;

  std::string path_;
  Origin origin_;
  std::shared_ptr<const FileMapping> mapping_;
  std::vector<Sections> sections_;  // by plan, as the two below
  std::vector<const Artifact*> roots_;
  std::vector<Plan> plans_;
};

// The bytes of a file with all plans of several ones, each renamed: (name, bytes of a file of one plan) in order.
// Equal names, and bytes that are no such file, are errors. The same plans give the same bytes.
absl::StatusOr<std::string> BundlePlans(const std::vector<std::pair<std::string, std::string_view>>& plans);

}  // namespace sgd::artifact
