// OpenSSL's HMAC over labelled copies of the messages: a proof of one kind is none of another.
#include "runtime/comm/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <type_traits>

namespace sgd::comm {
namespace {

constexpr uint64_t kGreeting = 0x316e6168632d6773;  // "sg-chan1"
constexpr uint64_t kHello = 0x316f6c6c682d6773;
constexpr uint64_t kWelcome = 0x31656d6f772d6773;

static_assert(std::has_unique_object_representations_v<Greeting> && std::has_unique_object_representations_v<Hello> &&
                  std::has_unique_object_representations_v<Welcome>,
              "they travel as they lie in memory");

template <typename Message>
std::string_view BytesOf(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

// Both messages but for the hello's own proof, under a label.
std::string Transcript(std::string_view label, const Greeting& greeting, Hello hello) {
  hello.proof = {};
  std::string text(label);
  text += BytesOf(greeting);
  text += BytesOf(hello);
  return text;
}

Digest ProofOfHello(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return Authenticate(secret, Transcript("sgd connector", greeting, hello));
}

Digest ProofOfWelcome(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return Authenticate(secret, Transcript("sgd listener", greeting, hello));
}

std::string KeyOf(const Digest& digest) { return std::string(BytesOf(digest)); }

}  // namespace

Digest Authenticate(std::string_view key, std::string_view message) {
  // OpenSSL takes a null key for "as before".
  const char* data = key.empty() ? "" : key.data();
  Digest digest = {};
  unsigned length = 0;
  HMAC(EVP_sha256(), data, static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
       message.size(), reinterpret_cast<unsigned char*>(digest.data()), &length);
  return digest;
}

bool AreEqual(const Digest& a, const Digest& b) { return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

absl::StatusOr<Digest> RandomChallenge() {
  Digest challenge;
  if (getrandom(challenge.data(), challenge.size(), 0) != static_cast<ssize_t>(challenge.size())) {
    return absl::InternalError("the system has no random bytes");
  }
  return challenge;
}

absl::StatusOr<Greeting> MakeGreeting() {
  absl::StatusOr<Digest> challenge = RandomChallenge();
  if (!challenge.ok()) return challenge.status();
  return Greeting{kGreeting, *challenge};
}

bool IsGreeting(const Greeting& greeting) { return greeting.magic == kGreeting; }

absl::Status Sign(std::string_view secret, const Greeting& greeting, Hello& hello) {
  absl::StatusOr<Digest> challenge = RandomChallenge();
  if (!challenge.ok()) return challenge.status();
  hello.magic = kHello;
  hello.challenge = *challenge;
  hello.proof = ProofOfHello(secret, greeting, hello);
  return absl::OkStatus();
}

bool IsHello(const Hello& hello) { return hello.magic == kHello; }

bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return AreEqual(hello.proof, ProofOfHello(secret, greeting, hello));
}

Welcome MakeWelcome(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return {kWelcome, 0, 0, ProofOfWelcome(secret, greeting, hello)};
}

Welcome MakeRefusal() { return {kWelcome, 1, 0, {}}; }

bool IsWelcome(const Welcome& welcome) { return welcome.magic == kWelcome; }

bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello, const Welcome& welcome) {
  return AreEqual(welcome.proof, ProofOfWelcome(secret, greeting, hello));
}

SessionKeys DeriveKeys(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return {KeyOf(Authenticate(secret, Transcript("sgd key of the listener", greeting, hello))),
          KeyOf(Authenticate(secret, Transcript("sgd key of the connector", greeting, hello)))};
}

}  // namespace sgd::comm
