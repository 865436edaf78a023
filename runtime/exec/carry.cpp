// Orders copies so that none destroys what another still has to read; those that form a circle go
// through staging memory.
#include "runtime/exec/carry.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sgd::exec {
namespace {

struct Move {
  const std::byte* source;
  std::byte* target;
  uint64_t bytes;
};

// Addresses of different spaces never touch, so they can be compared as numbers.
bool Overlap(const std::byte* a, uint64_t a_bytes, const std::byte* b, uint64_t b_bytes) {
  const uint64_t a_begin = reinterpret_cast<uint64_t>(a), b_begin = reinterpret_cast<uint64_t>(b);
  return a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

bool Destroys(const Move& move, const Move& other) {
  return Overlap(move.target, move.bytes, other.source, other.bytes);
}

absl::Status CheckPair(const Executor& from, const Executor& to, size_t output, size_t input) {
  if (output >= from.outputs().size() || input >= to.inputs().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot carry output ", output, " into input ", input, ": there are ", from.outputs().size(),
                     " outputs and ", to.inputs().size(), " inputs; expected indices below these; correct --carry"));
  }
  const Tensor& source = from.outputs()[output];
  const Tensor& target = to.inputs()[input];
  if (source.shard.type() == target.shard.type()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "cannot carry output ", output, " '", absl::CEscape(source.name), "' into input ", input, " '",
      absl::CEscape(target.name), "': they differ in type, shape or sharding; expected alike ones; correct --carry"));
}

absl::StatusOr<std::vector<Move>> MovesOf(const Executor& from, const Executor& to, const CarryPairs& pairs) {
  std::vector<Move> moves;
  std::set<size_t> filled;
  for (const auto& [output, input] : pairs) {
    if (absl::Status status = CheckPair(from, to, output, input); !status.ok()) return status;
    if (!filled.insert(input).second) {
      return absl::InvalidArgumentError(absl::StrCat("two outputs are carried into input ", input, " '",
                                                     absl::CEscape(to.inputs()[input].name),
                                                     "'; expected one; correct --carry"));
    }
    const bool is_there = from.outputs()[output].is_held;
    if (is_there != to.inputs()[input].is_held) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cannot carry output ", output, " '", absl::CEscape(from.outputs()[output].name), "' into input ", input,
          " '", absl::CEscape(to.inputs()[input].name),
          "': the stages that have the one have not the other; expected the same stages; correct --carry"));
    }
    if (!is_there) continue;
    const Move move{from.outputs()[output].bytes, to.inputs()[input].bytes, from.outputs()[output].shard.local_bytes()};
    if (move.bytes > 0) moves.push_back(move);
  }
  return moves;
}

// Moves the copies that can be made directly, in order, out of `moves`; what stays depends on
// itself in a circle.
std::vector<Move> TakeOrdered(std::vector<Move>& moves) {
  std::vector<Move> ordered;
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < moves.size(); ++i) {
      const bool blocked = std::any_of(moves.begin(), moves.end(), [&](const Move& other) {
        return &other != &moves[i] && Destroys(moves[i], other);
      });
      if (blocked) continue;
      ordered.push_back(moves[i]);
      moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(i));
      progress = true;
      break;
    }
  }
  return ordered;
}

}  // namespace

CarryPairs RecordedCarry(const Executor& executor) {
  CarryPairs pairs;
  for (size_t i = 0; i < executor.outputs().size(); ++i) {
    if (executor.outputs()[i].carry_input) pairs.emplace_back(i, *executor.outputs()[i].carry_input);
  }
  return pairs;
}

absl::StatusOr<std::unique_ptr<Carry>> Carry::Create(ExecutionContext& context, const Executor& from,
                                                     const Executor& to, const CarryPairs& pairs) {
  absl::StatusOr<std::vector<Move>> moves = MovesOf(from, to, pairs);
  if (!moves.ok()) return moves.status();
  std::vector<Move> circular = *std::move(moves);
  std::vector<Move> ordered = TakeOrdered(circular);
  auto carry = absl::WrapUnique(new Carry);
  if (!circular.empty()) {
    uint64_t bytes = 0;
    for (const Move& move : circular) bytes += move.bytes;
    absl::StatusOr<std::unique_ptr<device::Arena>> staging = context.device().Allocate(bytes);
    if (!staging.ok()) return staging.status();
    carry->staging_ = *std::move(staging);
    std::byte* place = carry->staging_->data();
    std::vector<Move> out;
    for (const Move& move : circular) {
      ordered.push_back({move.source, place, move.bytes});
      out.push_back({place, move.target, move.bytes});
      place += move.bytes;
    }
    ordered.insert(ordered.end(), out.begin(), out.end());
  }
  for (const Move& move : ordered) {
    if (move.source == move.target) continue;
    device::PreparedThunk copy = context.device().PrepareCopy(move.source, move.target, move.bytes);
    if (!copy.ok()) return copy.status();
    carry->copies_.push_back(*std::move(copy));
  }
  return carry;
}

absl::Status Carry::Run() {
  for (const std::unique_ptr<device::Thunk>& copy : copies_) {
    if (absl::Status status = copy->Execute(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sgd::exec
