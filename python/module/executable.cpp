// Artifacts, and their programs on ranks that are threads of this process.
#include "runtime/embed/executable.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "python/module/buffers.h"
#include "python/module/errors.h"
#include "python/module/interruptible.h"
#include "python/module/lost_ranks.h"
#include "python/module/parts.h"
#include "runtime/artifact/bundle.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/shard.h"
#include "runtime/embed/rank_pool.h"
#include "runtime/exec/holding.h"
#include "runtime/json/json_text.h"
#include "runtime/train/program_view.h"
#include "tools/sgd-inspect/describe.h"

namespace sgd::python {
namespace {

namespace nb = nanobind;
using ArtifactPtr = std::shared_ptr<const artifact::ArtifactFile>;

// An input or an output.
struct TensorInfo {
  std::string name;
  std::string element;
  std::vector<uint64_t> dims;
  std::string role;             // of an input
  std::vector<uint64_t> bytes;  // by rank
  bool summands = false;        // as of data::TensorType
  std::optional<size_t> carry;  // of an input the output that becomes its next value; of an output that input
};

// Neither needs ranks or their devices.
template <typename T>
TensorInfo InfoOf(const artifact::ArtifactFile& file, const data::InputType& tensor, const artifact::Whole<T>& whole) {
  TensorInfo info{tensor.name, artifact::ElementName(tensor.type.element), tensor.type.global_dims, "", {}, {}, {}};
  info.summands = tensor.type.has_summands;
  const comm::Mesh mesh = data::MeshOf(file.root());
  for (uint32_t rank = 0; rank < file.ranks(); ++rank) {
    const exec::Holding holding = exec::HoldingOf(file, mesh, whole, rank);
    info.bytes.push_back(holding.is_held ? holding.shard.local_bytes() : 0);
  }
  return info;
}

std::vector<TensorInfo> InputsOf(const artifact::ArtifactFile& file, const train::ProgramView& view) {
  std::vector<TensorInfo> all;
  for (size_t i = 0; i < view.inputs.size(); ++i) {
    TensorInfo& info = all.emplace_back(InfoOf(file, view.inputs[i], view.whole.inputs[i]));
    info.role = artifact::EnumNameInputRole(view.inputs[i].role);
  }
  for (const auto& [output, input] : view.carry) all[input].carry = output;
  return all;
}

std::vector<TensorInfo> OutputsOf(const artifact::ArtifactFile& file, const train::ProgramView& view) {
  std::vector<TensorInfo> all;
  for (size_t i = 0; i < view.outputs.size(); ++i) all.push_back(InfoOf(file, view.outputs[i], view.whole.outputs[i]));
  for (const auto& [output, input] : view.carry) all[output].carry = input;
  return all;
}

// A plan of an artifact, verified.
struct PythonArtifact {
  ArtifactPtr file;

  std::vector<std::string> Programs() const {
    std::vector<std::string> names;
    for (const artifact::Program* program : *file->root().programs()) {
      std::string name = program->name()->str();
      // Stages of a pipeline are programs of one name.
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    return names;
  }
  std::vector<std::pair<std::string, int64_t>> Mesh() const {
    std::vector<std::pair<std::string, int64_t>> axes;
    for (uint64_t i = 0; i < artifact::Size(file->root().mesh()); ++i)
      axes.emplace_back(file->root().mesh()->Get(i)->name()->str(), file->root().mesh()->Get(i)->size());
    return axes;
  }
  std::vector<TensorInfo> Inputs(const std::string& program) const {
    return InputsOf(*file, Take(train::ViewProgram(*file, program)));
  }
  std::vector<TensorInfo> Outputs(const std::string& program) const {
    return OutputsOf(*file, Take(train::ViewProgram(*file, program)));
  }
  std::string Describe() const { return json::WriteJson(inspect::Describe(*file, {.explain = true}), -1); }
};

artifact::PlanChoice ChoiceOf(const std::optional<std::string>& plan, std::optional<uint32_t> ranks) {
  artifact::PlanChoice choice;
  choice.name = plan;
  choice.ranks = ranks;
  return choice;
}

PythonArtifact Load(const artifact::Bundle& bundle, const std::optional<std::string>& plan,
                    std::optional<uint32_t> ranks) {
  return {Take(bundle.Load(ChoiceOf(plan, ranks)))};
}

std::vector<std::string> PlansOf(const artifact::Bundle& bundle) {
  std::vector<std::string> names;
  for (const artifact::Plan& plan : bundle.plans()) names.push_back(plan.name);
  return names;
}

// The pool of a number of ranks, of threads of each and of their devices, which executables share while any of them
// needs it. Ranks have threads of their own, so that Ctrl-C can leave one behind that does not return.
std::shared_ptr<embed::RankPool> PoolOf(const artifact::ArtifactFile& file, uint32_t threads) {
  static auto& mutex = *new std::mutex();
  using Kind = std::tuple<uint64_t, uint32_t, std::string, bool>;
  static auto& pools = *new std::map<Kind, std::weak_ptr<embed::RankPool>>();
  const std::string target = file.root().target()->str();
  const bool has_messages = artifact::Size(file.root().channels()) > 0;
  const std::lock_guard lock(mutex);
  std::weak_ptr<embed::RankPool>& known = pools[{file.ranks(), threads, target, has_messages}];
  if (auto pool = known.lock()) return pool;
  std::shared_ptr<embed::RankPool> pool = Take(embed::RankPool::Start(
      static_cast<uint32_t>(file.ranks()),
      {.target = target, .has_messages = has_messages, .threads = threads, .single_on_caller = false}));
  known = pool;
  return pool;
}

class Ranks {
 public:
  static std::unique_ptr<Ranks> Start(const PythonArtifact& artifact, uint32_t threads) {
    auto self = std::make_unique<Ranks>();
    self->pool_ = PoolOf(*artifact.file, threads);
    return self;
  }
  ~Ranks() { KeepWhileLost(pool_); }

  const std::shared_ptr<embed::RankPool>& pool() const { return pool_; }

 private:
  std::shared_ptr<embed::RankPool> pool_;
};

class Program {
 public:
  static std::unique_ptr<Program> Load(const PythonArtifact& artifact, const std::string& program, const Ranks& ranks,
                                       double timeout) {
    auto self = std::make_unique<Program>();
    embed::ExecutableOptions options;
    options.program = program;
    options.pool = ranks.pool();
    self->pool_ = ranks.pool();
    options.timeout = absl::Seconds(timeout);
    absl::StatusOr<std::unique_ptr<embed::Executable>> loaded;
    {
      const nb::gil_scoped_release unlocked;
      loaded = embed::Executable::Load(artifact.file, options);
    }
    self->executable_ = Take(std::move(loaded));
    return self;
  }
  ~Program() {
    const nb::gil_scoped_release unlocked;
    executable_.reset();
    KeepWhileLost(pool_);
  }

  std::vector<TensorInfo> Inputs() const { return InputsOf(executable_->file(), view()); }
  std::vector<TensorInfo> Outputs() const { return OutputsOf(executable_->file(), view()); }
  std::optional<size_t> Loss() const { return view().loss; }
  size_t FindInput(const std::string& name) const {
    const std::optional<size_t> found = view().input_names.Find(name);
    if (found) return *found;
    Throw(absl::NotFoundError(absl::StrCat("there is no input '", name, "'", view().input_names.Advice(name))));
  }

  // Positions and buffers are checked by the package.
  void SetInput(size_t position, nb::handle buffer) {
    const Buffer view(buffer, Buffer::Access::kRead);
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->SetInput(position, view.bytes());
    }
    Check(status);
  }
  void SetInputsFrom(const std::string& path) {
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->SetInputsFrom(path);
    }
    Check(status);
  }
  void ReadInput(size_t position, nb::handle buffer) const {
    const Buffer view(buffer, Buffer::Access::kWrite);
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->ReadInput(position, view.bytes());
    }
    Check(status);
  }
  void ReadOutput(size_t position, nb::handle buffer) const {
    const Buffer view(buffer, Buffer::Access::kWrite);
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->ReadOutput(position, view.bytes());
    }
    Check(status);
  }

  void Run() {
    absl::Status status;
    Check(RunInterruptibly([&] { status = executable_->Run(); },
                           [&](int) { executable_->Abort(absl::CancelledError("interrupted")); }));
    Check(status);
  }
  void Carry() {
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->Carry();
    }
    Check(status);
  }
  void Restart() {
    absl::Status status;
    {
      const nb::gil_scoped_release unlocked;
      status = executable_->Restart();
    }
    Check(status);
  }
  // Empty while steps can be run.
  std::string Fault() const { return std::string(executable_->status().message()); }
  bool HasInput(size_t position) const { return executable_->has_input(position); }
  bool HasOutput(size_t position) const { return executable_->has_output(position); }
  uint64_t steps() const { return executable_->steps(); }

 private:
  const train::ProgramView& view() const { return executable_->program(); }

  std::shared_ptr<embed::RankPool> pool_;
  std::unique_ptr<embed::Executable> executable_;
};

}  // namespace

void BindExecutable(nb::module_& module) {
  using artifact::Bundle;
  nb::class_<Bundle>(module, "Bundle", "The plans of an artifact.")
      .def_static(
          "from_bytes",
          [](nb::bytes bytes, const std::string& name) {
            return Take(Bundle::FromBytes({bytes.c_str(), bytes.size()}, name));
          },
          nb::arg("bytes"), nb::arg("name"))
      .def_static(
          "open", [](const std::string& path) { return Take(Bundle::Open(path)); }, nb::arg("path"))
      .def_prop_ro("plans", &PlansOf)
      .def_prop_ro("path", &Bundle::path)
      .def("load", &Load, nb::arg("plan"), nb::arg("ranks"), "The plan of that name, or for that number of ranks.");
  nb::class_<PythonArtifact>(module, "Artifact", "One plan of an artifact.")
      .def_prop_ro("programs", &PythonArtifact::Programs)
      .def_prop_ro("mesh", &PythonArtifact::Mesh)
      .def_prop_ro("ranks", [](const PythonArtifact& self) { return self.file->ranks(); })
      .def_prop_ro("plan", [](const PythonArtifact& self) { return self.file->plan(); })
      .def_prop_ro("default_program",
                   [](const PythonArtifact& self) { return Take(train::DefaultProgram(*self.file)); })
      .def("inputs", &PythonArtifact::Inputs, nb::arg("program"), "Those of a program. Starts no rank.")
      .def("outputs", &PythonArtifact::Outputs, nb::arg("program"))
      .def("describe", &PythonArtifact::Describe, "The JSON of sgd-inspect.");
  nb::class_<Ranks>(module, "Ranks", "Threads that execute the ranks of programs, which take turns.")
      .def_static("start", &Ranks::Start, nb::arg("artifact"), nb::arg("threads"));
  nb::class_<TensorInfo>(module, "TensorInfo", "An input or an output of a program.")
      .def_ro("name", &TensorInfo::name, "Its name in the model.")
      .def_ro("element", &TensorInfo::element, "Its element type: 'f32', 'bf16', 'i64', 'bool', ...")
      .def_prop_ro(
          "shape", [](const TensorInfo& self) { return nb::tuple(nb::cast(self.dims)); },
          "Dimensions of the global tensor.")
      .def_ro("role", &TensorInfo::role, "Of an input: 'Parameter', 'OptimizerState', 'Input', ...")
      .def_ro("bytes_per_rank", &TensorInfo::bytes, "Bytes of each rank's shard.")
      .def_ro("summands", &TensorInfo::summands,
              "Whether dimension 0 counts the summands of an unreduced array, which has the other dimensions.")
      .def_ro("carry", &TensorInfo::carry,
              "Position of the output that becomes this input's next value, or of the input that this output becomes.")
      .def("__repr__", [](const TensorInfo& self) {
        return absl::StrCat("<", self.name, " ", data::TypeText(*artifact::ElementFromName(self.element), self.dims),
                            ">");
      });
  nb::class_<Program>(module, "LoadedProgram", "A program on ranks of this process. Of one thread at a time.")
      .def_static("load", &Program::Load, nb::arg("artifact"), nb::arg("program"), nb::arg("ranks"), nb::arg("timeout"))
      .def_prop_ro("inputs", &Program::Inputs)
      .def_prop_ro("outputs", &Program::Outputs)
      .def_prop_ro("loss", &Program::Loss)
      .def_prop_ro("steps", &Program::steps)
      .def_prop_ro("fault", &Program::Fault)
      .def("find_input", &Program::FindInput, nb::arg("name"))
      .def("has_input", &Program::HasInput, nb::arg("position"))
      .def("has_output", &Program::HasOutput, nb::arg("position"))
      .def("set_input", &Program::SetInput, nb::arg("position"), nb::arg("buffer"))
      .def("set_inputs_from", &Program::SetInputsFrom, nb::arg("path"))
      .def("read_input", &Program::ReadInput, nb::arg("position"), nb::arg("buffer"))
      .def("read_output", &Program::ReadOutput, nb::arg("position"), nb::arg("buffer"))
      .def("run", &Program::Run)
      .def("carry", &Program::Carry)
      .def("restart", &Program::Restart);
}

}  // namespace sgd::python
