// Keys begin with the number of the client, since a key has one value for as long as the coordinator lives.
#include "plugins/pjrt/processes.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/unique_fd.h"
#include "runtime/comm/tcp/control_link.h"

namespace sgd::pjrt {
namespace {

constexpr absl::Duration kSlice = absl::Seconds(1);
constexpr uint32_t kMostSeconds = 1'000'000;
constexpr uint32_t kMostDevicesOfProcess = 4096;

uint64_t NextClient() {
  static std::atomic<uint64_t> clients = 0;
  return clients++;
}

// The address of this host on the way to the coordinator. Sends nothing.
absl::StatusOr<std::string> HostTowards(const std::string& coordinator) {
  absl::StatusOr<comm::HostAndPort> place = comm::ParseHostAndPort(coordinator);
  if (!place.ok()) return place.status();
  absl::StatusOr<std::vector<comm::SocketAddress>> addresses = comm::Resolve(*place);
  if (!addresses.ok()) return addresses.status();
  for (const comm::SocketAddress& address : *addresses) {
    const comm::UniqueFd socket(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!socket.valid() || connect(socket.get(), address.get(), address.length) != 0) continue;
    absl::StatusOr<comm::HostAndPort> own = comm::ParseHostAndPort(comm::OwnEndOf(socket.get()).Text());
    if (own.ok()) return own->host;
  }
  return absl::UnavailableError(absl::StrCat("no network of this host leads to JAX's coordinator at ", coordinator));
}

// Gets a key in slices, so that `check` is asked.
absl::StatusOr<std::string> GetPatiently(const KeyValueStore& store, const std::string& key, absl::Duration timeout,
                                         const std::function<absl::Status()>& check) {
  const absl::Time end = SteadyNow() + timeout;
  while (true) {
    absl::StatusOr<std::string> value = store.Get(key, std::min(kSlice, timeout));
    if (value.ok() || !absl::IsDeadlineExceeded(value.status()) || SteadyNow() >= end) return value;
    if (absl::Status status = check ? check() : absl::OkStatus(); !status.ok()) return status;
  }
}

}  // namespace

absl::StatusOr<absl::Duration> DeadlineOfProcesses() {
  const char* text = std::getenv("SGD_DEADLINE");
  uint32_t seconds = 300;
  if (text != nullptr && (!absl::SimpleAtoi(text, &seconds) || seconds < 1 || seconds > kMostSeconds))
    return absl::InvalidArgumentError(
        absl::StrCat("SGD_DEADLINE is '", text, "'; expected a number of seconds, 1 to ", kMostSeconds));
  return absl::Seconds(seconds);
}

Processes::Processes(const ProcessClaim& claim, const KeyValueStore& store)
    : claim_(claim), store_(store), client_(NextClient()), devices_(claim.count) {}

std::string Processes::Key(std::string_view name) const {
  return absl::StrCat("sgd/client", client_, "/", std::string(name));
}

absl::StatusOr<std::unique_ptr<Processes>> Processes::Meet(const ProcessClaim& claim, const KeyValueStore& store) {
  if (claim.index >= claim.count)
    return absl::InvalidArgumentError(absl::StrCat("process ", claim.index, " is none of ", claim.count, " processes"));
  if (!store.is_there())
    return absl::FailedPreconditionError(absl::StrCat(
        "there are ", claim.count,
        " processes, and no coordinator for them; call jax.distributed.initialize() before the first use of a device"));
  std::unique_ptr<Processes> self(new Processes(claim, store));
  absl::StatusOr<absl::Duration> deadline = DeadlineOfProcesses();
  if (!deadline.ok()) return deadline.status();
  self->deadline_ = *deadline;
  absl::StatusOr<std::string> host = HostTowards(claim.coordinator);
  if (!host.ok()) return host.status();
  self->host_ = *std::move(host);
  if (absl::Status status = self->ExchangeDevices(); !status.ok()) return status;
  if (absl::Status status = self->ShareSecret(); !status.ok()) return status;
  return self;
}

absl::Status Processes::ExchangeDevices() {
  if (absl::Status status = store_.Put(Key(absl::StrCat("devices/", index())), absl::StrCat(claim_.devices));
      !status.ok())
    return status;
  const absl::Time end = SteadyNow() + deadline_;
  for (uint32_t process = 0; process < claim_.count; ++process) {
    const absl::Duration left = std::max(end - SteadyNow(), absl::Milliseconds(1));
    absl::StatusOr<std::string> text = GetPatiently(store_, Key(absl::StrCat("devices/", process)), left, nullptr);
    if (absl::IsDeadlineExceeded(text.status()))
      return absl::DeadlineExceededError(absl::StrCat("process ", process, " of ", claim_.count,
                                                      " has not started the platform sgd within ",
                                                      absl::FormatDuration(deadline_), " (SGD_DEADLINE)"));
    if (!text.ok()) return text.status();
    if (!absl::SimpleAtoi(*text, &devices_[process]) || devices_[process] > kMostDevicesOfProcess)
      return absl::InternalError(absl::StrCat("process ", process, " says that it has '", *text, "' devices"));
  }
  return absl::OkStatus();
}

absl::Status Processes::ShareSecret() {
  if (index() == 0) {
    char drawn[32];
    if (getrandom(drawn, sizeof(drawn), 0) != static_cast<ssize_t>(sizeof(drawn)))
      return absl::InternalError("getrandom failed");
    secret_ = absl::BytesToHexString(absl::string_view(drawn, sizeof(drawn)));
    return store_.Put(Key("secret"), secret_);
  }
  absl::StatusOr<std::string> secret = GetPatiently(store_, Key("secret"), deadline_, nullptr);
  if (secret.ok()) secret_ = *std::move(secret);
  return secret.status();
}

absl::StatusOr<std::unique_ptr<comm::TcpAcceptor>> Processes::Listen(const std::string& name,
                                                                     comm::HostAndPort* place) const {
  *place = {host_, 0};
  absl::StatusOr<comm::TcpAcceptor> acceptor = comm::ListenAt(*place, secret_, nullptr);
  if (!acceptor.ok()) return acceptor.status();
  place->port = acceptor->port();
  if (absl::Status status = store_.Put(Key(name), place->Text()); !status.ok()) return status;
  return std::make_unique<comm::TcpAcceptor>(*std::move(acceptor));
}

absl::StatusOr<comm::HostAndPort> Processes::Find(const std::string& name,
                                                  const std::function<absl::Status()>& check) const {
  absl::StatusOr<std::string> text = GetPatiently(store_, Key(name), deadline_, check);
  if (!text.ok()) return text.status();
  return comm::ParseHostAndPort(*text);
}

}  // namespace sgd::pjrt
