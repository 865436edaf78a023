// Requests are UCX's own and freed when they complete; a completion is told by the callback or at once.
#include "runtime/ucx/ucx_transport.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace sgd::ucx {
namespace {

using comm::Completion;

// How long closing may take: connections to dead peers close in milliseconds.
constexpr int kCloseRounds = 1'000'000;

absl::Status Error(const char* call, ucs_status_t status) {
  return absl::InternalError(absl::StrCat("UCX: ", call, ": ", ucs_status_string(status)));
}

void Complete(Completion& completion, void* request, ucs_status_t status) {
  completion.request = nullptr;
  if (status != UCS_OK)
    completion.cause = status == UCS_ERR_MESSAGE_TRUNCATED ? comm::kOtherSize : ucs_status_string(status);
  completion.state = status == UCS_OK ? Completion::State::kDone : Completion::State::kFailed;
  if (request != nullptr) ucp_request_free(request);
}

void OnSent(void* request, ucs_status_t status, void* completion) {
  Complete(*static_cast<Completion*>(completion), request, status);
}

void OnReceived(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* user_data) {
  Completion& completion = *static_cast<Completion*>(user_data);
  if (status == UCS_OK && info->length != completion.bytes) status = UCS_ERR_MESSAGE_TRUNCATED;
  Complete(completion, request, status);
}

// Handles the result of a call that begins to send or to receive.
void Began(ucs_status_ptr_t result, Completion& completion) {
  if (result == nullptr || UCS_PTR_IS_ERR(result)) return Complete(completion, nullptr, UCS_PTR_STATUS(result));
  completion.request = result;
}

void OnPeerError(void* peer_error, ucp_ep_h, ucs_status_t status) { *static_cast<ucs_status_t*>(peer_error) = status; }

// An option that the user has not set by its variable.
absl::Status SetOption(ucp_config_t* config, const char* name, const char* value) {
  if (std::getenv(absl::StrCat("UCX_", name).c_str()) != nullptr) return absl::OkStatus();
  const ucs_status_t status = ucp_config_modify(config, name, value);
  // Versions have different options; one that there is not has nothing to be corrected.
  if (status == UCS_OK || status == UCS_ERR_NO_ELEM) return absl::OkStatus();
  return Error(absl::StrCat("option ", name, "=", value).c_str(), status);
}

// Devices that UCX may use and that reach other hosts, "tcp/eth0". UCX lists them as text: "# resource 0 : md 1 dev 0
// flags -- tcp/eth0".
std::set<std::string> Resources(ucp_context_h context) {
  static const std::set<std::string> kOfOneHost = {"self", "sysv", "posix", "cma", "knem", "xpmem"};
  char* text = nullptr;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == nullptr) return {};
  ucp_context_print_info(context, file);
  std::fclose(file);
  std::set<std::string> names;
  const std::vector<std::string> lines = absl::StrSplit(std::string(text, size), '\n');
  for (const std::string& line : lines) {
    if (line.find("resource") == std::string::npos) continue;
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    const size_t slash = words.empty() ? std::string::npos : words.back().find('/');
    if (slash != std::string::npos && !kOfOneHost.contains(words.back().substr(0, slash))) names.insert(words.back());
  }
  std::free(text);
  return names;
}

// "eth0" of "tcp/eth0".
std::string DeviceOf(const std::string& resource) { return resource.substr(resource.find('/') + 1); }

bool HasDevice(const std::set<std::string>& resources, const std::string& name) {
  return std::ranges::any_of(resources, [&](const std::string& resource) { return DeviceOf(resource) == name; });
}

// Whether there may be other devices than those of TCP: looking for them costs UCX as much as all the rest.
bool HasRdmaCards() {
  std::error_code error;
  return !std::filesystem::is_empty("/sys/class/infiniband", error) && !error;
}

// The devices to use instead of all that were found: those that are none of TCP, and of TCP the given interfaces.
// Empty where that would leave out none, or all of TCP.
std::string ChooseDevices(const std::set<std::string>& resources, const std::vector<std::string>& interfaces) {
  std::set<std::string> chosen;
  bool has_interface = false, leaves_out = false;
  for (const std::string& resource : resources) {
    const std::string name = DeviceOf(resource);
    const bool is_tcp = resource.starts_with("tcp/");
    const bool is_given = std::ranges::find(interfaces, name) != interfaces.end();
    has_interface |= is_tcp && is_given;
    leaves_out |= is_tcp && !is_given;
    if (!is_tcp || is_given) chosen.insert(name);
  }
  return has_interface && leaves_out ? absl::StrJoin(chosen, ",") : "";
}

// docs/decisions/055-many-hosts.md says why.
absl::Status SetOptions(ucp_config_t* config, const std::string& net_devices) {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  std::vector<std::pair<const char*, std::string>> settings = {{"KEEPALIVE_INTERVAL", "inf"}};
  if (major == 1 && minor < 17) settings.emplace_back("RNDV_THRESH", "inf");
  for (const auto& [name, value] : settings) {
    if (absl::Status status = SetOption(config, name, value.c_str()); !status.ok()) return status;
  }
  if (net_devices.empty()) return absl::OkStatus();
  const ucs_status_t status = ucp_config_modify(config, "NET_DEVICES", net_devices.c_str());
  return status == UCS_OK ? absl::OkStatus() : Error("--net-devices", status);
}

}  // namespace

absl::StatusOr<std::unique_ptr<UcxTransport>> UcxTransport::Open(const comm::TransportOptions& options) {
  auto transport = absl::WrapUnique(new UcxTransport);
  if (absl::Status status = transport->OpenContext(options); !status.ok()) return status;
  if (absl::Status status = transport->OpenWorker(); !status.ok()) return status;
  return transport;
}

absl::Status UcxTransport::OpenContext(const comm::TransportOptions& options) {
  if (!options.net_devices.empty()) {
    // UCX itself accepts names that are not there, and then finds nothing.
    if (absl::Status status = InitContext(""); !status.ok()) return status;
    const std::set<std::string> resources = Resources(context_);
    const std::vector<std::string> names = absl::StrSplit(options.net_devices, ',');
    for (const std::string& name : names) {
      if (!HasDevice(resources, name)) {
        return absl::FailedPreconditionError(
            absl::StrCat("--net-devices: UCX finds no '", name, "' among ",
                         resources.empty() ? "none" : absl::StrJoin(resources, " "),
                         "; expected a device that reaches the other hosts; name one of these"));
      }
    }
    return InitContext(options.net_devices);
  }
  const bool may_choose = std::getenv("UCX_NET_DEVICES") == nullptr && !options.interfaces.empty();
  if (may_choose && !HasRdmaCards()) {
    absl::Status status = InitContext(absl::StrJoin(options.interfaces, ","));
    if (status.ok() && !Resources(context_).empty()) return status;
  }
  if (absl::Status status = InitContext(""); !status.ok()) return status;
  const std::set<std::string> resources = Resources(context_);
  if (resources.empty()) {
    return absl::FailedPreconditionError(
        "UCX finds no network device; expected one that reaches the other hosts; look at UCX_TLS and UCX_NET_DEVICES");
  }
  const std::string chosen = may_choose ? ChooseDevices(resources, options.interfaces) : "";
  return chosen.empty() ? absl::OkStatus() : InitContext(chosen);
}

// With all devices that the user's environment allows where `net_devices` is empty.
absl::Status UcxTransport::InitContext(const std::string& net_devices) {
  if (context_ != nullptr) ucp_cleanup(std::exchange(context_, nullptr));
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = ucp_config_read(nullptr, nullptr, &config); status != UCS_OK)
    return Error("ucp_config_read", status);
  absl::Status set = SetOptions(config, net_devices);
  ucp_params_t params = {};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP;
  const ucs_status_t status = set.ok() ? ucp_init(&params, config, &context_) : UCS_OK;
  ucp_config_release(config);
  if (!set.ok()) return set;
  if (status == UCS_OK) return absl::OkStatus();
  context_ = nullptr;
  return absl::FailedPreconditionError(
      absl::StrCat("UCX finds nothing that it can use (", ucs_status_string(status),
                   "); expected a network device that reaches the other hosts; look at UCX_TLS and --net-devices"));
}

absl::Status UcxTransport::OpenWorker() {
  ucp_worker_params_t params = {};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  if (const ucs_status_t status = ucp_worker_create(context_, &params, &worker_); status != UCS_OK)
    return Error("ucp_worker_create", status);
  if (const ucs_status_t status = ucp_worker_get_efd(worker_, &descriptor_); status != UCS_OK)
    return Error("ucp_worker_get_efd", status);
  ucp_address_t* address = nullptr;
  size_t bytes = 0;
  if (const ucs_status_t status = ucp_worker_get_address(worker_, &address, &bytes); status != UCS_OK)
    return Error("ucp_worker_get_address", status);
  address_.assign(reinterpret_cast<const char*>(address), bytes);
  ucp_worker_release_address(worker_, address);
  return absl::OkStatus();
}

UcxTransport::~UcxTransport() {
  for (auto& [rank, peer] : peers_) {
    ucp_request_param_t param = {};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_EP_CLOSE_FLAG_FORCE;
    ucs_status_ptr_t closing = ucp_ep_close_nbx(peer->endpoint, &param);
    if (!UCS_PTR_IS_PTR(closing)) continue;
    for (int i = 0; i < kCloseRounds && ucp_request_check_status(closing) == UCS_INPROGRESS; ++i) Progress();
    ucp_request_free(closing);
  }
  for (ucp_mem_h memory : registered_) ucp_mem_unmap(context_, memory);
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

std::string UcxTransport::version() const { return absl::StrCat("UCX ", ucp_get_version_string()); }

std::string UcxTransport::devices() const { return absl::StrJoin(Resources(context_), " "); }

absl::Status UcxTransport::Register(std::byte* memory, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  ucp_mem_map_params_t params = {};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = memory;
  params.length = bytes;
  ucp_mem_h handle = nullptr;
  if (const ucs_status_t status = ucp_mem_map(context_, &params, &handle); status != UCS_OK)
    return absl::ResourceExhaustedError(
        absl::StrCat("network devices cannot register ", bytes, " bytes of a window (", ucs_status_string(status),
                     "); expected a limit of locked memory that allows it; raise ulimit -l"));
  registered_.push_back(handle);
  return absl::OkStatus();
}

absl::Status UcxTransport::Connect(uint32_t peer, std::string_view address) {
  std::unique_ptr<Peer>& entry = peers_[peer];
  if (entry != nullptr) return absl::OkStatus();
  auto made = std::make_unique<Peer>();
  ucp_ep_params_t params = {};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = OnPeerError, .arg = &made->error};
  if (const ucs_status_t status = ucp_ep_create(worker_, &params, &made->endpoint); status != UCS_OK) {
    peers_.erase(peer);
    return absl::UnavailableError(
        absl::StrCat("rank ", peer, " cannot be reached (", ucs_status_string(status), "; tried ", devices(),
                     "); expected a network device that both hosts have; name it with --net-devices"));
  }
  entry = std::move(made);
  return absl::OkStatus();
}

void UcxTransport::Send(uint32_t peer, uint64_t tag, const std::byte* data, uint64_t bytes, Completion& completion) {
  completion = {.state = Completion::State::kPending, .bytes = bytes};
  Peer& to = *peers_.at(peer);
  if (to.error != UCS_OK) return Complete(completion, nullptr, to.error);
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.cb.send = OnSent;
  param.user_data = &completion;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  Began(ucp_tag_send_nbx(to.endpoint, data, bytes, tag, &param), completion);
}

void UcxTransport::Receive(uint64_t tag, std::byte* data, uint64_t bytes, Completion& completion) {
  completion = {.state = Completion::State::kPending, .bytes = bytes};
  ucp_request_param_t param = {};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                       UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  param.cb.recv = OnReceived;
  param.user_data = &completion;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  Began(ucp_tag_recv_nbx(worker_, data, bytes, tag, ~uint64_t{0}, &param), completion);
}

absl::Status UcxTransport::ErrorOf(uint32_t peer) const {
  const auto found = peers_.find(peer);
  if (found == peers_.end() || found->second->error == UCS_OK) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(ucs_status_string(found->second->error), " (tried ", devices(),
                                             "); expected a device that reaches its host; name it with --net-devices"));
}

}  // namespace sgd::ucx
