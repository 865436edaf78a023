// The options of one compilation, and the parsers of their values on the command line.
#ifndef SGD_COMPILER_OPTIONS_H
#define SGD_COMPILER_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd {

/// A level of IR that can be printed instead of, or besides, writing an artifact.
enum class EmitLevel {
  Graph,    ///< after import: global shapes, shardings on arguments and constraints
  Sharded,  ///< after propagation: a sharding in every tensor type
  Spmd,     ///< after localisation and collective optimisation: local shapes
  Kernels,  ///< after clustering and ordering
  Plan      ///< instructions over buffers with offsets
};

struct MeshAxisSize {
  std::string name;
  int64_t size = 0;
};

/// The most parts of a batch that a sequential axis may have.
inline constexpr int64_t kMostParts = int64_t{1} << 20;

struct CompileOptions {
  std::string recipeFile;                  ///< what messages call the recipe; empty: there is none
  std::string recipe;                      ///< its text, see compiler/recipe/recipe.h
  std::vector<MeshAxisSize> mesh;          ///< new sizes of the model's own axes; axes not named keep theirs
  std::optional<MeshAxisSize> sequential;  ///< an axis of iterations; a recipe's comes after that of `--micro`
  std::vector<MeshAxisSize> bindings;      ///< sgd::ImportOptions::bindings
  bool refuseSplit = false;                ///< refuse what takes the memory of the whole batch under `sequential`
  std::string target = "cpu";              ///< or `cuda:` and architectures with commas between, e.g. cuda:sm_80,sm_90
  std::string cpu = "native";              ///< native, x86-64-v3 or x86-64-v4
  std::optional<EmitLevel> emit;
  bool emitsStablehlo = false;  ///< the text of `emit`, which is Spmd, is StableHLO
  std::string loss;  ///< the result that is the loss; empty: as the recipe or the program says, or by inferLoss
  bool emitsRequest = false;            ///< the text of `emit`, or of the programs as imported, can be replayed
  bool writeArtifact = true;            ///< false stops after the emitted level
  bool isForSimulation = false;         ///< the artifact has no code
  bool omitsDescription = false;        ///< no explanation and records; of the report, memory and counts alone
  std::optional<uint64_t> memoryLimit;  ///< bytes per rank
  std::string topology;                 ///< a file, or the name of one built in; empty: the target's
  std::optional<uint64_t> tileScratch;  ///< bytes per thread for what is computed in tiles; 0: nothing is
  std::optional<int64_t> unrolledOps;   ///< sgd::ImportOptions::unrolledOps
  bool shardUpdates = true;             ///< where that is faster; see sgd-shard-updates
  bool weighConstraints = false;        ///< may drop constraints inside programs; see sgd-choose-shardings
  bool allowTf32 = false;               ///< sgd::ImportOptions::allowTf32
  bool keepUnreduced = false;           ///< sgd::ImportOptions::keepUnreduced, and of programs of other frontends
  unsigned threads = 0;                 ///< for kernel compilation; 0 = one per core
};

/// `data=4,model=2`. The error says which part is wrong: a missing `=`, an empty or repeated name, a size that is not a
/// positive integer.
llvm::Expected<std::vector<MeshAxisSize>> parseMesh(llvm::StringRef text);

/// `batch=32,sequence=128`, of sizes that a model leaves open; errors as of parseMesh.
llvm::Expected<std::vector<MeshAxisSize>> parseBindings(llvm::StringRef text);

/// `graph`, `sharded`, `spmd`, `kernels` or `plan`.
llvm::Expected<EmitLevel> parseEmitLevel(llvm::StringRef text);

/// Sets what `--emit=text` asks for: a level, or `stablehlo`, which is the SPMD level in ops of StableHLO.
llvm::Error parseEmit(llvm::StringRef text, CompileOptions& options);

/// A number of bytes with an optional unit: `1048576`, `512MiB`, `80GiB`, `1.5GB`.
llvm::Expected<uint64_t> parseByteSize(llvm::StringRef text);

/// Accepts `native`, `x86-64-v3` and `x86-64-v4`.
llvm::Error checkCpu(llvm::StringRef cpu);

}  // namespace mlir::sgd

#endif
