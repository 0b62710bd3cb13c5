// SPDX-License-Identifier: Apache-2.0

#include "audit/signing_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/abandoned.h"
#include "core/file.h"

namespace mcpac::audit {
namespace {

constexpr std::size_t kMaxKeyFile = 65'536;
constexpr const char* kElsewhere =
    "free space, or point XDG_STATE_HOME at a folder that you can write";
constexpr const char* kWhichKey =
    "--key FILE names the public key of who wrote the log: 64 hexadecimal digits a line, as in "
    "audit-key/public of the state folder";

std::unexpected<Error> unusable(const std::filesystem::path& path, std::string_view what,
                                std::string fix) {
  return fail(
      ErrorId::kAuditKey, fmt::format("the key of the audit log cannot be used: {}", what),
      {.where = path.string(),
       .why =
           "records that nobody can sign prove nothing, so nothing is recorded, and nothing runs",
       .fix = std::move(fix)});
}

std::string statement(std::string_view domain, const Digest& hash) {
  std::string text(domain);
  text += '\0';
  text.append(reinterpret_cast<const char*>(hash.data()), hash.size());
  return text;
}

bool is_there(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

Result<Digest> read_seed(const std::filesystem::path& file) {
  UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) {
    return unusable(file, std::system_category().message(errno), "make the file readable to you");
  }
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & 077U) != 0) {
    return unusable(file, "it is not a file of yours alone",
                    fmt::format("if nobody else can have read it: chmod 600 {}", file.string()));
  }
  auto text = read_descriptor(fd.get(), file.string(), kMaxKeyFile);
  if (!text) return pass_on(text);
  if (text->ends_with('\n')) text->pop_back();
  Digest seed{};
  const bool whole = read_hex(*text, seed.data(), seed.size());
  sodium_memzero(text->data(), text->size());
  if (!whole) return unusable(file, "it does not hold a key", "restore the file from a backup");
  return seed;
}

// Whole or not at all, and never over a key that is there already: written aside, then linked.
Result<void> make_seed(const std::filesystem::path& file) {
  Digest seed{};
  randombytes_buf(seed.data(), seed.size());
  const std::string text = hex(seed) + "\n";
  const std::filesystem::path aside = name_beside(file);
  UniqueFd fd(::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  bool done = fd &&
              ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
              ::fsync(fd.get()) == 0;
  const int error = errno;
  if (done) done = ::link(aside.c_str(), file.c_str()) == 0 || errno == EEXIST;
  ::unlink(aside.c_str());
  if (done) return {};
  return unusable(file, std::system_category().message(error), kElsewhere);
}

// The folder is the user's alone; one that others can write could hold a key of theirs.
Result<void> prepare(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  struct stat info {};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return unusable(folder, std::system_category().message(errno), kElsewhere);
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != ::geteuid()) {
    return unusable(
        folder, "its folder is none of yours",
        fmt::format("move {} away, or point XDG_STATE_HOME elsewhere", folder.string()));
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return unusable(folder, "others can write its folder",
                    fmt::format("if nobody else has written there: chmod 700 {}", folder.string()));
  }
  return {};
}

}  // namespace

std::filesystem::path key_folder(const std::filesystem::path& log_folder) {
  return log_folder.parent_path() / "audit-key";
}

SigningKey::SigningKey(const Digest& seed) : seed_(seed) {
  crypto_sign_seed_keypair(public_.data(), secret_.data(), seed_.data());
}

SigningKey::~SigningKey() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(secret_.data(), secret_.size());
}

Result<SigningKey> SigningKey::load(const std::filesystem::path& folder) {
  if (sodium_init() < 0) return fail(ErrorId::kInternal, "libsodium does not start");
  if (auto ready = prepare(folder); !ready) return pass_on(ready);
  const auto secret = folder / "secret";
  const auto open = folder / "public";
  if (!is_there(secret)) {
    if (is_there(open)) {
      return unusable(
          secret, "its secret half is gone",
          fmt::format("put it back; or keep {} elsewhere for `mcpac audit verify --key` "
                      "and remove it here: then a new key is made",
                      open.string()));
    }
    if (auto made = make_seed(secret); !made) return pass_on(made);
  }
  auto seed = read_seed(secret);
  if (!seed) return pass_on(seed);
  SigningKey key(*seed);
  if (!is_there(open)) {
    const std::string text = hex(key.public_) + "\n";
    if (auto written = write_file_atomic(open, text, 0644); !written) return pass_on(written);
  }
  return key;
}

Signature SigningKey::sign(std::string_view domain, const Digest& hash) const {
  const std::string text = statement(domain, hash);
  Signature signature{};
  crypto_sign_detached(signature.data(), nullptr,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       secret_.data());
  return signature;
}

Digest SigningKey::argument_key(std::string_view run_id) const {
  return blake2b(std::string("mcpac audit v1 arguments").append(1, '\0').append(run_id), &seed_);
}

std::string key_name(const PublicKey& key) {
  return hex(key.data(), 8);
}

Result<std::vector<PublicKey>> read_public_keys(const std::filesystem::path& file) {
  auto text = read_file(file, kMaxKeyFile);
  if (!text) {
    return fail(ErrorId::kAuditKey, "there is no public key to verify with",
                {.where = file.string(), .why = text.error().what, .fix = kWhichKey});
  }
  std::vector<PublicKey> keys;
  for (std::string_view rest = *text; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty() || line.starts_with('#')) continue;
    PublicKey key{};
    if (!read_hex(line, key.data(), key.size())) {
      return fail(ErrorId::kAuditKey, "the file does not hold public keys",
                  {.where = file.string(),
                   .why = "a line of it is no key of 64 lower-case hexadecimal digits",
                   .fix = kWhichKey});
    }
    keys.push_back(key);
  }
  if (keys.empty())
    return fail(ErrorId::kAuditKey, "the file holds no public key",
                {.where = file.string(), .why = "it is empty", .fix = kWhichKey});
  return keys;
}

bool is_signed(const PublicKey& key, std::string_view domain, const Digest& hash,
               const Signature& signature) {
  const std::string text = statement(domain, hash);
  return crypto_sign_verify_detached(signature.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     text.size(), key.data()) == 0;
}

}  // namespace mcpac::audit
