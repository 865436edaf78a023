// Executables: a compiled program, its devices, and what frameworks ask of it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "plugins/pjrt/client.h"
#include "plugins/pjrt/compile.h"
#include "plugins/pjrt/compile_options.h"
#include "plugins/pjrt/layouts_extension.h"
#include "plugins/pjrt/program.h"
#include "plugins/pjrt/program_text.h"

namespace sgd::pjrt {

// The contents of a serialized executable.
struct Compiled {
  std::string name;
  std::string options_proto;
  std::vector<std::string> argument_types, result_types;
  std::vector<bool> is_donated;
  std::vector<std::string> argument_memories, result_memories;  // as of ProgramText
  std::shared_ptr<const CompiledText> text;
};

// Kinds of memories, in arrays as the C API returns them.
struct MemoryKinds {
  std::vector<size_t> kinds;  // positions in kMemoryKinds
  std::vector<const char*> names;
  std::vector<size_t> sizes;
  // InvalidArgument for an unknown kind; an empty name is the default one.
  absl::Status Add(std::string_view name);
};

// Results as the framework sees them, in arrays as the C API returns them.
struct Results {
  std::vector<PJRT_Buffer_Type> types;
  std::vector<std::vector<int64_t>> dims;  // global
  std::vector<std::vector<int64_t>> local_dims;
  std::vector<int64_t> flat_dims;
  std::vector<size_t> ranks;
  MemoryKinds memories;
};

// Serialized shardings, in arrays as the C API returns them.
struct Shardings {
  std::vector<std::string> protos;
  std::vector<const char*> pointers;
  std::vector<size_t> sizes;
  absl::Status Add(const std::vector<data::Shard>& shards);
  void AddReplicated();
  void Finish();
};

// Row-major layouts of arrays, and pointers to them.
struct Layouts {
  std::vector<std::unique_ptr<PJRT_Layouts_MemoryLayout>> layouts;
  std::vector<PJRT_Layouts_MemoryLayout*> pointers;
  void Add(size_t dims);
};

// The layout of a row-major array, as XLA writes it.
std::string RowMajorText(size_t dims);

// The partitioned program as StableHLO, made when somebody asks for it.
struct PartitionedText {
  std::mutex mutex;
  std::optional<std::string> text;
};

struct Executable {
  Compiled compiled;
  std::string target;  // as CompileText takes it
  mutable PartitionedText partitioned;
  CompileOptions options;
  std::string serialized;  // of Serialize
  std::string fingerprint;
  Results results;
  Shardings parameter_shardings, output_shardings;
  Layouts output_layouts, parameter_layouts;
  MemoryKinds parameter_memories;
  std::vector<PJRT_NamedValue> costs;
  // By argument its input, and by result its output, of the compiled program; none of a token, which has no value.
  std::vector<std::optional<size_t>> inputs, outputs;

  size_t parameters() const { return parameter_shardings.protos.size(); }
};

}  // namespace sgd::pjrt

struct PJRT_Executable {
  std::shared_ptr<const sgd::pjrt::Executable> executable;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::shared_ptr<const sgd::pjrt::Executable> executable;
  std::shared_ptr<sgd::pjrt::Program> program;  // null once deleted
  std::vector<PJRT_Device*> devices;            // by partition
  // Of these, the ones of this process, with their partitions.
  std::vector<PJRT_Device*> addressable;
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
};

namespace sgd::pjrt {

// Compiles and loads a program. Errors are those of the options, the compiler and the runtime.
absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> CompileAndLoad(PJRT_Client& client, const PJRT_Program& program,
                                                                      std::string_view options);

// Opens what has been compiled. Takes the lock of RankPools.
absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> Load(PJRT_Client& client, Compiled compiled);

// The inverse of each other. InvalidArgument for bytes that are none of Serialize, or of another version.
std::string Serialize(const Compiled& compiled);
absl::StatusOr<Compiled> Deserialize(std::string_view bytes);

absl::Status Execute(PJRT_LoadedExecutable_Execute_Args& args);

// Fills the entries of the API that concern executables.
void AddExecutableEntries(PJRT_Api& api);

}  // namespace sgd::pjrt
