// A map under a lock.
#include "targets/cpu/codegen/generator_pool.h"

#include <map>
#include <mutex>

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;

namespace {

/// A generator has a few hundred KiB; as many as threads compile at the same time are of use.
constexpr size_t kMostIdle = 8;

struct IdleGenerators {
  std::mutex mutex;
  std::multimap<std::string, std::unique_ptr<CodeGenerator>> generators;  // by what their machines depend on
};

/// Never destroyed: at the end of the process there is nothing to give back.
IdleGenerators& getIdle() {
  static auto& idle = *new IdleGenerators();
  return idle;
}

}  // namespace

PooledGenerator::PooledGenerator(const CpuTarget& target) : key(target.cpu + "," + std::to_string(target.vectorBits)) {
  {
    IdleGenerators& idle = getIdle();
    const std::lock_guard lock(idle.mutex);
    if (auto found = idle.generators.find(key); found != idle.generators.end()) {
      generator = std::move(found->second);
      idle.generators.erase(found);
      return;
    }
  }
  if (std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(target))
    generator = std::make_unique<CodeGenerator>(std::move(machine), llvm::CodeGenFileType::ObjectFile);
}

PooledGenerator::~PooledGenerator() {
  if (!generator) return;
  IdleGenerators& idle = getIdle();
  const std::lock_guard lock(idle.mutex);
  if (idle.generators.size() < kMostIdle) idle.generators.emplace(std::move(key), std::move(generator));
}
