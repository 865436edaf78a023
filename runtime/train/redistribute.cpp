// All ranks show their shards, each takes what it needs.
#include "runtime/train/redistribute.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace sgd::train {

absl::StatusOr<std::vector<std::byte>> Redistribute(std::span<const std::byte> local, const data::TensorType& from,
                                                    const data::TensorType& to, const comm::Mesh& mesh,
                                                    comm::Control& control, absl::Duration deadline) {
  // Only one of the ranks that hold the same shard needs to show it.
  const bool shows = data::Shard(from, mesh, control.rank()).is_first_replica();
  const std::string mine = shows ? std::string(reinterpret_cast<const char*>(local.data()), local.size()) : "";
  absl::StatusOr<std::vector<std::string>> shown = control.AllGatherBytes(mine, deadline);
  if (!shown.ok()) return shown.status();

  const data::Shard target(to, mesh, control.rank());
  std::vector<std::byte> global(target.global_bytes());
  for (uint32_t rank = 0; rank < control.size(); ++rank) {
    const data::Shard shard(from, mesh, rank);
    if (!shard.is_first_replica()) continue;
    const std::string& bytes = (*shown)[rank];
    if (bytes.size() != shard.local_bytes()) {
      return absl::InternalError(
          absl::StrCat("rank ", rank, " shows ", bytes.size(), " bytes of a shard of ", shard.local_bytes()));
    }
    shard.CopyOut(std::as_bytes(std::span(bytes)), global);
  }
  std::vector<std::byte> result(target.local_bytes());
  target.CopyIn(global, result);
  return result;
}

}  // namespace sgd::train
