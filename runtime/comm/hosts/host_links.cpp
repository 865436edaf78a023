// Links are opened once and stay until the transport ends.
#include "runtime/comm/hosts/host_links.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::comm {
namespace {

// The control channel hears of a death about when the transport does, and knows more of it.
constexpr int64_t kGraceOfControl = 50'000'000;  // nanoseconds

}  // namespace

HostLinks::HostLinks(std::unique_ptr<Transport> transport, Control& control, Placement placement,
                     absl::Duration timeout)
    : transport_(std::move(transport)), control_(control), placement_(std::move(placement)), timeout_(timeout) {}

absl::Status HostLinks::Connect(uint32_t peer) {
  const absl::StatusOr<std::string> address = control_.OfferOf(peer, timeout_);
  return address.ok() ? transport_->Connect(peer, *address) : address.status();
}

absl::StatusOr<HostLink*> HostLinks::Open(uint32_t peer, uint64_t stream) {
  const std::pair<uint32_t, uint64_t> key(peer, stream);
  if (const auto found = links_.find(key); found != links_.end()) return found->second.get();
  const auto of_peer = links_.lower_bound({peer, 0});
  const bool is_connected = of_peer != links_.end() && of_peer->first.first == peer;
  if (absl::Status status = is_connected ? absl::OkStatus() : Connect(peer); !status.ok()) return status;
  auto link = std::make_unique<HostLink>(*transport_, control_.rank(), peer, stream);
  return links_.emplace(key, std::move(link)).first->second.get();
}

bool HostLinks::Progress() {
  if (transport_ == nullptr) return false;
  const bool moved = transport_->Progress();
  for (const auto& [key, link] : links_) link->SendDueAck();
  return moved;
}

absl::Status HostLinks::Failure(const std::string& description) {
  if (absl::Status cause = control_.Poll(); !cause.ok())
    return absl::AbortedError(absl::StrCat(description, " was given up: ", cause.message()));
  for (const auto& [key, link] : links_) {
    absl::Status error = transport_->ErrorOf(link->peer());
    if (error.ok()) error = link->error();
    if (!error.ok()) return FailureOf(link->peer(), error, description);
  }
  return absl::OkStatus();
}

absl::Status HostLinks::FailureOf(uint32_t peer, const absl::Status& error, const std::string& description) {
  for (const int64_t begin = SteadyNanoseconds(); SteadyNanoseconds() - begin < kGraceOfControl;
       absl::SleepFor(absl::Milliseconds(1))) {
    if (absl::Status cause = control_.Poll(); !cause.ok())
      return absl::AbortedError(absl::StrCat(description, " was given up: ", cause.message()));
  }
  return absl::UnavailableError(
      absl::StrCat(description, ": the connection to ", placement_.Describe(peer), " is lost: ", error.message()));
}

}  // namespace sgd::comm
