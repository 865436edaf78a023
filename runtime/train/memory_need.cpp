// Adds the artifact's numbers.
#include "runtime/train/memory_need.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/kept_inputs.h"
#include "runtime/artifact/reader.h"
#include "runtime/text/amounts.h"
#include "runtime/train/peer_state.h"

namespace sgd::train {
namespace {

using text::BytesText;

constexpr uint64_t kArena = 4096;   // what an arena is rounded up to
constexpr uint64_t kStaging = 256;  // what a staged input is rounded up to

uint64_t Rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

uint64_t MemoryNeed::total() const {
  return Rounded(inputs + steps, kArena) + Rounded(window, kArena) + Rounded(constants, kArena) +
         Rounded(staging, kArena) + messages;
}

std::string MemoryNeed::Text() const {
  return absl::StrCat(
      BytesText(total()), ": inputs ", BytesText(inputs), ", the steps' own ", BytesText(steps), ", collectives ",
      BytesText(window), ", constants ", BytesText(constants), ", inputs on their way ", BytesText(staging),
      messages == 0 ? "" : absl::StrCat(", copies of the state on their way between hosts ", BytesText(messages)));
}

MemoryNeed NeedOf(const Job& job, uint32_t rank) {
  const artifact::ArtifactFile::Spaces spaces = job.file->SpacesOf(rank);
  const int32_t stage = job.file->StageOf(rank);
  const comm::Mesh mesh = data::MeshOf(job.file->root());
  MemoryNeed need{.window = spaces.window_bytes, .constants = job.file->constants().size()};
  absl::StatusOr<const artifact::Program*> program = job.file->FindProgram(job.program.name, stage);
  for (size_t i = 0; program.ok() && i < job.program.whole.inputs.size(); ++i) {
    const artifact::Holder* holder = job.program.whole.inputs[i].HolderOf(stage);
    if (holder == nullptr) continue;
    const artifact::Input& input = *(*program)->inputs()->Get(holder->index);
    const data::TensorType type = data::TypeOf(*input.type());
    // Another tensor's memory here.
    if (!type.owner.empty() && !data::Shard(type, mesh, rank).has_rows()) continue;
    const artifact::Slice& slice = *input.slice();
    if (slice.space() == artifact::Space::Private) need.inputs += slice.size();
    const bool is_restored = job.IsConstant(i) && !artifact::KeepsInput(job.file->root(), **program, holder->index);
    if (job.IsFed(i) || is_restored) need.staging += Rounded(slice.size(), kStaging);
  }
  if (HasPeerCopies(job))
    need.messages = BytesOf(PartsForNextHost(job, rank)) + BytesOf(PartsFromHostBefore(job, rank));
  need.inputs = std::min(need.inputs, spaces.private_bytes);
  need.steps = spaces.private_bytes - need.inputs;
  return need;
}

}  // namespace sgd::train
