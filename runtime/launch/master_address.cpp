// Flag, then variables.
#include "runtime/launch/master_address.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace sgd::launch {
namespace {

constexpr uint16_t kDefaultPort = 29500;  // as PyTorch's

const char* NonEmpty(const GetVariable& get, const char* name) {
  const char* value = get(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Jobs that share a host get different ports; below those that systems give out by themselves.
uint16_t PortOfSlurmJob(const GetVariable& get) {
  uint64_t job = 0, step = 0;
  for (auto [name, number] : {std::pair("SLURM_JOB_ID", &job), std::pair("SLURM_STEP_ID", &step)}) {
    const char* value = NonEmpty(get, name);
    if (value != nullptr && !absl::SimpleAtoi(value, number)) *number = 0;
  }
  return static_cast<uint16_t>(20000 + (job * 31 + step) % 10000);
}

}  // namespace

absl::StatusOr<std::vector<comm::HostAndPort>> ToldMasters(const std::optional<std::string>& flag,
                                                           const GetVariable& get) {
  const char* variable = NonEmpty(get, "SGD_MASTER");
  std::vector<comm::HostAndPort> places;
  if (!flag.has_value() && variable == nullptr) return places;
  const std::string text = flag.has_value() ? *flag : variable;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    absl::StatusOr<comm::HostAndPort> place = comm::ParseHostAndPort(std::string(part));
    if (!place.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag.has_value() ? "--master" : "SGD_MASTER", ": ", place.status().message()));
    }
    places.push_back(*std::move(place));
  }
  return places;
}

absl::StatusOr<std::optional<comm::HostAndPort>> MasterOfLauncher(const GetVariable& get) {
  if (const char* host = NonEmpty(get, "MASTER_ADDR")) {
    uint32_t port = kDefaultPort;
    const char* text = NonEmpty(get, "MASTER_PORT");
    if (text != nullptr && (!absl::SimpleAtoi(text, &port) || port == 0 || port >= 65535)) {
      return absl::InvalidArgumentError(absl::StrCat("MASTER_PORT=", text, " is not a port; expected 1 to 65534"));
    }
    const char* store = get("TORCHELASTIC_USE_AGENT_STORE");
    if (store != nullptr && std::string_view(store) == "True") ++port;
    return comm::HostAndPort{host, static_cast<uint16_t>(port)};
  }
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    if (const char* list = NonEmpty(get, name)) return comm::HostAndPort{FirstHost(list), PortOfSlurmJob(get)};
  }
  return std::nullopt;
}

absl::Status CheckReachable(const comm::HostAndPort& place, const std::string& source) {
  const auto wrong = [&](const char* what) {
    return absl::InvalidArgumentError(absl::StrCat(source, ": '", place.host, "' ", what));
  };
  if (!comm::IsHost(place.host)) return wrong("is no host; expected a name or a number; correct it");
  if (place.IsLoopback())
    return wrong("is loopback, which other hosts cannot reach; expected an address of rank 0's host; give that");
  if (place.IsAny())
    return wrong("stands for all addresses of a host; expected one that other hosts can reach; give that");
  return absl::OkStatus();
}

std::string FirstHost(std::string_view list) {
  std::string host;
  bool is_in_brackets = false, is_first_number = false;
  for (const char letter : list) {
    if (letter == '[') {
      is_in_brackets = is_first_number = true;
    } else if (letter == ']') {
      is_in_brackets = false;
    } else if (is_in_brackets && (letter == '-' || letter == ',')) {
      is_first_number = false;
    } else if (!is_in_brackets && letter == ',') {
      break;
    } else if (!is_in_brackets || is_first_number) {
      host += letter;
    }
  }
  return host;
}

}  // namespace sgd::launch
