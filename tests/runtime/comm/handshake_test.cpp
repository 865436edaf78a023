// The proofs, against published test vectors and against every kind of tampering.
#include "runtime/comm/tcp/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "runtime/comm/tcp/frame.h"

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

std::string Hex(const Digest& digest) {
  return absl::BytesToHexString(std::string(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

TEST(Hmac, IsThatOfRfc4231) {
  // RFC 4231, test cases 1, 2 and 6.
  EXPECT_EQ(Hex(*Authenticate(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(Hex(*Authenticate("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(Hex(*Authenticate(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  EXPECT_EQ(Hex(*Authenticate("", "")), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

struct Handshake : ::testing::Test {
  Handshake() : greeting(*MakeGreeting()) {
    hello.rank = 3;
    hello.size = 8;
    EXPECT_TRUE(Sign(secret, greeting, hello).ok());
  }
  const std::string secret = "swordfish";
  Greeting greeting;
  Hello hello;
};

TEST_F(Handshake, EndsThatShareASecretAgree) {
  EXPECT_TRUE(IsGreeting(greeting) && IsHello(hello));
  EXPECT_TRUE(IsProven(secret, greeting, hello));
  const Welcome welcome = *MakeWelcome(secret, greeting, hello);
  EXPECT_TRUE(IsWelcome(welcome));
  EXPECT_TRUE(IsProven(secret, greeting, hello, welcome));
  const SessionKeys keys = *DeriveKeys(secret, greeting, hello);
  EXPECT_NE(keys.of_listener, keys.of_connector);
}

TEST_F(Handshake, OthersDoNot) {
  EXPECT_FALSE(IsProven("sword", greeting, hello));
  EXPECT_FALSE(IsProven("", greeting, hello));
  EXPECT_FALSE(IsProven(secret, greeting, hello, *MakeWelcome("sword", greeting, hello)));
  EXPECT_FALSE(IsProven(secret, greeting, hello, MakeRefusal()));
}

TEST_F(Handshake, NothingCanBeChangedOrSaidAgain) {
  Hello other = hello;
  other.rank = 2;
  EXPECT_FALSE(IsProven(secret, greeting, other));
  other = hello;
  other.proof[5] ^= std::byte{1};
  EXPECT_FALSE(IsProven(secret, greeting, other));
  EXPECT_FALSE(IsProven(secret, *MakeGreeting(), hello));  // of another connection
  // A rank's own proof is none of the listener's.
  Welcome mirrored = *MakeWelcome(secret, greeting, hello);
  mirrored.proof = hello.proof;
  EXPECT_FALSE(IsProven(secret, greeting, hello, mirrored));
}

// Acts as OpenSSL does when a configuration leaves it without providers.
class LibraryWithoutHmac {
 public:
  LibraryWithoutHmac() { EXPECT_EQ(EVP_set_default_properties(nullptr, "provider=none"), 1); }
  ~LibraryWithoutHmac() { EXPECT_EQ(EVP_set_default_properties(nullptr, ""), 1); }
};

TEST_F(Handshake, WithoutAnHmacNothingIsProvenOrSent) {
  const Welcome welcome = *MakeWelcome(secret, greeting, hello);
  const std::string wire = *FrameEncoder("key").Encode(1, 0, "payload");
  // A proof of zeros is what a result that nobody looks at would be compared with.
  Hello zeros = hello;
  zeros.proof = {};
  Welcome zero_welcome = welcome;
  zero_welcome.proof = {};
  const LibraryWithoutHmac without;
  EXPECT_THAT(std::string(Authenticate(secret, "text").status().message()), HasSubstr("gives no HMAC-SHA-256"));
  EXPECT_FALSE(IsProven(secret, greeting, hello));
  EXPECT_FALSE(IsProven(secret, greeting, zeros));
  EXPECT_FALSE(IsProven(secret, greeting, hello, welcome));
  EXPECT_FALSE(IsProven(secret, greeting, hello, zero_welcome));
  EXPECT_FALSE(Sign(secret, greeting, hello).ok());
  EXPECT_FALSE(MakeWelcome(secret, greeting, hello).ok());
  EXPECT_FALSE(DeriveKeys(secret, greeting, hello).ok());
  EXPECT_FALSE(FrameEncoder("key").Encode(1, 0, "payload").ok());
  FrameDecoder decoder("key");
  decoder.Feed(wire);
  absl::Status error;
  EXPECT_FALSE(decoder.Next(error).has_value());
  EXPECT_THAT(std::string(error.message()), HasSubstr("gives no HMAC-SHA-256"));
}

}  // namespace
}  // namespace sgd::comm
