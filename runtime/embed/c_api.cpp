// The C interface over Executable: no exception and no C++ type crosses it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/embed/executable.h"
#include "runtime/embed/sgd.h"

struct sgd_error {
  sgd_code code;
  std::string message;
};

namespace sgd::embed {
namespace {

using artifact::ElementType;

static_assert(SGD_BOOL == static_cast<int>(ElementType::Bool) && SGD_U64 == static_cast<int>(ElementType::U64) &&
              SGD_F32 == static_cast<int>(ElementType::F32) && SGD_F8E5M2 == static_cast<int>(ElementType::F8E5M2) &&
              SGD_C64 == static_cast<int>(ElementType::C64));
static_assert(SGD_C64 == static_cast<int>(ElementType::MAX));
static_assert(SGD_DATA_LOSS == static_cast<int>(absl::StatusCode::kDataLoss));

sgd_error* ErrorOf(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return new sgd_error{static_cast<sgd_code>(status.code()), std::string(status.message())};
}

sgd_error* Invalid(const std::string& message) { return ErrorOf(absl::InvalidArgumentError(message)); }

std::string Text(const char* text) { return text == nullptr ? "" : text; }

// The fields that a caller's header had; others are zero.
sgd_options OptionsOf(const sgd_options* given) {
  sgd_options options{};
  if (given != nullptr) std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

}  // namespace
}  // namespace sgd::embed

struct sgd_program {
  std::unique_ptr<sgd::embed::Executable> executable;
  std::vector<std::vector<int64_t>> dims;  // of inputs, then outputs
  std::vector<sgd_tensor> inputs, outputs;
};

namespace sgd::embed {
namespace {

sgd_tensor TensorOf(const data::InputType& type, std::vector<int64_t>& dims) {
  dims.assign(type.type.global_dims.begin(), type.type.global_dims.end());
  uint64_t bytes = 0;
  data::TensorBytes(type.type.element, type.type.global_dims, bytes);
  return {type.name.c_str(),
          static_cast<sgd_type>(type.type.element),
          static_cast<uint32_t>(dims.size()),
          dims.data(),
          bytes,
          -1};
}

void Describe(sgd_program& program) {
  const train::ProgramView& view = program.executable->program();
  program.dims.resize(view.inputs.size() + view.outputs.size());
  for (size_t i = 0; i < view.inputs.size(); ++i) program.inputs.push_back(TensorOf(view.inputs[i], program.dims[i]));
  for (size_t i = 0; i < view.outputs.size(); ++i)
    program.outputs.push_back(TensorOf(view.outputs[i], program.dims[view.inputs.size() + i]));
  for (const auto& [output, input] : view.carry) {
    program.outputs[output].carry = static_cast<int64_t>(input);
    program.inputs[input].carry = static_cast<int64_t>(output);
  }
}

sgd_error* Load(absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file, const sgd_options& given,
                sgd_program** result) {
  if (!file.ok()) return ErrorOf(file.status());
  ExecutableOptions options{.program = Text(given.program), .ranks = {.threads = given.threads}};
  if (given.timeout_seconds < 0) return Invalid("timeout_seconds: expected 0 or more");
  if (given.timeout_seconds > 0) options.timeout = absl::Seconds(given.timeout_seconds);
  auto executable = Executable::Load(*std::move(file), options);
  if (!executable.ok()) return ErrorOf(executable.status());
  auto program = std::make_unique<sgd_program>();
  program->executable = *std::move(executable);
  Describe(*program);
  *result = program.release();
  return nullptr;
}

artifact::PlanChoice ChoiceOf(const sgd_options& options) {
  artifact::PlanChoice choice;
  if (options.plan != nullptr) choice.name = options.plan;
  return choice;
}

sgd_error* Find(const data::NameTable& names, const char* kind, const char* name, size_t* position) {
  const std::optional<size_t> found = names.Find(Text(name));
  if (found) {
    *position = *found;
    return nullptr;
  }
  return ErrorOf(absl::NotFoundError(
      absl::StrCat("there is no ", kind, " ", data::QuotedName(Text(name)), names.Advice(Text(name)))));
}

sgd_error* Missing(const char* kind, size_t position, size_t count) {
  return Invalid(absl::StrCat(kind, " ", position, ": the program has ", count));
}

std::span<const std::byte> BytesOf(const void* data, size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

std::span<std::byte> BytesOf(void* data, size_t bytes) { return {static_cast<std::byte*>(data), bytes}; }

}  // namespace
}  // namespace sgd::embed

using sgd::embed::BytesOf;
using sgd::embed::ErrorOf;

extern "C" {

uint32_t sgd_abi_version() { return SGD_ABI_VERSION; }
const char* sgd_version() { return SGD_VERSION; }

sgd_code sgd_error_code(const sgd_error* error) { return error->code; }
const char* sgd_error_message(const sgd_error* error) { return error->message.c_str(); }
void sgd_error_destroy(sgd_error* error) { delete error; }

sgd_error* sgd_load(const char* path, const sgd_options* given, sgd_program** program) {
  *program = nullptr;
  const sgd_options options = sgd::embed::OptionsOf(given);
  return sgd::embed::Load(sgd::artifact::ArtifactFile::Open(sgd::embed::Text(path), sgd::embed::ChoiceOf(options)),
                          options, program);
}

sgd_error* sgd_load_bytes(const void* artifact, size_t bytes, const sgd_options* given, sgd_program** program) {
  *program = nullptr;
  const sgd_options options = sgd::embed::OptionsOf(given);
  return sgd::embed::Load(sgd::artifact::ArtifactFile::FromBytes({static_cast<const char*>(artifact), bytes},
                                                                 "artifact in memory", sgd::embed::ChoiceOf(options)),
                          options, program);
}

void sgd_destroy(sgd_program* program) { delete program; }

uint32_t sgd_ranks(const sgd_program* program) { return program->executable->ranks(); }

size_t sgd_input_count(const sgd_program* program) { return program->inputs.size(); }
size_t sgd_output_count(const sgd_program* program) { return program->outputs.size(); }

const sgd_tensor* sgd_input(const sgd_program* program, size_t position) {
  return position < program->inputs.size() ? &program->inputs[position] : nullptr;
}

const sgd_tensor* sgd_output(const sgd_program* program, size_t position) {
  return position < program->outputs.size() ? &program->outputs[position] : nullptr;
}

sgd_error* sgd_find_input(const sgd_program* program, const char* name, size_t* position) {
  return sgd::embed::Find(program->executable->program().input_names, "input", name, position);
}

sgd_error* sgd_find_output(const sgd_program* program, const char* name, size_t* position) {
  return sgd::embed::Find(program->executable->program().output_names, "output", name, position);
}

sgd_error* sgd_set_input(sgd_program* program, size_t position, const void* data, size_t bytes) {
  if (position >= program->inputs.size()) return sgd::embed::Missing("input", position, program->inputs.size());
  return ErrorOf(program->executable->SetInput(position, BytesOf(data, bytes)));
}

sgd_error* sgd_read_file(sgd_program* program, const char* path) {
  return ErrorOf(program->executable->SetInputsFrom(sgd::embed::Text(path)));
}

int sgd_has_input(const sgd_program* program, size_t position) {
  return position < program->inputs.size() && program->executable->has_input(position);
}

sgd_error* sgd_run(sgd_program* program) { return ErrorOf(program->executable->Run()); }
sgd_error* sgd_carry(sgd_program* program) { return ErrorOf(program->executable->Carry()); }
sgd_error* sgd_restart(sgd_program* program) { return ErrorOf(program->executable->Restart()); }

sgd_error* sgd_get_output(const sgd_program* program, size_t position, void* data, size_t bytes) {
  if (position >= program->outputs.size()) return sgd::embed::Missing("output", position, program->outputs.size());
  return ErrorOf(program->executable->ReadOutput(position, BytesOf(data, bytes)));
}

sgd_error* sgd_get_input(const sgd_program* program, size_t position, void* data, size_t bytes) {
  if (position >= program->inputs.size()) return sgd::embed::Missing("input", position, program->inputs.size());
  return ErrorOf(program->executable->ReadInput(position, BytesOf(data, bytes)));
}

}  // extern "C"
