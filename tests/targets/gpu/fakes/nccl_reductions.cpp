// One loop per type.
#include "tests/targets/gpu/fakes/nccl_reductions.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "tests/targets/gpu/fakes/element_values.h"

namespace sgd::emulated {
namespace {

template <typename Sum>
Sum Combine(ncclRedOp_t reduce, Sum a, Sum b) {
  switch (reduce) {
    case ncclProd:
      return static_cast<Sum>(a * b);
    case ncclMax:
      return std::max(a, b);
    case ncclMin:
      return std::min(a, b);
    default:
      return static_cast<Sum>(a + b);
  }
}

// Element i of parts [begin, end): of the largest power of two below their number, and of the rest.
template <typename T>
auto Tree(const std::vector<std::vector<std::byte>>& parts, size_t begin, size_t end, uint64_t i, ncclRedOp_t reduce) {
  if (end - begin == 1) {
    T element;
    std::memcpy(&element, parts[begin].data() + i * sizeof(T), sizeof(T));
    return Load(element);
  }
  const size_t middle = begin + std::bit_ceil(end - begin) / 2;
  const auto left = Tree<T>(parts, begin, middle, i, reduce);
  return Combine(reduce, left, Tree<T>(parts, middle, end, i, reduce));
}

template <typename T>
void ReduceAs(const std::vector<std::vector<std::byte>>& parts, uint64_t count, ncclRedOp_t reduce, std::byte* target) {
  for (uint64_t i = 0; i < count; ++i) {
    const T element = Store<T>(Tree<T>(parts, 0, parts.size(), i, reduce));
    std::memcpy(target + i * sizeof(T), &element, sizeof(T));
  }
}

}  // namespace

void Reduce(ncclDataType_t type, const std::vector<std::vector<std::byte>>& parts, uint64_t count, ncclRedOp_t reduce,
            std::byte* target) {
  switch (type) {
    case ncclInt8:
      return ReduceAs<int8_t>(parts, count, reduce, target);
    case ncclUint8:
      return ReduceAs<uint8_t>(parts, count, reduce, target);
    case ncclInt32:
      return ReduceAs<int32_t>(parts, count, reduce, target);
    case ncclUint32:
      return ReduceAs<uint32_t>(parts, count, reduce, target);
    case ncclInt64:
      return ReduceAs<int64_t>(parts, count, reduce, target);
    case ncclUint64:
      return ReduceAs<uint64_t>(parts, count, reduce, target);
    case ncclFloat16:
      return ReduceAs<_Float16>(parts, count, reduce, target);
    case ncclBfloat16:
      return ReduceAs<Bf16>(parts, count, reduce, target);
    case ncclFloat32:
      return ReduceAs<float>(parts, count, reduce, target);
    case ncclFloat64:
      return ReduceAs<double>(parts, count, reduce, target);
    default:
      std::abort();
  }
}

uint64_t SizeOf(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

}  // namespace sgd::emulated
