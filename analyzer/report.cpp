#include "analyzer/report.h"

namespace mcpac::analyzer {

std::string Declared::text() const {
  return where.empty() ? permission : permission + " where " + where;
}

std::string to_string(Severity severity) {
  switch (severity) {
    case Severity::kNote: return "note";
    case Severity::kWarns: return "warns";
    case Severity::kRefuses: return "refuses";
  }
  return "refuses";
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk: return "ok";
    case Verdict::kRefused: return "refused";
    case Verdict::kCompileError: return "compile_error";
  }
  return "refused";
}

}  // namespace mcpac::analyzer
