// sgd-sim: values of flags and printing around the simulation. Exit codes: 0 done, 1 the input is at fault, 2 wrong
// usage.
#include "tools/sgd-sim/command.h"

#include "compiler/driver/driver.h"
#include "compiler/driver/end_by_errors.h"
#include "compiler/models/transformer.h"
#include "compiler/simulation/drawing.h"
#include "compiler/target/target.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/artifact/writer.h"
#include "runtime/json/json_text.h"
#include "runtime/text/text_file.h"
#include "tools/sgd-sim/flags.h"

using namespace mlir::sgd;

namespace {

/// `--sweep data=1..1024`.
struct Sweep {
  std::string axis;
  std::vector<int64_t> sizes;
};

int fail(const llvm::Twine& message, int code = 1) {
  llvm::errs() << "sgd-sim: " << ::sgd::artifact::ShortMessage(message.str()) << "\n";
  return code;
}

llvm::Expected<Sweep> parseSweep(llvm::StringRef text) {
  auto [axis, range] = text.split('=');
  auto [from, to] = range.split("..");
  int64_t first = 0, last = 0;
  constexpr int64_t kMost = int64_t(1) << 20;
  if (axis.empty() || from.getAsInteger(10, first) || to.getAsInteger(10, last) || first < 1 || last < first ||
      last > kMost)
    return llvm::createStringError("--sweep '" + text + "'; expected AXIS=FROM..TO, such as data=1..1024");
  Sweep sweep{axis.str(), {}};
  for (int64_t size = first; size < last; size *= 2) sweep.sizes.push_back(size);
  sweep.sizes.push_back(last);
  return sweep;
}

EstimateOptions getOptions(const SimulationFlags& flags) {
  EstimateOptions options;
  options.program = flags.program;
  options.failureHours = flags.failureHours;
  options.saveSeconds = flags.saveSeconds;
  options.restartSeconds = flags.restartSeconds;
  options.epochSteps = flags.epochSteps;
  options.pricePerHour = flags.pricePerHour;
  options.keepsIntervals = !flags.svg.empty() && flags.sweep.empty();
  return options;
}

int write(const std::string& path, const std::string& text) {
  if (path == "-") {
    llvm::outs() << text;
    return 0;
  }
  absl::Status status = ::sgd::artifact::WriteFileAtomically(path, text);
  return status.ok() ? 0 : fail(std::string(status.message()));
}

/// All that is asked for of one mesh.
class Simulator {
 public:
  Simulator(const ::sgd::artifact::ArtifactFile& file, Topology topology, std::vector<MeshAxisSize> mesh,
            const SimulationFlags& flags, double modelFlopsPerRank)
      : file(file),
        topology(std::move(topology)),
        mesh(std::move(mesh)),
        flags(flags),
        modelFlopsPerRank(modelFlopsPerRank) {}

  int runOne();
  int runSweep(const Sweep& sweep);

 private:
  llvm::Expected<StepEstimate> estimate(const Machine& machine) const;

  const ::sgd::artifact::ArtifactFile& file;
  Topology topology;
  std::vector<MeshAxisSize> mesh;
  const SimulationFlags& flags;
  double modelFlopsPerRank;  // 0: not known
};

llvm::Expected<StepEstimate> Simulator::estimate(const Machine& machine) const {
  llvm::Expected<StepEstimate> estimate = estimateStep(machine, getOptions(flags));
  if (!estimate) return llvm::createStringError(file.path() + ": " + llvm::toString(estimate.takeError()));
  // On other meshes too: a rank computes what it computes.
  estimate->modelFlopsPerRank = modelFlopsPerRank;
  return estimate;
}

int Simulator::runOne() {
  llvm::Expected<Machine> machine = Machine::create(file.root(), file.path(), topology, mesh);
  if (!machine) return fail(llvm::toString(machine.takeError()));
  llvm::Expected<StepEstimate> estimate = this->estimate(*machine);
  if (!estimate) return fail(llvm::toString(estimate.takeError()));
  if (!flags.svg.empty())
    if (int code = write(flags.svg, drawTimeline(*machine, *estimate))) return code;
  if (flags.json != "-") llvm::outs() << toText(*estimate);
  return flags.json.empty() ? 0 : write(flags.json, ::sgd::json::WriteJson(toJson(*estimate), 1) + "\n");
}

int Simulator::runSweep(const Sweep& sweep) {
  std::vector<StepEstimate> estimates;
  for (int64_t size : sweep.sizes) {
    std::vector<MeshAxisSize> sizes = mesh;
    sizes.push_back({sweep.axis, size});
    llvm::Expected<Machine> machine = Machine::create(file.root(), file.path(), topology, sizes);
    if (!machine) return fail(llvm::toString(machine.takeError()));
    llvm::Expected<StepEstimate> estimate = this->estimate(*machine);
    if (!estimate) return fail(llvm::toString(estimate.takeError()));
    estimates.push_back(std::move(*estimate));
  }
  if (!flags.svg.empty())
    if (int code = write(flags.svg, drawScaling(estimates))) return code;
  if (flags.json != "-") llvm::outs() << toTable(estimates);
  nlohmann::ordered_json json;
  for (const StepEstimate& estimate : estimates) {
    json["sweep"].push_back(toJson(estimate));
    json["sweep"].back()["scaling"] = getScaling(estimates.front(), estimate);
  }
  return flags.json.empty() ? 0 : write(flags.json, ::sgd::json::WriteJson(json, 1) + "\n");
}

using File = std::unique_ptr<::sgd::artifact::ArtifactFile>;

llvm::Expected<Transformer> readModel(const std::string& path) {
  std::string text;
  if (auto fault = ::sgd::text::ReadTextFile(path, text))
    return llvm::createStringError("cannot read model '" + path + "': " + *fault);
  return parseTransformer(text, path);
}

/// The topology that the user names decides what a model is compiled for, and else the target's topology.
CompileOptions getCompileOptions(const SimulationFlags& flags, const std::optional<Topology>& named) {
  CompileOptions options;
  options.topology = flags.topology;
  if (named && !named->device.architecture.empty()) options.target = "cuda:" + named->device.architecture;
  if (!flags.target.empty()) options.target = flags.target;
  options.isForSimulation = options.omitsDescription = flags.save.empty();
  return options;
}

llvm::Expected<File> compileModel(const Transformer& model, CompileOptions options, const SimulationFlags& flags) {
  options.recipeFile = flags.model;
  options.recipe = writeRecipe(model);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  auto compilation = compile({{"main", flags.model, writeStep(model)}}, options, stream);
  if (failed(compilation)) return llvm::createStringError(llvm::StringRef(errors).rtrim());
  const std::string& bytes = compilation->artifact;
  if (!flags.save.empty())
    if (absl::Status status = ::sgd::artifact::WriteFileAtomically(flags.save, bytes); !status.ok())
      return llvm::createStringError(std::string(status.message()));
  using ::sgd::artifact::ArtifactFile;
  auto file = options.isForSimulation ? ArtifactFile::FromBytesWithoutCode(bytes, flags.model)
                                      : ArtifactFile::FromBytes(bytes, flags.model);
  if (!file.ok()) return llvm::createStringError(std::string(file.status().message()));
  return *std::move(file);
}

llvm::Expected<File> openArtifact(const SimulationFlags& flags) {
  ::sgd::artifact::PlanChoice choice;
  if (!flags.plan.empty()) choice.name = flags.plan;
  auto file = ::sgd::artifact::ArtifactFile::Open(flags.artifact, choice);
  if (!file.ok()) return llvm::createStringError(std::string(file.status().message()));
  return *std::move(file);
}

/// The topology that the user names, else the one that the artifact was compiled for.
llvm::Expected<Topology> findTopology(const SimulationFlags& flags, const ::sgd::artifact::Artifact& artifact) {
  if (!flags.topology.empty()) return loadTopology(flags.topology);
  std::string name = artifact.device() ? artifact.device()->name()->str() : "host";
  if (isBuiltInTopology(name)) return loadTopology(name);
  return llvm::createStringError("'" + flags.artifact + "' was compiled for the topology '" + name +
                                 "', which is not built in; name its file by --topology");
}

/// The plan of a CPU fuses, merges and overlaps otherwise than that of a GPU.
void warnOfOtherDevice(const SimulationFlags& flags, const ::sgd::artifact::Artifact& artifact,
                       const Topology& topology) {
  const std::string target = artifact.target()->str();
  const bool isForCpu = target == "cpu", isCpu = topology.device.architecture.empty();
  if (isForCpu == isCpu) return;
  llvm::errs() << "sgd-sim: warning: '" << flags.artifact << "' is compiled for " << target << ", and the devices of '"
               << topology.name << "' are " << (isCpu ? "CPUs" : "GPUs") << "; compile it by sgdc --target "
               << (isCpu ? "cpu" : "cuda:" + topology.device.architecture) << " for the plan that would run there\n";
}

/// Before the work of which they will hold the results.
absl::Status checkOutputs(const SimulationFlags& flags) {
  for (const std::string* path : {&flags.text, &flags.save, &flags.json, &flags.svg})
    if (!path->empty() && *path != "-")
      if (absl::Status status = ::sgd::artifact::CheckWritable(*path); !status.ok()) return status;
  return absl::OkStatus();
}

/// Simulations beside that of the program's own mesh.
struct Request {
  std::vector<MeshAxisSize> mesh;
  std::optional<Sweep> sweep;
};

int simulate(const ::sgd::artifact::ArtifactFile& file, Topology topology, Request request,
             const SimulationFlags& flags, double flopsPerRank) {
  Simulator simulator(file, std::move(topology), std::move(request.mesh), flags, flopsPerRank);
  return request.sweep ? simulator.runSweep(*request.sweep) : simulator.runOne();
}

int runModel(const SimulationFlags& flags, Request request) {
  std::optional<Topology> topology;
  if (!flags.topology.empty()) {
    llvm::Expected<Topology> named = loadTopology(flags.topology);
    if (!named) return fail(llvm::toString(named.takeError()));
    topology = std::move(*named);
  }
  CompileOptions options = getCompileOptions(flags, topology);
  llvm::Expected<std::unique_ptr<Target>> target = Target::create(options);
  if (!target) return fail(llvm::toString(target.takeError()), flags.target.empty() ? 1 : 2);
  if (!topology) topology = llvm::cantFail(loadTopology((*target)->getDescription().topology));
  llvm::Expected<Transformer> model = readModel(flags.model);
  if (!model) return fail(llvm::toString(model.takeError()));
  if (!flags.text.empty()) return write(flags.text, writeStep(*model));
  llvm::Expected<File> file = compileModel(*model, options, flags);
  if (!file) return fail(llvm::toString(file.takeError()));
  return simulate(**file, std::move(*topology), std::move(request), flags, model->getFlopsPerRank());
}

int runArtifact(const SimulationFlags& flags, Request request) {
  llvm::Expected<File> file = openArtifact(flags);
  if (!file) return fail(llvm::toString(file.takeError()));
  llvm::Expected<Topology> topology = findTopology(flags, (*file)->root());
  if (!topology) return fail(llvm::toString(topology.takeError()));
  warnOfOtherDevice(flags, (*file)->root(), *topology);
  return simulate(**file, std::move(*topology), std::move(request), flags, /*flopsPerRank=*/0);
}

int run(const SimulationFlags& flags) {
  Request request;
  if (!flags.mesh.empty()) {
    llvm::Expected<std::vector<MeshAxisSize>> sizes = parseMesh(flags.mesh);
    if (!sizes) return fail(llvm::toString(sizes.takeError()), 2);
    request.mesh = std::move(*sizes);
  }
  if (!flags.sweep.empty()) {
    llvm::Expected<Sweep> parsed = parseSweep(flags.sweep);
    if (!parsed) return fail(llvm::toString(parsed.takeError()), 2);
    request.sweep = std::move(*parsed);
  }
  if (absl::Status status = checkOutputs(flags); !status.ok()) return fail(std::string(status.message()));
  return flags.model.empty() ? runArtifact(flags, std::move(request)) : runModel(flags, std::move(request));
}

}  // namespace

int mlir::sgd::runSimulatorCommand(int argc, char** argv) {
  ::sgd::artifact::ReserveStandardDescriptors();
  endByErrors("sgd-sim");
  SimulationFlags flags;
  if (std::optional<int> code = readSimulationFlags(argc, argv, flags)) return *code;
  endBy(run(flags));
}
