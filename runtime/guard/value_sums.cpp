// Tries every number of shards that divides the number of ranks; the last shard may end in padding of zeros.
#include "runtime/guard/value_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/instruction_text.h"
#include "runtime/guard/tensor_distance.h"

namespace sgd::guard {
namespace {

// A sum says something only if it is well above what rounding makes of it.
constexpr double kSignificant = 8;

bool IsSameValue(const ValueRecord& a, const ValueRecord& b) {
  return a.instruction == b.instruction && a.operand == b.operand && a.element == b.element && a.count == b.count &&
         a.kind == b.kind;
}

size_t CommonLength(std::span<const ValueRecords> ranks, const ValueRecords& first) {
  size_t length = first.size();
  for (const ValueRecords& records : ranks) {
    length = std::min(length, records.size());
    const auto differs =
        std::mismatch(first.begin(), first.begin() + static_cast<ptrdiff_t>(length), records.begin(), IsSameValue);
    length = static_cast<size_t>(differs.first - first.begin());
  }
  return length;
}

ValueRecord Total(std::span<const ValueRecords> ranks, size_t i) {
  ValueRecord total = ranks.front()[i];
  for (const ValueRecords& records : ranks.subspan(1)) {
    total.sum += records[i].sum;
    total.squares += records[i].squares;
    total.magnitudes += records[i].magnitudes;
  }
  return total;
}

bool AreAlike(std::span<const ValueRecords> ranks, size_t i) {
  return std::ranges::all_of(ranks, [&](const ValueRecords& records) {
    return records[i].sum == ranks.front()[i].sum && records[i].squares == ranks.front()[i].squares;
  });
}

// Whether only one value of a step is likely to have these sums. Zeros are everywhere, and single numbers may be
// anything unless they are known well.
bool IsTelling(const ValueSums& value, uint64_t shards) {
  constexpr double kPrecise = 1e-4;
  if (value.record.squares == 0) return false;
  const bool is_constant = value.record.sum == std::floor(value.record.sum);
  return value.record.count * shards > 1 || (value.sum_limit < kPrecise * std::abs(value.record.sum) && !is_constant);
}

bool IsWithin(double a, double b, double limit) { return a == b || std::abs(a - b) <= limit; }

}  // namespace

ValueSums TotalOf(const ValueSums& a, const ValueSums& b) {
  ValueSums total = a;
  total.record.sum += b.record.sum;
  total.record.squares += b.record.squares;
  total.record.magnitudes += b.record.magnitudes;
  total.sum_limit += b.sum_limit;
  total.squares_limit += b.squares_limit;
  total.is_alike = false;
  return total;
}

std::vector<ValueSums> SumsOf(std::span<const ValueRecords> plain, std::span<const std::vector<ValueRecords>> moved) {
  size_t length = CommonLength(plain, plain.front());
  for (const std::vector<ValueRecords>& ranks : moved) length = std::min(length, CommonLength(ranks, plain.front()));
  std::vector<ValueSums> sums;
  for (size_t i = 0; i < length; ++i) {
    ValueSums value{.record = Total(plain, i), .is_alike = AreAlike(plain, i)};
    for (const std::vector<ValueRecords>& ranks : moved) {
      const ValueRecord noisy = Total(ranks, i);
      value.sum_limit = std::max(value.sum_limit, kRoundingMultiple * std::abs(noisy.sum - value.record.sum));
      value.squares_limit =
          std::max(value.squares_limit, kRoundingMultiple * std::abs(noisy.squares - value.record.squares));
    }
    // Errors of elements that are independent add up as a random walk does.
    const double unit = UnitOf(value.record.element);
    const double count = std::max<double>(1, static_cast<double>(value.record.count * plain.size()));
    value.sum_limit += 4 * unit * value.record.magnitudes / std::sqrt(count);
    value.squares_limit += 4 * unit * value.record.squares / std::sqrt(count);
    sums.push_back(value);
  }
  return sums;
}

OneRankValues::OneRankValues(const artifact::Program& program, std::vector<ValueSums> values) {
  for (ValueSums& value : values) {
    if (!value.record.has_values()) continue;
    const uint64_t count = value.record.count;
    std::string location;
    if (value.record.kind != RecordKind::kInput)
      location = artifact::LocationOf(program, artifact::InstructionAt(program, value.record.instruction));
    known_.emplace(count, Known{std::move(value), std::move(location)});
  }
}

OneRankValues::Match OneRankValues::Compare(const ValueSums& value, const ValueSums& known, uint64_t parts,
                                            uint64_t shards) {
  Match match = Match::kUnknown;
  for (uint64_t copies = 1; copies <= parts / shards; ++copies) {
    if ((parts / shards) % copies != 0) continue;
    const auto number = static_cast<double>(copies);
    const double sum = value.record.sum / number, sum_limit = known.sum_limit + value.sum_limit / number;
    if (!IsWithin(sum, known.record.sum, sum_limit)) continue;
    if (copies * shards == parts) {
      const double squares_limit = known.squares_limit + value.squares_limit / number;
      if (IsWithin(value.record.squares / number, known.record.squares, squares_limit)) return Match::kEqual;
    } else if (!value.is_alike && std::abs(known.record.sum) > kSignificant * sum_limit) {
      match = Match::kSummands;  // whose squares are not those of the sum
    }
  }
  return match;
}

OneRankValues::Match OneRankValues::Find(const ValueSums& value, const std::string& location, uint64_t parts) const {
  Match match = Match::kUnknown;
  for (uint64_t shards = 1; shards <= parts; ++shards) {
    if (parts % shards != 0) continue;
    const uint64_t most = value.record.count * shards;
    const auto end = known_.upper_bound(most);
    // A whole has no padding.
    const uint64_t least = shards == 1 ? most : most - value.record.count + 1;
    for (auto one = known_.lower_bound(least); one != end; ++one) {
      const bool is_of_line = one->second.location == location;
      if (!is_of_line && !IsTelling(value, shards)) continue;
      const Match found = Compare(value, one->second.sums, parts, shards);
      if (found == Match::kEqual) return found;
      if (found == Match::kSummands) match = found;
      const bool is_like = is_of_line && one->second.sums.record.element == value.record.element;
      if (is_like && match == Match::kUnknown) match = Match::kDiffers;
    }
  }
  return match;
}

}  // namespace sgd::guard
