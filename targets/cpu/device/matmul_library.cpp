// Assumes that each call into the library runs on the calling thread alone: Debian's build uses
// OpenMP, whose number of threads is set to one on every thread that gets here.
#include "targets/cpu/device/matmul_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "targets/cpu/device/matmul_loops.h"

namespace sgd::cpu {
namespace {

using artifact::Epilogue;

// The number of threads is a property of each thread in OpenMP. Looked up, since no header of
// Debian's libgomp comes with clang.
void UseOneOpenMpThread() {
  static const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  static thread_local bool done = false;
  if (done || set_threads == nullptr) return;
  set_threads(1);
  done = true;
}

using Extent = std::pair<uint64_t, uint64_t>;  // m, n of a tile

// A primitive and, per thread, the arguments whose addresses change from tile to tile.
struct Variant {
  dnnl::primitive primitive;
  struct Arguments {
    dnnl::memory a, b, c, bias, scratch;
    std::array<dnnl_exec_arg_t, 5> list;
    int count = 0;
  };
  std::vector<Arguments> threads;
};

dnnl::memory::desc DescOf(uint64_t rows, uint64_t columns, int64_t row_stride, int64_t column_stride) {
  return {{static_cast<int64_t>(rows), static_cast<int64_t>(columns)},
          dnnl::memory::data_type::f32,
          {row_stride, column_stride}};
}

class OneDnnMatmul final : public LibraryMatmul {
 public:
  explicit OneDnnMatmul(ThreadScratch& scratch) : scratch_(scratch), engine_(dnnl::engine::kind::cpu, 0) {
    for (uint32_t i = 0; i < scratch.threads(); ++i) streams_.emplace_back(engine_);
  }

  // False when the library would use its reference implementation. Throws dnnl::error.
  absl::StatusOr<bool> AddVariant(const MatmulProblem& problem, Extent extent) {
    const bool library_bias = problem.HasBias() && !problem.bias_per_row;
    const auto a = DescOf(extent.first, problem.k, problem.a.rows, problem.a.columns);
    const auto b = DescOf(problem.k, extent.second, problem.b.rows, problem.b.columns);
    const auto c = DescOf(extent.first, extent.second, problem.c.rows, problem.c.columns);
    const auto bias = DescOf(1, extent.second, static_cast<int64_t>(extent.second), 1);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (problem.epilogue == Epilogue::Accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attributes.set_post_ops(sum);
    }
    const auto desc = library_bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    const dnnl::matmul::primitive_desc chosen(desc, attributes, engine_);
    if (std::strstr(chosen.impl_info_str(), "ref") != nullptr) return false;

    is_lazy_ = is_lazy_ || std::strstr(chosen.impl_info_str(), "gemm") != nullptr;
    Variant& variant = variants_[extent];
    variant.primitive = dnnl::matmul(chosen);
    absl::Status reserved = scratch_.Reserve(chosen.scratchpad_desc().get_size());
    if (!reserved.ok()) return reserved;
    for (uint32_t i = 0; i < scratch_.threads(); ++i) {
      Variant::Arguments arguments{{a, engine_, nullptr}, {b, engine_, nullptr}, {c, engine_, nullptr}, {}, {}, {}, 0};
      arguments.scratch = dnnl::memory(chosen.scratchpad_desc(), engine_, nullptr);
      arguments.list = {{{DNNL_ARG_SRC, arguments.a.get()},
                         {DNNL_ARG_WEIGHTS, arguments.b.get()},
                         {DNNL_ARG_DST, arguments.c.get()},
                         {DNNL_ARG_SCRATCHPAD, arguments.scratch.get()},
                         {}}};
      arguments.count = 4;
      if (library_bias) {
        arguments.bias = dnnl::memory(bias, engine_, nullptr);
        arguments.list[4] = {DNNL_ARG_BIAS, arguments.bias.get()};
        arguments.count = 5;
      }
      variant.threads.push_back(std::move(arguments));
    }
    return true;
  }

  absl::Status RunTile(const MatmulProblem& problem, const Tile& tile, uint32_t thread) override {
    UseOneOpenMpThread();
    Variant& variant = variants_.find({tile.m, tile.n})->second;
    Variant::Arguments& arguments = variant.threads[thread];
    const auto point = [](const dnnl::memory& memory, const std::byte* address) {
      return dnnl_memory_set_data_handle(memory.get(), const_cast<std::byte*>(address));
    };
    dnnl_status_t status = point(arguments.a, tile.a);
    if (status == dnnl_success) status = point(arguments.b, tile.b);
    if (status == dnnl_success) status = point(arguments.c, tile.c);
    if (status == dnnl_success) status = point(arguments.scratch, scratch_.For(thread));
    if (status == dnnl_success && arguments.count == 5) status = point(arguments.bias, tile.bias);
    if (status == dnnl_success) {
      status = dnnl_primitive_execute(variant.primitive.get(), streams_[thread].get(), arguments.count,
                                      arguments.list.data());
    }
    if (status != dnnl_success) return absl::InternalError(absl::StrCat("oneDNN failed with status ", status));
    if (problem.bias_per_row) ApplyBias(problem, tile);
    // Not a post-op: the library's relu turns NaN into 0.
    if (problem.epilogue == Epilogue::BiasRelu) ApplyRelu(problem, tile);
    return absl::OkStatus();
  }

  bool is_lazy() const override { return is_lazy_; }

 private:
  bool is_lazy_ = false;
  ThreadScratch& scratch_;
  dnnl::engine engine_;
  std::vector<dnnl::stream> streams_;
  std::map<Extent, Variant> variants_;
};

std::vector<Extent> ExtentsOf(const MatmulProblem& problem, const TileGrid& grid) {
  const auto sides = [](uint64_t size, uint64_t tile) {
    std::vector<uint64_t> result;
    if (size >= tile) result.push_back(tile);
    if (size % tile != 0) result.push_back(size % tile);
    return result;
  };
  std::vector<Extent> extents;
  for (uint64_t m : sides(problem.m, grid.tile_m())) {
    for (uint64_t n : sides(problem.n, grid.tile_n())) extents.emplace_back(m, n);
  }
  return extents;
}

}  // namespace

void ThreadScratch::Free::operator()(std::byte* buffer) const { std::free(buffer); }

absl::Status ThreadScratch::Reserve(size_t bytes) {
  const size_t rounded = (bytes + 63) / 64 * 64;
  if (rounded <= bytes_) return absl::OkStatus();
  for (auto& buffer : buffers_) {
    buffer.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
    if (buffer == nullptr) {
      return absl::ResourceExhaustedError(absl::StrCat("cannot allocate ", rounded, " bytes of scratch memory"));
    }
  }
  bytes_ = rounded;
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LibraryMatmul>> LibraryMatmul::Create(const MatmulProblem& problem, const TileGrid& grid,
                                                                     ThreadScratch& scratch) {
  // A matrix has unit stride along one side; negative or zero strides and anything else is not the
  // library's.
  const auto is_plain = [](int64_t rows, int64_t columns, uint64_t row_count, uint64_t column_count) {
    return (columns == 1 && rows >= static_cast<int64_t>(column_count)) ||
           (rows == 1 && columns >= static_cast<int64_t>(row_count));
  };
  if (problem.element != artifact::ElementType::F32 || problem.k == 0 || problem.c.columns != 1 ||
      !is_plain(problem.a.rows, problem.a.columns, problem.m, problem.k) ||
      !is_plain(problem.b.rows, problem.b.columns, problem.k, problem.n)) {
    return nullptr;
  }
  try {
    UseOneOpenMpThread();
    auto matmul = std::make_unique<OneDnnMatmul>(scratch);
    for (const Extent& extent : ExtentsOf(problem, grid)) {
      absl::StatusOr<bool> added = matmul->AddVariant(problem, extent);
      if (!added.ok()) return added.status();
      if (!*added) return nullptr;
    }
    return matmul;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

std::string MatmulLibraryVersion() {
  const dnnl_version_t* version = dnnl_version();
  return absl::StrCat("oneDNN ", version->major, ".", version->minor, ".", version->patch, " ", version->hash);
}

void GenerateLazyCode() {
  // Not through a primitive, which for this shape would use other code than for larger ones.
  constexpr int64_t kSide = 64;
  const std::vector<float> zeros(kSide * kSide);
  std::vector<float> product(kSide * kSide);
  UseOneOpenMpThread();
  // An error is met again by whoever needs the library.
  dnnl_sgemm('N', 'N', kSide, kSide, kSide, 1.0f, zeros.data(), kSide, zeros.data(), kSide, 0.0f, product.data(),
             kSide);
}

absl::Status CapMatmulLibraryAtAvx2() {
  if (dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2) == dnnl::status::success) {
    return absl::OkStatus();
  }
  // The library refuses once it has been used; that is all right if it was capped then.
  const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
  if (isa == dnnl::cpu_isa::sse41 || isa == dnnl::cpu_isa::avx || isa == dnnl::cpu_isa::avx2) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "compiled for AVX2 at most, but this process has already run an artifact for a newer CPU");
}

}  // namespace sgd::cpu
