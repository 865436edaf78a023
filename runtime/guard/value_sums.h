// Whether a value that ranks hold in shards, replicas or summands is one that a single rank has computed. A plan does
// not say how its values within a step are sharded, so sums tell: of k different shards on R ranks, sums and sums of
// squares over all ranks are R / k times those of the whole, of summands the sums alone.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/artifact/program_generated.h"
#include "runtime/guard/value_record.h"

namespace sgd::guard {

// Of a value on all ranks together, with what rounding may change of them.
struct ValueSums {
  ValueRecord record;  // `count` is that of one rank
  double sum_limit = 0;
  double squares_limit = 0;
  bool is_alike = false;  // whether all ranks have the same sums, so that these are no summands
};

// The total of values of several executions.
ValueSums TotalOf(const ValueSums& a, const ValueSums& b);

// Records of the ranks that run one program, value by value: `plain` by rank, and `moved` by draw of noise, then by
// rank. As far as all of them have the same executions.
std::vector<ValueSums> SumsOf(std::span<const ValueRecords> plain, std::span<const std::vector<ValueRecords>> moved);

// The values of the step on one rank.
class OneRankValues {
 public:
  // Borrows the program.
  OneRankValues(const artifact::Program& program, std::vector<ValueSums> values);

  enum class Match : uint8_t {
    kEqual,     // one of them is it
    kSummands,  // the ranks' parts add up to one of them
    kDiffers,   // none is, but instructions of the same source line have some of its size
    kUnknown,   // none is, and none might be: the plans fuse or split differently
  };
  // `value` is the total of `parts`: those of the ranks that run `location`, or of several executions on them.
  Match Find(const ValueSums& value, const std::string& location, uint64_t parts) const;

 private:
  struct Known {
    ValueSums sums;
    std::string location;
  };
  static Match Compare(const ValueSums& value, const ValueSums& known, uint64_t parts, uint64_t shards);

  std::multimap<uint64_t, Known> known_;  // by count
};

}  // namespace sgd::guard
