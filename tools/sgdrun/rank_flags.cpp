// Flags of ranks: how many there are, their devices, and how those of several hosts connect.
#include "tools/sgdrun/flag_group.h"

namespace sgd::sgdrun {
namespace {

void AddLocalFlags(CLI::App& app, Options& options) {
  const Group group(app, "Ranks");
  group
      .Add("-n", "RANKS", options.rank_flags.ranks,
           "Start RANKS ranks on this host (default: as the launcher's environment says, else the mesh); selects the "
           "plan "
           "for that number of ranks")
      ->check(CheckCount<uint32_t>);
  group.Add(
      "--plan", "NAME", options.plan.name,
      "The plan of the artifact to run, as data=4 (sgd-inspect lists them); needed if several plans have the same "
      "number of ranks");
  group.Add("--threads", "T", options.threads, "Compute threads per rank (default: cores divided by ranks)")
      ->check(CheckCount<uint32_t>);
  group
      .Call<std::string>(
          "--comm-thread", "on|off|auto",
          [&](const std::string& when) {
            options.comm_thread = when == "on"    ? launch::CommThread::kOn
                                  : when == "off" ? launch::CommThread::kOff
                                                  : launch::CommThread::kAuto;
          },
          "Run collectives on a separate thread, in parallel with compute; auto (default): if every rank has a spare "
          "core")
      ->check(CLI::IsMember({"on", "off", "auto"}));
  group.Call<double>(
      "--deadline", "SECONDS", [&](double seconds) { options.run.deadline = Positive("--deadline", seconds); },
      "Longest wait for another rank, and longest compute time without finishing any part of an instruction, before "
      "the "
      "run fails (default 300)");
  group.Call<double>(
      "--step-limit", "SECONDS", [&](double seconds) { options.run.step_limit = Positive("--step-limit", seconds); },
      "Longest duration of a step, checked in each iteration of a loop: names a loop that does not end, and ends the "
      "run "
      "(default: none; after --deadline a note names the loop that such a step is in)");
  group
      .Add("--device", "cpu|cuda", options.run.device,
           "The device of the ranks (default: the one that the artifact was compiled for)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  group.AddSwitch("--tune", options.run.tune,
                  "Autotune a GPU's matmuls and convolutions at the start, and save the choices beside the artifact");
  group.AddSwitch("--fast", options.run.fast,
                  "Let switches between GPUs reduce (NVLink SHARP): faster, but the order may vary between runs");
  group.AddSwitch("--share-gpus", options.run.shares_gpus,
                  "Let ranks share GPUs if there are fewer GPUs than ranks; for tests");
  group.AddSwitch("--eager", options.run.eager,
                  "On GPUs, launch and await each instruction instead of using CUDA graphs, so that errors name the "
                  "instruction");
  group.Add("--flight-recorder", "FILE", options.flight_recorder,
            "If the run fails, write the last seconds of all ranks on this host as a timeline for chrome://tracing or "
            "Perfetto; only for ranks that sgdrun starts");
}

void AddHostFlags(CLI::App& app, Options& options) {
  const Group group(app, "Ranks on several hosts, or started one by one");
  launch::RankFlags& flags = options.rank_flags;
  group.Add("--nnodes", "N", flags.nodes, "Number of hosts; each starts the same number of ranks")
      ->check(CheckCount<uint32_t>);
  group.Add("--node-rank", "R", flags.node_rank, "Number of this host, from 0; spares count from --nnodes on");
  group
      .Add("--spares", "S", flags.spares,
           "With --restarts: S further hosts run sgdrun and wait, to replace a host that is lost, or with "
           "--replace-stragglers one that is slow; give it on all hosts")
      ->check(CheckCount<uint32_t>);
  group.Add("--master", "HOST:PORT", flags.master,
            "Address of rank 0 (or SGD_MASTER); with --restarts also HOST:PORT,HOST:PORT,..., the addresses of further "
            "hosts that may take over if host 0 is lost");
  group.Add("--secret-file", "FILE", options.secret_file,
            "File with the secret by which ranks authenticate each other (or SGD_SECRET)");
  group.Add(
      "--net-devices", "NAMES", options.net_devices,
      "Network devices that CPU ranks may use, as eth0 or mlx5_0:1,mlx5_1:1 (default: all; --topology lists them)");
  group.Add("--rank", "R", flags.rank, "Number of this rank, of a job whose ranks are started one by one");
  group.Add("--world-size", "N", flags.world_size, "Number of ranks of that job")->check(CheckCount<uint32_t>);
  group.Add("--rendezvous", "NAME", flags.rendezvous, "Name of that job, unique on this host");
}

}  // namespace

void AddRankFlags(CLI::App& app, Options& options) {
  AddLocalFlags(app, options);
  AddHostFlags(app, options);
}

}  // namespace sgd::sgdrun
