// A topology file (docs/topologies.md) from what was measured.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/measure/device_kind.h"
#include "runtime/measure/device_rates.h"
#include "runtime/measure/link_rates.h"

namespace sgd::measure {

struct MeasuredTopology {
  DeviceKind kind = {};
  DeviceRates device = {};
  MeasuredLinks links = {};
};

// Rounds of an all-reduce of few bytes by `ranks` ranks: all write to all at once on CPUs; on GPUs rings or trees.
double RoundsOf(bool is_gpu, uint32_t ranks);

// Ends with a line end. The ranks of a host of CPUs share its ports.
std::string TopologyJson(const MeasuredTopology& measured);

// The same for a person, a line for the device and for each link.
std::string TopologyTable(const MeasuredTopology& measured);

}  // namespace sgd::measure
