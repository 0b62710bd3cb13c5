// sqlite: the few calls of SQLite that search needs, as values that clean up after themselves.
//
// The database lives in memory and holds nothing but what the lock says; it is made and dropped by
// one question. Text from outside is always bound to a parameter, never part of a statement. A call
// that fails is a bug of ours (the statements are constant) and throws std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace mcpac::codegen {

class Database {
 public:
  Database();
  void run(const std::string& statements);
  [[nodiscard]] sqlite3* get() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

// One prepared statement; parameters and columns count from 0.
class Statement {
 public:
  Statement(const Database& database, const std::string& text);
  Statement& bind(int index, std::string_view text);  // the text is copied
  Statement& bind(int index, std::int64_t number);
  [[nodiscard]] bool next();  // false: no further row; the statement is then ready for new values
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;

 private:
  void must(int code, std::string_view doing) const;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  const Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace mcpac::codegen
