// Positions of a result become rows: of `inner` elements each where the step is not 1, else joined.
#include "runtime/comm/one_host/range_plan.h"

#include <algorithm>

namespace sgd::comm {
namespace {

MemberCopy PlanCopy(const CollectiveOperand& operand, int64_t start, uint64_t tile, const ResultSpan& span) {
  const TileRange& range = operand.range;
  const uint64_t row = operand.inner * ElementSize(operand.element);
  const uint64_t first =
      static_cast<uint64_t>(start + static_cast<int64_t>(span.begin * range.step)) - tile * range.tile;
  MemberCopy member;
  member.position = static_cast<uint32_t>(tile);
  member.read_offset = first * row;
  member.write_offset = span.begin * row;
  StridedCopy& copy = member.copy;
  if (range.step == 1) {
    copy.rows = operand.outer;
    copy.source_row_stride = range.tile * row;
    copy.target_row_stride = range.length * row;
    copy.row_bytes = span.size() * row;
  } else {
    copy.blocks = operand.outer;
    copy.source_block_stride = range.tile * row;
    copy.target_block_stride = range.length * row;
    copy.rows = span.size();
    copy.source_row_stride = range.step * row;
    copy.target_row_stride = row;
    copy.row_bytes = row;
  }
  return member;
}

}  // namespace

RangePlan PlanRange(const CollectiveOperand& operand, uint64_t result, uint32_t position) {
  const TileRange& range = operand.range;
  const int64_t start = range.Start(result);
  RangePlan plan;
  // Nothing is moved of rows without elements, of which there may be any number.
  if (operand.outer == 0 || operand.inner == 0) return plan;
  ForEachTile(range, start, [&](uint64_t tile, const ResultSpan& span) {
    plan.copies.push_back(PlanCopy(operand, start, tile, span));
  });
  const auto own = std::find_if(plan.copies.begin(), plan.copies.end(),
                                [&](const MemberCopy& copy) { return copy.position >= position; });
  std::rotate(plan.copies.begin(), own, plan.copies.end());
  const ResultSpan inside = SpanWithin(range, start, 0, static_cast<int64_t>(range.size));
  const uint64_t row = operand.inner * ElementSize(operand.element);
  for (const ResultSpan& span : {ResultSpan{0, inside.begin}, ResultSpan{inside.end, range.length}}) {
    if (span.size() > 0) plan.zeros.push_back({span.begin * row, operand.outer, range.length * row, span.size() * row});
  }
  return plan;
}

std::vector<uint32_t> RangeSenders(const CollectiveOperand& operand, uint64_t result) {
  std::vector<uint32_t> senders;
  ForEachTile(operand.range, operand.range.Start(result),
              [&](uint64_t tile, const ResultSpan&) { senders.push_back(static_cast<uint32_t>(tile)); });
  return senders;
}

}  // namespace sgd::comm
