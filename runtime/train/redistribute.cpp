// All ranks show their shards, each takes what it needs.
#include "runtime/train/redistribute.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace sgd::train {

namespace {

// The shard of `type` that `rank` shows, or nothing: only one of the ranks that hold the same shard needs to show it.
std::optional<data::Shard> ShownBy(uint32_t rank, const data::TensorType& type, const comm::Mesh& mesh,
                                   const SourceStage& source, uint32_t ranks_of_stage) {
  const bool is_source =
      type.is_spread() || source.stage < 0 || rank / ranks_of_stage == static_cast<uint32_t>(source.stage);
  if (!is_source) return std::nullopt;
  data::Shard shard(type, mesh, type.is_spread() ? rank : rank % ranks_of_stage);
  return shard.is_first_replica() && shard.has_rows() ? std::optional(std::move(shard)) : std::nullopt;
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> Redistribute(std::span<const std::byte> local, const data::TensorType& from,
                                                    const data::TensorType& to, const comm::Mesh& mesh,
                                                    const SourceStage& source, comm::Control& control,
                                                    absl::Duration deadline) {
  const uint32_t of_stage = source.stage < 0 ? control.size() : source.ranks_of_stage;
  const bool shows = ShownBy(control.rank(), from, mesh, source, of_stage).has_value();
  const std::string mine = shows ? std::string(reinterpret_cast<const char*>(local.data()), local.size()) : "";
  absl::StatusOr<std::vector<std::string>> shown = control.AllGatherBytes(mine, deadline);
  if (!shown.ok()) return shown.status();

  const data::Shard target(to, mesh, to.is_spread() ? control.rank() : control.rank() % of_stage);
  std::vector<std::byte> global(target.global_bytes());
  for (uint32_t rank = 0; rank < control.size(); ++rank) {
    const std::optional<data::Shard> shard = ShownBy(rank, from, mesh, source, of_stage);
    if (!shard) continue;
    const std::string& bytes = (*shown)[rank];
    if (bytes.size() != shard->local_bytes()) {
      return absl::InternalError(
          absl::StrCat("rank ", rank, " shows ", bytes.size(), " bytes of a shard of ", shard->local_bytes()));
    }
    shard->CopyOut(std::as_bytes(std::span(bytes)), global);
  }
  std::vector<std::byte> result(target.local_bytes());
  target.CopyIn(global, result);
  return result;
}

}  // namespace sgd::train
