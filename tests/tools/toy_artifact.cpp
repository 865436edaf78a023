// Builds the toy artifact from matmuls, fills and one all-reduce; it has no kernels.
#include "tests/tools/toy_artifact.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "runtime/artifact/bundle.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/writer.h"
#include "runtime/comm/collectives/sent_bytes.h"

namespace sgd {
namespace {

using namespace artifact;

constexpr uint64_t kRows = 8;
constexpr uint64_t kColumns = 4;
constexpr uint64_t kPrivateBytes = 4096;
constexpr uint64_t kWindowBytes = 4096;

const Slice kW(Space::Private, 0, 16);
const Slice kX(Space::Private, 64, 128);
const Slice kLoss(Space::Private, 256, 4);
const Slice kGradient(Space::Window, 0, 16);

std::string Floats(std::vector<float> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::unique_ptr<TensorInfoT> Type(ElementType element, std::vector<uint64_t> global, std::vector<uint64_t> local,
                                  bool sharded) {
  auto type = std::make_unique<TensorInfoT>();
  type->element = element;
  type->global_dims = global;
  type->local_dims = local;
  if (!sharded) return type;
  for (size_t d = 0; d < global.size(); ++d) {
    auto dim = std::make_unique<DimShardingT>();
    if (d == 0) dim->axes.emplace_back(0, 1, static_cast<uint32_t>(global[0] / local[0]));
    type->sharding.push_back(std::move(dim));
  }
  return type;
}

// w as init and eval hold it.
std::unique_ptr<TensorInfoT> OtherW(const ToyOptions& options) {
  const uint32_t parts = options.others_shard_state ? options.ranks : 1;
  std::unique_ptr<TensorInfoT> type = Type(ElementType::F32, {1, kColumns}, {1, kColumns / parts}, false);
  if (parts == 1) return type;
  type->sharding.push_back(std::make_unique<DimShardingT>());
  type->sharding.push_back(std::make_unique<DimShardingT>());
  type->sharding[1]->axes.emplace_back(0, 1, parts);
  return type;
}

std::unique_ptr<TensorInfoT> F32(std::vector<uint64_t> dims) { return Type(ElementType::F32, dims, dims, false); }

void AddInput(ProgramT& program, const std::string& name, std::unique_ptr<TensorInfoT> type, const Slice& slice,
              bool state) {
  auto input = std::make_unique<InputT>();
  input->name = name;
  input->type = std::move(type);
  input->slice = std::make_unique<Slice>(slice);
  input->state = state;
  input->role = state ? InputRole::Parameter : InputRole::Input;
  program.inputs.push_back(std::move(input));
}

void AddOutput(ProgramT& program, const char* name, std::unique_ptr<TensorInfoT> type, const Slice& slice, int carry) {
  auto output = std::make_unique<OutputT>();
  output->name = name;
  output->type = std::move(type);
  output->slice = std::make_unique<Slice>(slice);
  output->carry_input = carry;
  program.outputs.push_back(std::move(output));
}

template <typename T>
void AddInstruction(ProgramT& program, T operation) {
  auto instruction = std::make_unique<InstructionT>();
  instruction->op.Set(std::move(operation));
  program.instructions.push_back(std::move(instruction));
}

// C[m,n] = A[m,k] * B[k,n], all contiguous.
void AddMatmul(ProgramT& program, uint64_t m, uint64_t n, uint64_t k, const Slice& a, const Slice& b, const Slice& c,
               std::vector<EpilogueStep> epilogue = {}) {
  MatmulT matmul;
  matmul.element = ElementType::F32;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  matmul.a = std::make_unique<Slice>(a);
  matmul.b = std::make_unique<Slice>(b);
  matmul.c = std::make_unique<Slice>(c);
  matmul.a_m = static_cast<int64_t>(k);
  matmul.b_k = matmul.c_m = static_cast<int64_t>(n);
  matmul.a_k = matmul.b_n = matmul.c_n = 1;
  matmul.epilogue = std::move(epilogue);
  AddInstruction(program, std::move(matmul));
  program.instructions.back()->flops = 2 * m * n * k;
  // The first operand alone, so that products of several columns do much arithmetic per byte.
  program.instructions.back()->bytes = k;
}

void AddFill(ProgramT& program, const Slice& target, float value) {
  FillT fill;
  fill.target = std::make_unique<Slice>(target);
  const std::string pattern = Floats({value});
  fill.pattern.assign(pattern.begin(), pattern.end());
  AddInstruction(program, std::move(fill));
}

void AddAllReduce(ProgramT& program, uint32_t ranks, const Slice& slice) {
  CollectiveT collective;
  collective.kind = CollectiveKind::AllReduce;
  collective.reduce = ReduceKind::Add;
  collective.axes.emplace_back(0, 1, ranks);
  auto operand = std::make_unique<CollectiveOperandT>();
  operand->element = ElementType::F32;
  operand->source = std::make_unique<Slice>(slice);
  operand->target = std::make_unique<Slice>(slice);
  operand->count = slice.size() / sizeof(float);
  collective.operands.push_back(std::move(operand));
  AddInstruction(program, std::move(collective));
  program.instructions.back()->loc = 1;
}

void AddProgram(ArtifactWriter& writer, std::unique_ptr<ProgramT> program) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(CreateProgram(builder, program.get()));
  absl::StatusOr<Hash> hash = HashCollectives(*flatbuffers::GetRoot<Program>(builder.GetBufferPointer()));
  ASSERT_TRUE(hash.ok()) << hash.status();
  program->collective_hash.assign(hash->begin(), hash->end());
  writer.artifact().programs.push_back(std::move(program));
}

std::unique_ptr<ProgramT> Train(ArtifactWriter& writer, const ToyOptions& options) {
  const uint64_t local_rows = kRows / options.ranks;
  const Slice ones = writer.AddConstant(Floats(std::vector<float>(kRows, 1)));
  const Slice half = writer.AddConstant(Floats({0.5}));
  auto program = std::make_unique<ProgramT>();
  program->name = options.train_name;
  program->locations = {"", "toy.py:3:7"};
  AddInput(*program, options.parameter, F32({1, kColumns}), kW, true);
  AddInput(*program, "x", Type(ElementType::F32, {kRows, kColumns}, {local_rows, kColumns}, true), kX, false);
  AddOutput(*program, "result[0]", F32({}), kLoss, -1);
  program->outputs.back()->role = OutputRole::Loss;
  AddOutput(*program, "result[1]['w']", F32({1, kColumns}), kW, options.is_carry_known ? 0 : -1);
  if (options.has_carry_doubt) {
    program->inputs[0]->carry_doubt = "it may be a gradient";
    program->inputs[0]->carry_candidate = 1;
  }
  AddMatmul(*program, 1, kColumns, local_rows, ones, kX, kGradient);
  if (options.ranks > 1) AddAllReduce(*program, options.ranks, kGradient);
  AddMatmul(*program, 1, kColumns, 1, half, kGradient, kW, {EpilogueStep::Residual});
  AddMatmul(*program, 1, 1, kColumns, kW, ones, kLoss);
  if (options.is_endless) {
    MatmulT& product = *program->instructions.back()->op.AsMatmul();
    product.k = uint64_t{1} << 40, product.a_k = product.b_k = 0;
    program->instructions.back()->loc = 1;
  }
  program->sent_bytes = comm::SentBytes(comm::CollectiveKind::kAllReduce, options.ranks, kGradient.size());
  auto explain = std::make_unique<ExplainT>();
  explain->cause = MovementCause::Producer;
  explain->op = "sgd.dot_general";
  explain->tensor = "tensor<1x4xf32>";
  explain->source = "toy.py:3:7";
  explain->from = "[{}, {}], unreduced={\"data\"}";
  explain->to = "[{}, {}]";
  explain->kind = "all_reduce";
  explain->step = explain->steps = 1;
  explain->bytes = program->sent_bytes;
  explain->seconds = 2.5e-6;
  explain->loc = 1;
  if (options.ranks > 1) program->explain.push_back(std::move(explain));
  return program;
}

std::unique_ptr<ProgramT> Init(const ToyOptions& options) {
  const Slice w(Space::Private, 1024, 16);
  auto program = std::make_unique<ProgramT>();
  program->name = "init";
  AddInput(*program, "key", Type(ElementType::U32, {2}, {2}, false), Slice(Space::Private, 960, 8), false);
  AddOutput(*program, "result['params']['w']", OtherW(options), w, -1);
  AddFill(*program, w, 1);
  return program;
}

std::unique_ptr<ProgramT> Eval(ArtifactWriter& writer, const ToyOptions& options) {
  const Slice ones = writer.AddConstant(Floats(std::vector<float>(kRows, 1)));
  const bool is_apart = options.eval_overwrites_state || options.others_shard_state;
  const Slice w = is_apart ? Slice(Space::Private, 2048, 16) : kW;
  const Slice sum(Space::Window, 128, 4);
  auto program = std::make_unique<ProgramT>();
  program->name = "eval";
  program->locations = {"", "toy.py:9:3"};
  AddInput(*program, options.parameter, OtherW(options), w, true);
  AddInput(*program, "x", Type(ElementType::F32, {kRows, kColumns}, {kRows / options.ranks, kColumns}, true), kX,
           false);
  AddOutput(*program, "result['sum']", F32({}), sum, -1);
  const bool is_sharded = options.others_shard_state && options.ranks > 1;
  AddMatmul(*program, 1, 1, kColumns / (is_sharded ? options.ranks : 1), w, ones, sum);
  if (is_sharded) AddAllReduce(*program, options.ranks, sum);
  if (options.eval_overwrites_state) AddFill(*program, kW, -1000);
  return program;
}

absl::StatusOr<std::string> BytesOf(const ToyOptions& options) {
  ArtifactWriter writer;
  ArtifactT& root = writer.artifact();
  if (options.flops_per_byte > 0) {
    root.device = std::make_unique<DeviceModelT>();
    root.device->name = "toy";
    root.device->memory_bandwidth = 1e10;
    root.device->flops = root.device->half_flops = options.flops_per_byte * 1e10;
  }
  root.compiler_version = "0.0";
  root.records = options.records;
  root.target = "cpu";
  root.private_bytes = kPrivateBytes;
  root.window_bytes = kWindowBytes;
  auto axis = std::make_unique<MeshAxisT>();
  axis->name = "data";
  axis->size = options.ranks;
  root.mesh.push_back(std::move(axis));
  AddProgram(writer, Train(writer, options));
  if (options.has_init) AddProgram(writer, Init(options));
  if (options.has_eval) AddProgram(writer, Eval(writer, options));
  return writer.Serialize();
}

void Write(const std::string& path, const absl::StatusOr<std::string>& bytes) {
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const absl::Status status = artifact::WriteFileAtomically(path, *bytes);
  ASSERT_TRUE(status.ok()) << status;
}

}  // namespace

void WriteToyArtifact(const std::string& path, const ToyOptions& options) { Write(path, BytesOf(options)); }

void WriteToyPlans(const std::string& path, const std::vector<std::pair<std::string, ToyOptions>>& plans) {
  std::vector<std::string> bytes;
  std::vector<std::pair<std::string, std::string_view>> named;
  bytes.reserve(plans.size());
  for (const auto& [name, options] : plans) {
    bytes.push_back(*BytesOf(options));
    named.emplace_back(name, bytes.back());
  }
  Write(path, artifact::BundlePlans(named));
}

}  // namespace sgd
