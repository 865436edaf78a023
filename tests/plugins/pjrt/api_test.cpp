// The plugin by its C API, as frameworks call it: every entry, programs on one and two devices, donation, and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "plugins/pjrt/errors.h"
#include "plugins/pjrt/wire.h"

extern "C" const PJRT_Api* GetPjrtApi();

namespace sgd::pjrt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const PJRT_Api& Api() { return *GetPjrtApi(); }

template <typename Args>
Args New() {
  Args args = {};
  args.struct_size = sizeof(Args);
  return args;
}

std::string MessageOf(PJRT_Error* error) {
  if (error == nullptr) return "";
  auto message = New<PJRT_Error_Message_Args>();
  message.error = error;
  Api().PJRT_Error_Message(&message);
  std::string text(message.message, message.message_size);
  auto destroy = New<PJRT_Error_Destroy_Args>();
  destroy.error = error;
  Api().PJRT_Error_Destroy(&destroy);
  return text;
}

// Two devices, two partitions by default.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("SGD_NUM_DEVICES", "2", 1);
    auto args = New<PJRT_Client_Create_Args>();
    ASSERT_EQ(MessageOf(Api().PJRT_Client_Create(&args)), "");
    client_ = args.client;
    auto devices = New<PJRT_Client_Devices_Args>();
    devices.client = client_;
    ASSERT_EQ(MessageOf(Api().PJRT_Client_Devices(&devices)), "");
    ASSERT_EQ(devices.num_devices, 2u);
    devices_.assign(devices.devices, devices.devices + 2);
  }
  void TearDown() override {
    for (PJRT_Buffer* buffer : buffers_) {
      auto args = New<PJRT_Buffer_Destroy_Args>();
      args.buffer = buffer;
      EXPECT_EQ(MessageOf(Api().PJRT_Buffer_Destroy(&args)), "");
    }
    for (PJRT_LoadedExecutable* executable : executables_) {
      auto args = New<PJRT_LoadedExecutable_Destroy_Args>();
      args.executable = executable;
      EXPECT_EQ(MessageOf(Api().PJRT_LoadedExecutable_Destroy(&args)), "");
    }
    auto args = New<PJRT_Client_Destroy_Args>();
    args.client = client_;
    EXPECT_EQ(MessageOf(Api().PJRT_Client_Destroy(&args)), "");
  }

  // `more` are further fields of the options.
  std::string Compile(std::string text, uint64_t partitions, PJRT_LoadedExecutable*& executable,
                      const std::string& more = "") {
    std::string build, options = more;
    WriteInteger(build, 4, 1);
    WriteInteger(build, 5, partitions);
    WriteBytes(options, 3, build);
    PJRT_Program program = {};
    program.struct_size = sizeof(program);
    program.code = text.data();
    program.code_size = text.size();
    program.format = "mlir";
    program.format_size = 4;
    auto args = New<PJRT_Client_Compile_Args>();
    args.client = client_;
    args.program = &program;
    args.compile_options = options.data();
    args.compile_options_size = options.size();
    const std::string message = MessageOf(Api().PJRT_Client_Compile(&args));
    if (message.empty()) executables_.push_back(executable = args.executable);
    return message;
  }

  PJRT_Buffer* Put(const std::vector<float>& values, size_t device = 0) {
    const auto size = static_cast<int64_t>(values.size());
    auto args = New<PJRT_Client_BufferFromHostBuffer_Args>();
    args.client = client_;
    args.data = values.data();
    args.type = PJRT_Buffer_Type_F32;
    args.dims = &size;
    args.num_dims = 1;
    args.device = devices_[device];
    EXPECT_EQ(MessageOf(Api().PJRT_Client_BufferFromHostBuffer(&args)), "");
    Destroy(args.done_with_host_buffer);
    buffers_.push_back(args.buffer);
    return args.buffer;
  }

  std::vector<float> Get(PJRT_Buffer* buffer) {
    auto args = New<PJRT_Buffer_ToHostBuffer_Args>();
    args.src = buffer;
    EXPECT_EQ(MessageOf(Api().PJRT_Buffer_ToHostBuffer(&args)), "");
    std::vector<float> values(args.dst_size / sizeof(float));
    args.dst = values.data();
    EXPECT_EQ(MessageOf(Api().PJRT_Buffer_ToHostBuffer(&args)), "");
    Destroy(args.event);
    return values;
  }

  // One result for each device.
  std::string Execute(PJRT_LoadedExecutable* executable, const std::vector<std::vector<PJRT_Buffer*>>& arguments,
                      std::vector<PJRT_Buffer*>& results) {
    std::vector<PJRT_Buffer* const*> lists;
    for (const auto& list : arguments) lists.push_back(list.data());
    results.assign(arguments.size(), nullptr);
    std::vector<PJRT_Buffer**> outputs;
    for (PJRT_Buffer*& result : results) outputs.push_back(&result);
    PJRT_ExecuteOptions options = {};
    options.struct_size = sizeof(options);
    auto args = New<PJRT_LoadedExecutable_Execute_Args>();
    args.executable = executable;
    args.options = &options;
    args.argument_lists = lists.data();
    args.num_devices = arguments.size();
    args.num_args = arguments[0].size();
    args.output_lists = outputs.data();
    const std::string message = MessageOf(Api().PJRT_LoadedExecutable_Execute(&args));
    if (message.empty()) buffers_.insert(buffers_.end(), results.begin(), results.end());
    return message;
  }

  // The text of PJRT_Executable_OptimizedProgram, which is asked for twice.
  std::string OptimizedProgram(PJRT_LoadedExecutable* loaded) {
    auto get = New<PJRT_LoadedExecutable_GetExecutable_Args>();
    get.loaded_executable = loaded;
    EXPECT_EQ(MessageOf(Api().PJRT_LoadedExecutable_GetExecutable(&get)), "");
    PJRT_Program program = {};
    program.struct_size = sizeof(program);
    auto args = New<PJRT_Executable_OptimizedProgram_Args>();
    args.executable = get.executable;
    args.program = &program;
    EXPECT_EQ(MessageOf(Api().PJRT_Executable_OptimizedProgram(&args)), "");
    EXPECT_EQ(std::string(program.format, program.format_size), "mlir");
    std::string text(program.code_size, ' ');
    program.code = text.data();
    EXPECT_EQ(MessageOf(Api().PJRT_Executable_OptimizedProgram(&args)), "");
    auto destroy = New<PJRT_Executable_Destroy_Args>();
    destroy.executable = get.executable;
    EXPECT_EQ(MessageOf(Api().PJRT_Executable_Destroy(&destroy)), "");
    return text;
  }

  static void Destroy(PJRT_Event* event) {
    auto args = New<PJRT_Event_Destroy_Args>();
    args.event = event;
    EXPECT_EQ(MessageOf(Api().PJRT_Event_Destroy(&args)), "");
  }

  PJRT_Client* client_ = nullptr;
  std::vector<PJRT_Device*> devices_;
  std::vector<PJRT_Buffer*> buffers_;
  std::vector<PJRT_LoadedExecutable*> executables_;
};

constexpr char kAdd[] = R"(
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  })";

// The sum over both shards, on both devices.
constexpr char kSum[] = R"(
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = stablehlo.add %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  })";

// A null entry would end the process of a caller.
TEST(ApiTableTest, EveryEntryIsSet) {
  const auto* entry = reinterpret_cast<void* const*>(&Api().PJRT_Error_Destroy);
  const auto* end = reinterpret_cast<void* const*>(reinterpret_cast<const std::byte*>(&Api()) + Api().struct_size);
  for (; entry != end; ++entry) EXPECT_NE(*entry, nullptr);
}

TEST(ApiTableTest, MissingFunctionsAreNamed) {
  auto args = New<PJRT_Client_DmaMap_Args>();
  EXPECT_EQ(MessageOf(Api().PJRT_Client_DmaMap(&args)), "PJRT_Client_DmaMap is not supported by the sgd plugin");
}

TEST_F(ApiTest, RunsOnOneDevice) {
  PJRT_LoadedExecutable* add = nullptr;
  ASSERT_EQ(Compile(kAdd, 1, add), "");
  std::vector<PJRT_Buffer*> first, second;
  ASSERT_EQ(Execute(add, {{Put({1, 2, 3, 4}), Put({10, 20, 30, 40})}}, first), "");
  ASSERT_EQ(Execute(add, {{first[0], Put({1, 1, 1, 1})}}, second), "");
  EXPECT_THAT(Get(first[0]), ElementsAre(11, 22, 33, 44));
  EXPECT_THAT(Get(second[0]), ElementsAre(12, 23, 34, 45));
}

// Programs of one process keep their own kernels.
TEST_F(ApiTest, SeveralProgramsAreLoaded) {
  std::string subtract = kAdd;
  subtract.replace(subtract.find("stablehlo.add"), 13, "stablehlo.subtract");
  PJRT_LoadedExecutable *add = nullptr, *minus = nullptr;
  ASSERT_EQ(Compile(kAdd, 1, add), "");
  ASSERT_EQ(Compile(subtract, 1, minus), "");
  std::vector<PJRT_Buffer*> sum, difference;
  ASSERT_EQ(Execute(add, {{Put({1, 2, 3, 4}), Put({1, 1, 1, 1})}}, sum), "");
  ASSERT_EQ(Execute(minus, {{Put({1, 2, 3, 4}), Put({1, 1, 1, 1})}}, difference), "");
  EXPECT_THAT(Get(sum[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Get(difference[0]), ElementsAre(0, 1, 2, 3));
}

TEST_F(ApiTest, RunsOnTwoDevices) {
  PJRT_LoadedExecutable* sum = nullptr;
  ASSERT_EQ(Compile(kSum, 2, sum), "");
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Execute(sum, {{Put({1, 2, 3, 4}, 0)}, {Put({5, 6, 7, 8}, 1)}}, results), "");
  for (PJRT_Buffer* result : results) EXPECT_THAT(Get(result), ElementsAre(2, 4, 6, 8, 10, 12, 14, 16));
}

// A result of a megabyte stays in the program's memory until that runs again.
TEST_F(ApiTest, ResultsOutliveTheNextRun) {
  constexpr char kText[] = R"(
    func.func public @main(%a: tensor<262144xf32>) -> tensor<262144xf32> {
      %0 = stablehlo.add %a, %a : tensor<262144xf32>
      return %0 : tensor<262144xf32>
    })";
  PJRT_LoadedExecutable* twice = nullptr;
  ASSERT_EQ(Compile(kText, 1, twice), "");
  std::vector<PJRT_Buffer*> results, next;
  ASSERT_EQ(Execute(twice, {{Put(std::vector<float>(262144, 1))}}, results), "");
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(Execute(twice, {{results[0]}}, next), "");
    EXPECT_EQ(Get(results[0])[262143], float(2 << i));
    results = next;
  }
  EXPECT_EQ(Get(results[0])[0], 16);
}

TEST_F(ApiTest, ErrorsAreReturned) {
  PJRT_LoadedExecutable* executable = nullptr;
  EXPECT_THAT(Compile("no program", 1, executable), HasSubstr("error"));
  EXPECT_THAT(Compile("ML\xefR bytecode", 1, executable), HasSubstr("no reader is registered"));
  EXPECT_THAT(Compile(kSum, 4, executable), HasSubstr("device 2"));
  ASSERT_EQ(Compile(kAdd, 1, executable), "");
  std::vector<PJRT_Buffer*> results;
  EXPECT_THAT(Execute(executable, {{Put({1, 2, 3, 4})}}, results), HasSubstr("2 arguments, and is given 1"));
  EXPECT_THAT(Execute(executable, {{Put({1, 2, 3, 4}), Put({1, 2})}}, results),
              HasSubstr("argument 1: it has 8 bytes"));
  PJRT_Buffer* deleted = Put({1, 2, 3, 4});
  auto args = New<PJRT_Buffer_Delete_Args>();
  args.buffer = deleted;
  EXPECT_EQ(MessageOf(Api().PJRT_Buffer_Delete(&args)), "");
  EXPECT_THAT(Execute(executable, {{Put({1, 2, 3, 4}), deleted}}, results), HasSubstr("deleted or donated"));
  ASSERT_EQ(Execute(executable, {{Put({1, 2, 3, 4}), Put({1, 1, 1, 1})}}, results), "");
  EXPECT_THAT(Get(results[0]), ElementsAre(2, 3, 4, 5));
}

TEST_F(ApiTest, PartitionedProgramsAreShown) {
  PJRT_LoadedExecutable* sum = nullptr;
  ASSERT_EQ(Compile(kSum, 2, sum), "");
  const std::string text = OptimizedProgram(sum);
  EXPECT_THAT(text, HasSubstr("mhlo.num_partitions = 2"));
  EXPECT_THAT(text, HasSubstr("func.func @main(%arg0: tensor<4xf32>"));
  EXPECT_THAT(text, HasSubstr("stablehlo.all_gather"));
}

// An entry of xla.CompileOptionsProto.env_option_overrides; `field` is that of the value's type.
std::string Override(const std::string& key, uint32_t field, const std::string& value) {
  std::string held, entry, options;
  if (field == 1)
    WriteBytes(held, field, value);
  else
    WriteInteger(held, field, std::stoull(value));
  WriteBytes(entry, 1, key);
  WriteBytes(entry, 2, held);
  WriteBytes(options, 7, entry);
  return options;
}

TEST_F(ApiTest, OptionsOfXlaAreKnownByNameAndType) {
  constexpr uint32_t kText = 1, kBool = 2, kInteger = 3;
  PJRT_LoadedExecutable* add = nullptr;
  EXPECT_EQ(
      Compile(kAdd, 1, add,
              Override("xla_embed_ir_in_executable", kBool, "1") +
                  Override("xla_dump_max_hlo_modules", kInteger, "200") + Override("xla_dump_to", kText, "folder") +
                  Override("xla_cpu_enable_fast_math", kText, "false")),
      "");
  EXPECT_THAT(Compile(kAdd, 1, add, Override("invalid_key", kText, "x")),
              HasSubstr("No such compile option: 'invalid_key'"));
  EXPECT_THAT(Compile(kAdd, 1, add, Override("xla_embed_ir", kBool, "1")),
              HasSubstr("No such compile option: 'xla_embed_ir'"));
  EXPECT_EQ(Compile(kAdd, 1, add, Override("xla_embed_ir_in_executable", kText, "maybe")),
            "While setting option xla_embed_ir_in_executable, 'maybe' is not a valid bool value.");
  EXPECT_EQ(Compile(kAdd, 1, add, Override("xla_dump_max_hlo_modules", kBool, "1")),
            "While setting option xla_dump_max_hlo_modules, '1' is not a valid int64 value.");
}

TEST_F(ApiTest, ExecutablesAreSerialized) {
  PJRT_LoadedExecutable* add = nullptr;
  ASSERT_EQ(Compile(kAdd, 1, add), "");
  auto get = New<PJRT_LoadedExecutable_GetExecutable_Args>();
  get.loaded_executable = add;
  ASSERT_EQ(MessageOf(Api().PJRT_LoadedExecutable_GetExecutable(&get)), "");
  auto serialize = New<PJRT_Executable_Serialize_Args>();
  serialize.executable = get.executable;
  ASSERT_EQ(MessageOf(Api().PJRT_Executable_Serialize(&serialize)), "");
  const std::string bytes(serialize.serialized_bytes, serialize.serialized_bytes_size);
  serialize.serialized_executable_deleter(serialize.serialized_executable);
  auto destroy = New<PJRT_Executable_Destroy_Args>();
  destroy.executable = get.executable;
  ASSERT_EQ(MessageOf(Api().PJRT_Executable_Destroy(&destroy)), "");

  auto load = New<PJRT_Executable_DeserializeAndLoad_Args>();
  load.client = client_;
  load.serialized_executable = bytes.data();
  load.serialized_executable_size = bytes.size();
  ASSERT_EQ(MessageOf(Api().PJRT_Executable_DeserializeAndLoad(&load)), "");
  executables_.push_back(load.loaded_executable);
  std::vector<PJRT_Buffer*> results;
  ASSERT_EQ(Execute(load.loaded_executable, {{Put({1, 2, 3, 4}), Put({1, 1, 1, 1})}}, results), "");
  EXPECT_THAT(Get(results[0]), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(OptimizedProgram(load.loaded_executable), HasSubstr("stablehlo.add %arg0, %arg1 : tensor<4xf32>"));
  load.serialized_executable_size = bytes.size() / 2;
  EXPECT_THAT(MessageOf(Api().PJRT_Executable_DeserializeAndLoad(&load)), HasSubstr("compile the program anew"));
}

}  // namespace
}  // namespace sgd::pjrt
