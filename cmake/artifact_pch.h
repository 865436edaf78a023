// Headers that nearly every source needs which reads or writes artifacts. JSON is for some: parsed here it costs the
// others nothing.
#pragma once

#include "cmake/runtime_pch.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"
#include "runtime/artifact/program_generated.h"
