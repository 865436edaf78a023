// How the two ends of a connection prove to each other that they have the job's secret, which is never sent: each
// answers the other's random challenge with an HMAC-SHA-256 (RFC 2104) over both challenges and what it claims.
// Plain data; nothing here touches a socket.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sgd::comm {

using Digest = std::array<std::byte, 32>;

// HMAC-SHA-256. Internal when the library gives none, as one in FIPS mode or without its providers may: then nothing is
// proven, sent or believed.
absl::StatusOr<Digest> Authenticate(std::string_view key, std::string_view message);
// In a time that does not depend on where they differ.
bool AreEqual(const Digest& a, const Digest& b);
// 32 bytes from the system's source of randomness.
absl::StatusOr<Digest> RandomChallenge();

// First message of a connection, from the end that listens.
struct Greeting {
  uint64_t magic = 0;
  Digest challenge = {};
};

// Answer of the end that has connected: its claims, proven by `proof`.
struct Hello {
  uint64_t magic = 0;
  Digest challenge = {};
  uint32_t rank = 0;
  uint32_t size = 0;     // of the job
  uint32_t purpose = 0;  // of the connection, a number of the caller's
  uint32_t nodes = 0;    // --nnodes of this rank's launcher; 0 without one
  std::array<char, 64> version = {};
  Digest proof = {};

  std::string VersionText() const { return {version.data(), strnlen(version.data(), version.size())}; }
  void SetVersion(std::string_view text) { text.copy(version.data(), version.size()); }
};

// Answer to a hello. Without a proof it comes from nobody in particular.
struct Welcome {
  uint64_t magic = 0;
  uint32_t is_refused = 0;  // the secret is wrong
  uint32_t unused = 0;
  Digest proof = {};
};

absl::StatusOr<Greeting> MakeGreeting();
bool IsGreeting(const Greeting& greeting);
// Whether a rank of another release sent it, whose messages have another form.
bool IsOtherGreeting(const Greeting& greeting);
// Fills magic, challenge and proof of a hello that says the rest.
absl::Status Sign(std::string_view secret, const Greeting& greeting, Hello& hello);
bool IsHello(const Hello& hello);
// As IsOtherGreeting. Only the magic number needs to have come.
bool IsOtherHello(const Hello& hello);
// False also when there is no HMAC to compare with.
bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello);
absl::StatusOr<Welcome> MakeWelcome(std::string_view secret, const Greeting& greeting, const Hello& hello);
Welcome MakeRefusal();
bool IsWelcome(const Welcome& welcome);
bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello, const Welcome& welcome);

// The keys of what follows on the connection, one for each direction.
struct SessionKeys {
  std::string of_listener;   // for what the end that listens sends
  std::string of_connector;  // for what the other one sends
};
absl::StatusOr<SessionKeys> DeriveKeys(std::string_view secret, const Greeting& greeting, const Hello& hello);

}  // namespace sgd::comm
