// OpenSSL's HMAC over labelled copies of the messages: a proof of one kind is none of another.
#include "runtime/comm/tcp/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <climits>
#include <type_traits>
#include <utility>

namespace sgd::comm {
namespace {

// The last character is the form's number.
constexpr uint64_t kGreeting = 0x326e6168632d6773;  // "sg-chan2"
constexpr uint64_t kHello = 0x326f6c6c682d6773;
constexpr uint64_t kWelcome = 0x32656d6f772d6773;

bool IsOtherForm(uint64_t magic, uint64_t ours) { return magic != ours && magic << 8 == ours << 8; }

static_assert(std::has_unique_object_representations_v<Greeting> && std::has_unique_object_representations_v<Hello> &&
                  std::has_unique_object_representations_v<Welcome>,
              "they travel as they lie in memory");

template <typename Message>
std::string_view CharactersOf(const Message& message) {
  return {reinterpret_cast<const char*>(&message), sizeof(message)};
}

// Both messages but for the hello's own proof, under a label.
std::string Transcript(std::string_view label, const Greeting& greeting, Hello hello) {
  hello.proof = {};
  std::string text(label);
  text += CharactersOf(greeting);
  text += CharactersOf(hello);
  return text;
}

absl::StatusOr<Digest> ProofOfHello(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return Authenticate(secret, Transcript("sgd connector", greeting, hello));
}

absl::StatusOr<Digest> ProofOfWelcome(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return Authenticate(secret, Transcript("sgd listener", greeting, hello));
}

absl::StatusOr<std::string> KeyFor(std::string_view label, std::string_view secret, const Greeting& greeting,
                                   const Hello& hello) {
  const absl::StatusOr<Digest> digest = Authenticate(secret, Transcript(label, greeting, hello));
  if (!digest.ok()) return digest.status();
  return std::string(CharactersOf(*digest));
}

bool IsEqual(const absl::StatusOr<Digest>& computed, const Digest& given) {
  return computed.ok() && AreEqual(*computed, given);
}

}  // namespace

absl::StatusOr<Digest> Authenticate(std::string_view key, std::string_view message) {
  // OpenSSL takes a null key for "as before".
  const char* data = key.empty() ? "" : key.data();
  Digest digest = {};
  unsigned length = 0;
  const bool is_made =
      key.size() <= INT_MAX &&
      HMAC(EVP_sha256(), data, static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(message.data()),
           message.size(), reinterpret_cast<unsigned char*>(digest.data()), &length) != nullptr;
  if (is_made && length == digest.size()) return digest;
  return absl::InternalError("the OpenSSL library gives no HMAC-SHA-256: check its configuration (OPENSSL_CONF)");
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

bool IsOtherGreeting(const Greeting& greeting) { return IsOtherForm(greeting.magic, kGreeting); }

absl::Status Sign(std::string_view secret, const Greeting& greeting, Hello& hello) {
  absl::StatusOr<Digest> challenge = RandomChallenge();
  if (!challenge.ok()) return challenge.status();
  hello.magic = kHello;
  hello.challenge = *challenge;
  const absl::StatusOr<Digest> proof = ProofOfHello(secret, greeting, hello);
  if (proof.ok()) hello.proof = *proof;
  return proof.status();
}

bool IsHello(const Hello& hello) { return hello.magic == kHello; }

bool IsOtherHello(const Hello& hello) { return IsOtherForm(hello.magic, kHello); }

bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  return IsEqual(ProofOfHello(secret, greeting, hello), hello.proof);
}

absl::StatusOr<Welcome> MakeWelcome(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  const absl::StatusOr<Digest> proof = ProofOfWelcome(secret, greeting, hello);
  if (!proof.ok()) return proof.status();
  return Welcome{kWelcome, 0, 0, *proof};
}

Welcome MakeRefusal() { return {kWelcome, 1, 0, {}}; }

bool IsWelcome(const Welcome& welcome) { return welcome.magic == kWelcome; }

bool IsProven(std::string_view secret, const Greeting& greeting, const Hello& hello, const Welcome& welcome) {
  return IsEqual(ProofOfWelcome(secret, greeting, hello), welcome.proof);
}

absl::StatusOr<SessionKeys> DeriveKeys(std::string_view secret, const Greeting& greeting, const Hello& hello) {
  absl::StatusOr<std::string> of_listener = KeyFor("sgd key of the listener", secret, greeting, hello);
  absl::StatusOr<std::string> of_connector = KeyFor("sgd key of the connector", secret, greeting, hello);
  if (!of_listener.ok()) return of_listener.status();
  if (!of_connector.ok()) return of_connector.status();
  return SessionKeys{*std::move(of_listener), *std::move(of_connector)};
}

}  // namespace sgd::comm
