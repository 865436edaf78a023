// oneDNN, whose Debian build takes its threads from OpenMP.
#include <dlfcn.h>

#include <cstring>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/bench/matmul_peer.h"

namespace sgd::bench {
namespace {

dnnl::memory::dims DimsOf(const artifact::MatmulT& matmul, uint64_t rows, uint64_t columns) {
  dnnl::memory::dims dims(matmul.batch_dims.begin(), matmul.batch_dims.end());
  dims.push_back(static_cast<int64_t>(rows));
  dims.push_back(static_cast<int64_t>(columns));
  return dims;
}

dnnl::memory::desc DescOf(const artifact::MatmulT& matmul, uint64_t rows, uint64_t columns,
                          const std::vector<int64_t>& batch, int64_t row_stride, int64_t column_stride) {
  dnnl::memory::dims strides(batch.begin(), batch.end());
  strides.push_back(row_stride);
  strides.push_back(column_stride);
  return {DimsOf(matmul, rows, columns), dnnl::memory::data_type::f32, strides};
}

struct Product {
  dnnl::engine engine;
  dnnl::stream stream;
  dnnl::matmul primitive;
  std::unordered_map<int, dnnl::memory> arguments;
};

std::function<void()> Make(const artifact::MatmulT& matmul, std::byte* base) {
  auto product = std::make_shared<Product>();
  product->engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
  product->stream = dnnl::stream(product->engine);
  const auto a = DescOf(matmul, matmul.m, matmul.k, matmul.a_batch, matmul.a_m, matmul.a_k);
  const auto b = DescOf(matmul, matmul.k, matmul.n, matmul.b_batch, matmul.b_k, matmul.b_n);
  const auto c = DescOf(matmul, matmul.m, matmul.n, matmul.c_batch, matmul.c_m, matmul.c_n);
  dnnl::primitive_attr attributes;
  if (matmul.epilogue == std::vector{artifact::EpilogueStep::Residual}) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  const auto memory = [&](const dnnl::memory::desc& desc, const artifact::Slice& slice) {
    return dnnl::memory(desc, product->engine, base + slice.offset());
  };
  product->arguments = {{DNNL_ARG_SRC, memory(a, *matmul.a)},
                        {DNNL_ARG_WEIGHTS, memory(b, *matmul.b)},
                        {DNNL_ARG_DST, memory(c, *matmul.c)}};
  auto desc = dnnl::matmul::desc(a, b, c);
  if (matmul.bias != nullptr) {
    dnnl::memory::dims ones(matmul.batch_dims.size() + 2, 1), strides(ones.size(), static_cast<int64_t>(matmul.n));
    ones.back() = static_cast<int64_t>(matmul.n);
    strides.back() = 1;
    const dnnl::memory::desc bias(ones, dnnl::memory::data_type::f32, strides);
    desc = dnnl::matmul::desc(a, b, bias, c);
    product->arguments[DNNL_ARG_BIAS] = memory(bias, *matmul.bias);
  }
  const dnnl::matmul::primitive_desc chosen(desc, attributes, product->engine);
  if (std::strstr(chosen.impl_info_str(), "ref") != nullptr) return {};  // a hundred times slower
  product->primitive = dnnl::matmul(chosen);
  return [product] { product->primitive.execute(product->stream, product->arguments); };
}

}  // namespace

std::function<void()> MakePeerMatmul(const artifact::MatmulT& matmul, std::byte* base, uint32_t threads) {
  if (matmul.element != artifact::ElementType::F32) return {};
  const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set_threads != nullptr) set_threads(static_cast<int>(threads));
  try {
    return Make(matmul, base);
  } catch (const dnnl::error&) {
    return {};
  }
}

}  // namespace sgd::bench
