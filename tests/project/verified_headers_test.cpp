#include "project/verified_headers.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/chain.h"
#include "core/file.h"
#include "core/hash.h"

using namespace mcpac;
using project::VerifiedHeaders;
namespace fs = std::filesystem;

namespace {

const std::string kName = "fs.hpp";
const std::string kText = "#pragma once  // as it was approved\n";
const std::string kForgedText = "#pragma once  // as somebody did it\n";

codegen::Lock lock_of(const std::string& text) {
  codegen::Lock lock;
  lock.headers[kName] = sha256_hex(text);
  return lock;
}

struct ApprovedPlace {
  TemporaryFolder home =
      TemporaryFolder::create(fs::temp_directory_path(), "mcpac-verified-").value();
  project::Folders folders;
  project::Project project;

  ApprovedPlace() {
    folders.cache = home.path() / "cache";
    project.folder = home.path() / "project";
    project.config_file = project.folder / "mcpac.json";
    fs::create_directories(project.headers());
    put(kText);
  }
  [[nodiscard]] fs::path header() const { return project.headers() / kName; }
  void put(const std::string& text) const {
    REQUIRE(write_file_atomic(header(), text).has_value());
  }
  // As a run does it. "": they are those of the lock.
  [[nodiscard]] std::string held(const std::string& approved) const {
    VerifiedHeaders verified(project, folders);
    const auto done = verified.hold(lock_of(approved), kName);
    verified.keep();
    return done ? "" : std::string(to_string(done.error().id));
  }
  [[nodiscard]] fs::path record() const {
    std::error_code none;
    fs::directory_iterator files(folders.cache / "verified", none);
    return none || files == fs::directory_iterator() ? fs::path() : files->path();
  }
  // Runs until one of them may remember, which is a tick of the clock after the file was written.
  [[nodiscard]] fs::path remembered(const std::string& approved) const {
    for (int i = 0; i < 1'000 && record().empty(); ++i) {
      REQUIRE(held(approved).empty());
      ::usleep(10'000);
    }
    REQUIRE(!record().empty());
    return record();
  }
};

// The record of a header that is another one than the lock's, and says that it is the lock's.
struct Forged : ApprovedPlace {
  fs::path file;
  std::string text;  // without its digest
  Forged() {
    put(kForgedText);
    file = remembered(kForgedText);
    text = read_file(file).value();
    text.erase(0, text.find('\n') + 1);
    const auto digest = text.find(sha256_hex(kForgedText));
    REQUIRE(digest != std::string::npos);
    text.replace(digest, sha256_hex(kText).size(), sha256_hex(kText));
  }
  void write(const std::string& digest, mode_t mode = 0600) const {
    REQUIRE(write_file_atomic(file, digest + "\n" + text, mode).has_value());
    REQUIRE(::chmod(file.c_str(), mode) == 0);
  }
  [[nodiscard]] std::string right_digest() const { return audit::hex(audit::blake2b(text)); }
};

const std::string kDrift{to_string(ErrorId::kHeaderDrift)};

}  // namespace

TEST_SUITE("execute/verified headers") {
  TEST_CASE("a header that was held against the lock is remembered by its stamp") {
    const Forged place;
    CHECK(place.held(kText) == kDrift);  // nothing says otherwise yet
    place.write(place.right_digest());
    CHECK(place.held(kText).empty());  // who may write there may say so: nobody else may
  }

  TEST_CASE("a record that is altered, cut off or open to others is none") {
    const Forged place;
    place.write(std::string(64, '0'));
    CHECK(place.held(kText) == kDrift);
    place.write("");
    CHECK(place.held(kText) == kDrift);
    place.write(place.right_digest(), 0644);
    CHECK(place.held(kText) == kDrift);
    place.write(place.right_digest(), 0620);
    CHECK(place.held(kText) == kDrift);
    place.write(place.right_digest());
    fs::rename(place.file, place.home.path() / "elsewhere");
    fs::create_symlink(place.home.path() / "elsewhere", place.file);
    CHECK(place.held(kText) == kDrift);
  }

  TEST_CASE("the record of another project is none") {
    const Forged place;
    place.write(place.right_digest());
    project::Project other = place.project;
    other.folder = place.home.path() / "other";
    other.config_file = other.folder / "mcpac.json";
    // The very same files, by another name.
    fs::create_directory_symlink(place.project.folder, other.folder);
    const auto of_other = place.file.parent_path() /
                          (sha256_hex(other.headers().native()).substr(0, 32) + ".headers");
    fs::copy_file(place.file, of_other);
    REQUIRE(::chmod(of_other.c_str(), 0600) == 0);
    VerifiedHeaders verified(other, place.folders);
    CHECK_FALSE(verified.hold(lock_of(kText), kName).has_value());
  }

  TEST_CASE("a header that changed is read, whatever was done to its size and time") {
    const ApprovedPlace place;
    REQUIRE(!place.remembered(kText).empty());
    CHECK(place.held(kText).empty());
    struct stat before {};
    REQUIRE(::stat(place.header().c_str(), &before) == 0);
    REQUIRE(kForgedText.size() == kText.size());
    // In its place, so that it stays the same inode.
    const UniqueFd fd(::open(place.header().c_str(), O_WRONLY | O_CLOEXEC));
    REQUIRE(::pwrite(fd.get(), kForgedText.data(), kForgedText.size(), 0) ==
            static_cast<ssize_t>(kForgedText.size()));
    const timespec times[2] = {before.st_atim, before.st_mtim};
    REQUIRE(::futimens(fd.get(), times) == 0);
    CHECK(place.held(kText) == kDrift);
  }

  TEST_CASE("another lock, a header that is gone and a folder in its place are seen") {
    const ApprovedPlace place;
    REQUIRE(!place.remembered(kText).empty());
    CHECK(place.held(kForgedText) == kDrift);
    REQUIRE(fs::remove(place.header()));
    CHECK(place.held(kText) == kDrift);
    fs::create_directory(place.header());
    CHECK(place.held(kText) == kDrift);
  }

  TEST_CASE("what lies in memory is held against the lock each time") {
    ApprovedPlace place;
    auto kept = std::make_shared<project::KeptProject>();
    kept->headers[kName] = kForgedText;
    REQUIRE(!place.remembered(kText).empty());
    place.project.kept = std::move(kept);
    CHECK(place.held(kText) == kDrift);
  }
}
