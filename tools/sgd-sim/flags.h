// The command line of sgd-sim as plain data.
#ifndef SGD_TOOLS_SGD_SIM_FLAGS_H
#define SGD_TOOLS_SGD_SIM_FLAGS_H

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::sgd {

/// As given; what a text means is read later.
struct SimulationFlags {
  std::string artifact, model, text, save, topology, target, mesh, plan, program, json, svg, sweep;
  double failureHours = 0, restartSeconds = 120;
  std::optional<double> saveSeconds, pricePerHour;
  uint64_t epochSteps = 0;
};

/// Fills `flags`. The exit code where the program ends here, and then all is printed: 0 for --help and --version, 2 for
/// wrong usage.
std::optional<int> readSimulationFlags(int argc, char** argv, SimulationFlags& flags);

}  // namespace mlir::sgd

#endif
