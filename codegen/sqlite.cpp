#include "codegen/sqlite.h"

#include <sqlite3.h>

#include <limits>
#include <stdexcept>

namespace mcpac::codegen {
namespace {

[[noreturn]] void broken(sqlite3* handle, std::string_view doing) {
  throw std::runtime_error("sqlite: " + std::string(doing) + ": " + sqlite3_errmsg(handle));
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

Database::Database() {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &handle,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX,
      nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) broken(handle, "opening");
}

void Database::run(const std::string& statements) {
  if (sqlite3_exec(get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    broken(get(), "running");
}

void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

Statement::Statement(const Database& database, const std::string& text) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  must(sqlite3_prepare_v2(database.get(), text.c_str(), -1, &handle, nullptr), "preparing");
  handle_.reset(handle);
}

void Statement::must(int code, std::string_view doing) const {
  if (code != SQLITE_OK) broken(database_.get(), doing);
}

Statement& Statement::bind(int index, std::string_view text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error("sqlite: a text of more than 2 GiB");
  must(sqlite3_bind_text(handle_.get(), index + 1, text.data(), static_cast<int>(text.size()),
                         SQLITE_TRANSIENT),
       "binding");
  return *this;
}

Statement& Statement::bind(int index, std::int64_t number) {
  must(sqlite3_bind_int64(handle_.get(), index + 1, number), "binding");
  return *this;
}

bool Statement::next() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) broken(database_.get(), "stepping");
  must(sqlite3_reset(handle_.get()), "resetting");
  return false;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

double Statement::real(int column) const {
  return sqlite3_column_double(handle_.get(), column);
}

}  // namespace mcpac::codegen
