// Locks beside what they are for.
#include "runtime/train/claimed_outputs.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/data/mapped_file.h"
#include "runtime/data/tensor_file_writer.h"

namespace sgd::train {
namespace {

namespace fs = std::filesystem;

// The file that is written, whatever links lead to it.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

absl::StatusOr<data::RunLock> LockOutputs(const std::string& path) {
  std::error_code error;
  // A path that cannot be a file of tensors has a message of its own.
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return data::TensorFileWriter::CheckWritable(path);
  absl::StatusOr<data::RunLock> lock = data::RunLock::Take(Resolved(path) + ".lock", path);
  if (lock.ok() || lock.status().code() == absl::StatusCode::kUnavailable) return lock;
  const absl::Status status = data::TensorFileWriter::CheckWritable(path);
  return status.ok() ? lock.status() : status;
}

absl::StatusOr<data::RunLock> LockFolder(const RunOptions& options) {
  std::error_code error;
  fs::create_directories(options.save, error);
  if (error) return data::SystemError(options.save, "create", error.value());
  absl::StatusOr<data::RunLock> lock = data::RunLock::Take(options.save + "/.lock", options.save);
  if (!lock.ok()) return lock;
  absl::Status status = checkpoint::CheckContinues(options.save, options.resume);
  if (!status.ok()) return status;
  checkpoint::RemoveUnfinished(options.save);
  return lock;
}

}  // namespace

absl::StatusOr<ClaimedOutputs> ClaimedOutputs::Claim(const RunOptions& options) {
  ClaimedOutputs claimed;
  const auto add = [&](absl::StatusOr<data::RunLock> lock) {
    if (!lock.ok()) return lock.status();
    if (!lock->note().empty()) claimed.notes_.push_back(lock->note());
    claimed.locks_.push_back(*std::move(lock));
    return absl::OkStatus();
  };
  for (const std::string* file : {&options.outputs, &options.save_weights}) {
    if (file->empty()) continue;
    if (absl::Status status = add(LockOutputs(*file)); !status.ok()) return status;
    claimed.files_.push_back(Resolved(*file));
  }
  if (!options.save.empty()) {
    if (absl::Status status = add(LockFolder(options)); !status.ok()) return status;
    claimed.save_ = options.save;
  }
  return claimed;
}

void ClaimedOutputs::CleanUp() const {
  for (const std::string& file : files_) unlink(data::TensorFileWriter::AsidePath(file).c_str());
  if (!save_.empty()) checkpoint::RemoveUnfinished(save_);
  for (const data::RunLock& lock : locks_) unlink(lock.path().c_str());
}

}  // namespace sgd::train
