// The exports of the plugin.
#include <memory>

#include "runtime/comm/hosts/transport_hash.h"
#include "runtime/ucx/ucx_transport.h"

namespace sgd::ucx {
namespace {

class UcxPlugin final : public comm::TransportPlugin {
 public:
  absl::StatusOr<std::unique_ptr<comm::Transport>> Open(const comm::TransportOptions& options) const override {
    return UcxTransport::Open(options);
  }
};

}  // namespace
}  // namespace sgd::ucx

extern "C" {

__attribute__((visibility("default"))) extern const char sgd_transport_interface[] = SGD_INTERFACE_HASH;

__attribute__((visibility("default"))) const sgd::comm::TransportPlugin* sgd_transport_module() {
  static const sgd::ucx::UcxPlugin plugin;
  return &plugin;
}

}  // extern "C"
