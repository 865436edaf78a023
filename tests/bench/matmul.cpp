// Matmuls of the CPU device, beside oneDNN's where this was built with it: least times, in turn: of the
// processor with one thread, of the wall with more.
//
//     bench_matmul [--threads T] [--rounds R] [--only TEXT] [ARTIFACT...]
//
// The matmuls are those of the artifacts, with their strides and epilogues, or a list of common shapes. All are f32
// for the peer; other element types are measured alone.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "targets/cpu/device/cpu_device.h"
#include "tests/bench/matmul_peer.h"

namespace sgd::bench {
namespace {

using artifact::ElementType;
using artifact::MatmulT;
using artifact::Slice;
using artifact::Space;

struct Shape {
  std::vector<uint64_t> batch;
  uint64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  ElementType element = ElementType::F32;
  // Heads of attention are interleaved in rows of this many elements; 0: dense.
  uint64_t a_row = 0, b_row = 0, c_row = 0;
};

// Elements that a matrix with these strides reaches over, at least one.
uint64_t Reach(const std::vector<uint64_t>& sizes, const std::vector<int64_t>& strides) {
  uint64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * static_cast<uint64_t>(strides[i]);
  return last + 1;
}

std::vector<int64_t> BatchStrides(const Shape& shape, uint64_t rows, uint64_t columns, uint64_t row) {
  std::vector<int64_t> strides(shape.batch.size());
  uint64_t step = row == 0 ? rows * columns : columns;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step = row == 0 || i + 1 < strides.size() ? step * shape.batch[i] : rows * row;
  }
  return strides;
}

std::vector<uint64_t> Append(std::vector<uint64_t> sizes, uint64_t a, uint64_t b) {
  sizes.push_back(a), sizes.push_back(b);
  return sizes;
}
std::vector<int64_t> Append(std::vector<int64_t> strides, int64_t a, int64_t b) {
  strides.push_back(a), strides.push_back(b);
  return strides;
}

MatmulT MatmulOf(const Shape& shape) {
  MatmulT matmul;
  matmul.element = shape.element;
  matmul.batch_dims = shape.batch;
  matmul.m = shape.m, matmul.n = shape.n, matmul.k = shape.k;
  const auto lay = [&](uint64_t rows, uint64_t columns, bool transposed, uint64_t row, std::vector<int64_t>& batch,
                       int64_t& row_stride, int64_t& column_stride) {
    if (transposed) std::swap(rows, columns);
    batch = BatchStrides(shape, rows, columns, row);
    row_stride = static_cast<int64_t>(row == 0 ? columns : row);
    column_stride = 1;
    if (transposed) std::swap(row_stride, column_stride);
  };
  lay(shape.m, shape.k, shape.a_transposed, shape.a_row, matmul.a_batch, matmul.a_m, matmul.a_k);
  lay(shape.k, shape.n, shape.b_transposed, shape.b_row, matmul.b_batch, matmul.b_k, matmul.b_n);
  lay(shape.m, shape.n, false, shape.c_row, matmul.c_batch, matmul.c_m, matmul.c_n);
  return matmul;
}

// Gives every operand memory of its own; returns the bytes of all.
uint64_t Place(MatmulT& matmul) {
  const uint64_t size = artifact::ElementSize(matmul.element);
  uint64_t bytes = 0;
  const auto place = [&](std::unique_ptr<Slice>& slice, uint64_t elements) {
    slice = std::make_unique<Slice>(Space::Private, bytes, elements * size);
    bytes += (elements * size + 4095) / 4096 * 4096;
  };
  place(matmul.a, Reach(Append(matmul.batch_dims, matmul.m, matmul.k), Append(matmul.a_batch, matmul.a_m, matmul.a_k)));
  place(matmul.b, Reach(Append(matmul.batch_dims, matmul.k, matmul.n), Append(matmul.b_batch, matmul.b_k, matmul.b_n)));
  place(matmul.c, Reach(Append(matmul.batch_dims, matmul.m, matmul.n), Append(matmul.c_batch, matmul.c_m, matmul.c_n)));
  if (matmul.bias != nullptr) place(matmul.bias, matmul.n);
  matmul.workspace = nullptr;
  return bytes;
}

std::vector<MatmulT> CommonMatmuls() {
  std::vector<MatmulT> matmuls;
  for (auto [m, n, k] : {std::array<uint64_t, 3>{256, 2048, 784},
                         {256, 2048, 2048},
                         {2048, 2048, 256},
                         {784, 2048, 256},
                         {256, 10, 2048},
                         {256, 2048, 10},
                         {2048, 10, 256},
                         {2048, 384, 384},
                         {2048, 1536, 384},
                         {2048, 384, 1536},
                         {384, 1536, 2048},
                         {384, 384, 2048},
                         {1024, 384, 1536},
                         {128, 2048, 2048},
                         {512, 512, 512},
                         {1024, 1024, 1024},
                         {2048, 50257, 768},
                         {1, 1000, 1000},
                         {8, 4096, 4096},
                         {4096, 8, 4096}}) {
    for (bool a : {false, true}) {
      for (bool b : {false, true}) matmuls.push_back(MatmulOf({{}, m, n, k, a, b}));
    }
  }
  for (bool a : {false, true}) {
    for (bool b : {false, true}) {
      matmuls.push_back(MatmulOf({{48}, 256, 256, 64, a, b}));
      matmuls.push_back(MatmulOf({{48}, 256, 64, 256, a, b}));
      matmuls.push_back(MatmulOf({{96}, 64, 64, 64, a, b}));
      matmuls.push_back(MatmulOf({{96}, 197, 197, 64, a, b}));
      matmuls.push_back(MatmulOf({{96}, 197, 64, 197, a, b}));
    }
  }
  // Heads beside each other: scores, their matmul with the values, and both gradients.
  matmuls.push_back(MatmulOf({{8, 6}, 256, 256, 64, false, true, ElementType::F32, 384, 384, 0}));
  matmuls.push_back(MatmulOf({{8, 6}, 256, 64, 256, false, false, ElementType::F32, 0, 384, 384}));
  matmuls.push_back(MatmulOf({{8, 6}, 256, 64, 256, true, false, ElementType::F32, 0, 384, 384}));
  for (ElementType element : {ElementType::BF16, ElementType::F16, ElementType::F64, ElementType::I32}) {
    matmuls.push_back(MatmulOf({{}, 512, 512, 512, false, false, element}));
    matmuls.push_back(MatmulOf({{48}, 256, 64, 256, false, true, element}));
  }
  return matmuls;
}

std::string Describe(const MatmulT& matmul) {
  std::string text = artifact::ElementName(matmul.element);
  for (uint64_t dim : matmul.batch_dims) text += " " + std::to_string(dim) + "x";
  text += " " + std::to_string(matmul.m) + "x" + std::to_string(matmul.n) + "x" + std::to_string(matmul.k);
  text += std::string(" ") + (matmul.a_k == 1 ? "n" : "t") + (matmul.b_n == 1 ? "n" : "t");
  text += " a " + std::to_string(std::max(matmul.a_m, matmul.a_k)) + " b " +
          std::to_string(std::max(matmul.b_k, matmul.b_n)) + " c " + std::to_string(std::max(matmul.c_m, matmul.c_n));
  return text + " " + library::TextOf(artifact::EpilogueOf(matmul.epilogue));
}

// Every distinct matmul of the artifact, and how often a step runs it.
void Collect(const artifact::ArtifactFile& file, std::vector<MatmulT>& matmuls, std::map<std::string, int>& counts) {
  for (const artifact::Program* program : *file.root().programs()) {
    for (const artifact::Instruction* instruction : *program->instructions()) {
      const artifact::Matmul* matmul = instruction->op_as_Matmul();
      if (matmul == nullptr) continue;
      MatmulT copy;
      matmul->UnPackTo(&copy);
      if (counts[Describe(copy)]++ == 0) matmuls.push_back(std::move(copy));
    }
  }
}

double Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of the calling thread where it works alone: others may want its core.
double Seconds(const std::function<void()>& run, uint64_t times, uint32_t threads) {
  const clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const double start = Now(clock);
  for (uint64_t i = 0; i < times; ++i) run();
  return (Now(clock) - start) / static_cast<double>(times);
}

void Fill(std::byte* data, uint64_t bytes, ElementType element) {
  uint32_t state = 1;
  for (uint64_t i = 0; i < bytes / 4; ++i) {
    state = state * 1664525 + 1013904223;
    const float value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
    if (element == ElementType::F32) std::memcpy(data + 4 * i, &value, 4);
  }
}

struct Options {
  uint32_t threads = 1;
  int rounds = 5;
  std::string only;  // part of the description of what is measured
};

int Measure(const Options& options, device::Device& device, MatmulT matmul, int count, double (&sums)[2]) {
  const std::string text = Describe(matmul);
  const uint64_t bytes = Place(matmul);
  auto arena = device.Allocate(bytes);
  if (!arena.ok()) return std::fprintf(stderr, "%s\n", arena.status().ToString().c_str()), 1;
  Fill((*arena)->data(), bytes, matmul.element);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &matmul));
  auto node = device.PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()),
                                   {(*arena)->data(), nullptr, nullptr});
  if (!node.ok()) return std::fprintf(stderr, "%s\n", node.status().ToString().c_str()), 1;
  const std::function<void()> ours = [&] { (void)(*node)->Execute(); };
  const std::function<void()> peer = MakePeerMatmul(matmul, (*arena)->data(), options.threads);
  const double batches = static_cast<double>(
      std::accumulate(matmul.batch_dims.begin(), matmul.batch_dims.end(), uint64_t{1}, std::multiplies<>()));
  const double flops =
      2.0 * batches * static_cast<double>(matmul.m) * static_cast<double>(matmul.n) * static_cast<double>(matmul.k);
  const uint64_t times = std::clamp<uint64_t>(static_cast<uint64_t>(1e8 / flops), 1, 1000);
  double best[2] = {1e30, 1e30};
  for (int round = 0; round < options.rounds; ++round) {
    best[0] = std::min(best[0], Seconds(ours, times, options.threads));
    if (peer) best[1] = std::min(best[1], Seconds(peer, times, options.threads));
  }
  std::printf("%-64s x%-3d %9.1f us %7.1f GFLOP/s", text.c_str(), count, best[0] * 1e6, flops / best[0] * 1e-9);
  if (peer) {
    std::printf("   oneDNN %9.1f us %7.1f GFLOP/s  %.2f", best[1] * 1e6, flops / best[1] * 1e-9, best[0] / best[1]);
    sums[0] += best[0] * count, sums[1] += best[1] * count;
  }
  std::printf("\n");
  std::fflush(stdout);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  std::vector<MatmulT> matmuls;
  std::map<std::string, int> counts;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      options.threads = static_cast<uint32_t>(std::atoi(argv[++i]));
    } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      options.rounds = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) {
      options.only = argv[++i];
    } else {
      auto file = artifact::ArtifactFile::Open(argv[i]);
      if (!file.ok()) return std::fprintf(stderr, "%s\n", file.status().ToString().c_str()), 1;
      Collect(**file, matmuls, counts);
    }
  }
  if (counts.empty()) matmuls = CommonMatmuls();
  auto device = cpu::CpuDevice::Create({options.threads});
  if (!device.ok()) return std::fprintf(stderr, "%s\n", device.status().ToString().c_str()), 1;
  double sums[2] = {0, 0};
  for (MatmulT& matmul : matmuls) {
    if (Describe(matmul).find(options.only) == std::string::npos) continue;
    const int count = std::max(counts[Describe(matmul)], 1);
    if (int error = Measure(options, **device, std::move(matmul), count, sums); error != 0) return error;
  }
  if (sums[1] > 0) std::printf("sum %.2f ms, oneDNN %.2f ms, %.2f\n", sums[0] * 1e3, sums[1] * 1e3, sums[0] / sums[1]);
  return 0;
}

}  // namespace
}  // namespace sgd::bench

int main(int argc, char** argv) { return sgd::bench::Main(argc, argv); }
