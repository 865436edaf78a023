// The peer of host_collectives.cpp: all-reduces by gloo over TCP. usage: RANK=... WORLD_SIZE=... gloo_all_reduce
// INTERFACE FOLDER [KIB...], where all ranks share FOLDER, which is empty.
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int rank = std::atoi(std::getenv("RANK")), size = std::atoi(std::getenv("WORLD_SIZE"));
  gloo::transport::tcp::attr attributes;
  attributes.iface = argv[1];
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  gloo::rendezvous::FileStore store(argv[2]);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
  context->connectFullMesh(store, device);
  for (int argument = 3; argument < argc; ++argument) {
    const size_t kib = std::strtoull(argv[argument], nullptr, 10);
    std::vector<float> values(kib * 256, 1.0f);
    const int iterations = static_cast<int>(std::clamp<size_t>(40'000 / kib, 5, 200));
    std::vector<double> milliseconds;
    for (int i = 0; i < iterations + 2; ++i) {
      gloo::BarrierOptions barrier(context);
      gloo::barrier(barrier);
      const auto begin = std::chrono::steady_clock::now();
      gloo::AllreduceOptions options(context);
      options.setOutput(values.data(), values.size());
      options.setReduceFunction(static_cast<void (*)(void*, const void*, const void*, size_t)>(&gloo::sum<float>));
      gloo::allreduce(options);
      const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
      if (i >= 2) milliseconds.push_back(time.count());
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    if (rank == 0) {
      std::printf("all_reduce %zu %d %.3f %.3f\n", kib, size, milliseconds[0], milliseconds[milliseconds.size() / 2]);
      std::fflush(stdout);
    }
  }
}
