// SPDX-License-Identifier: Apache-2.0

#include "core/error_id.h"

#include <fmt/format.h>

namespace mcpac {

std::string to_string(ErrorId id) {
  return fmt::format("MCPAC-E{:04}", static_cast<unsigned>(id));
}

ExitCode exit_code_of(ErrorId id) {
  switch (id) {
    case ErrorId::kInternal: return ExitCode::kInternal;
    case ErrorId::kFileUnreadable:
    case ErrorId::kSourceUnreadable: return ExitCode::kNoInput;
    case ErrorId::kFileUnwritable: return ExitCode::kUnavailable;
    case ErrorId::kJsonSyntax:
    case ErrorId::kJsonLimit:
    case ErrorId::kSchemaInvalid: return ExitCode::kData;
    case ErrorId::kConfigSyntax:
    case ErrorId::kConfigInvalid:
    case ErrorId::kConfigMissing:
    case ErrorId::kUnknownServer:
    case ErrorId::kSecretMissing:
    case ErrorId::kRuleSyntax:
    case ErrorId::kRuleUnknownName:
    case ErrorId::kRuleIneffective:
    case ErrorId::kSelfTestFailed: return ExitCode::kConfig;
    case ErrorId::kServerStart:
    case ErrorId::kServerDied:
    case ErrorId::kServerTimeout:
    case ErrorId::kServerProtocol:
    case ErrorId::kServerHttp:
    case ErrorId::kServerError:
    case ErrorId::kServerTls:
    case ErrorId::kServerLimit:
    case ErrorId::kServerCancelled:
    case ErrorId::kServerBusy: return ExitCode::kUnavailable;
    case ErrorId::kLockMissing:
    case ErrorId::kLockInvalid: return ExitCode::kConfig;
    case ErrorId::kLockDrift:
    case ErrorId::kHeaderDrift:
    case ErrorId::kToolWithheld:
    case ErrorId::kLockBusy: return ExitCode::kRefused;
    case ErrorId::kUnknownTool: return ExitCode::kConfig;
    case ErrorId::kSourceEmpty:
    case ErrorId::kSourceNotText:
    case ErrorId::kSourceDoesNotCompile: return ExitCode::kData;
    case ErrorId::kAnalyzerFailed:
    case ErrorId::kFindingRefuses: return ExitCode::kRefused;
    case ErrorId::kSandboxUnavailable:
    case ErrorId::kSandboxLayerFailed:
    case ErrorId::kWardenFailed:
    case ErrorId::kTierTooLow:
    case ErrorId::kToolchainMissing: return ExitCode::kUnavailable;
    case ErrorId::kCompileFailed:
    case ErrorId::kCompileLimit:
    case ErrorId::kLinkFailed: return ExitCode::kData;
    case ErrorId::kPermissionMissing: return ExitCode::kRefused;
    case ErrorId::kRunTimeout: return ExitCode::kTimeout;
    case ErrorId::kRunKilled:
    case ErrorId::kRunOutputLimit:
    case ErrorId::kRunViolation: return ExitCode::kKilled;
    case ErrorId::kRunKilledByUser:
    case ErrorId::kChangesLimit: return ExitCode::kKilled;
    case ErrorId::kChangesUnknown: return ExitCode::kNoInput;
    case ErrorId::kChangesDamaged: return ExitCode::kData;
    case ErrorId::kFilesRefused:
    case ErrorId::kChangesConflict:
    case ErrorId::kChangesRefused: return ExitCode::kRefused;
    case ErrorId::kNetworkName:
    case ErrorId::kNetworkConnect:
    case ErrorId::kNetworkTls:
    case ErrorId::kNetworkTimeout: return ExitCode::kUnavailable;
    case ErrorId::kRecordingInvalid: return ExitCode::kData;
    case ErrorId::kRecordingOtherLock:
    case ErrorId::kRecordingDiffers: return ExitCode::kRefused;
    case ErrorId::kRecordingLimit: return ExitCode::kUnavailable;
    case ErrorId::kUseDenied:
    case ErrorId::kApprovalMissing:
    case ErrorId::kPersonNeeded:
    case ErrorId::kApprovalRefused: return ExitCode::kRefused;
    case ErrorId::kProgramUnusable: return ExitCode::kData;
    case ErrorId::kCallDenied: return ExitCode::kRefused;
    case ErrorId::kCallInvalid:
    case ErrorId::kCallUnknownTool: return ExitCode::kData;
    case ErrorId::kToolError: return ExitCode::kUnavailable;
    case ErrorId::kAuditUnwritable:
    case ErrorId::kAuditUnreadable:
    case ErrorId::kAuditKey: return ExitCode::kUnavailable;
    case ErrorId::kAuditTampered:
    case ErrorId::kReplayDiffers:
    case ErrorId::kCallAfterRevocation: return ExitCode::kRefused;
    case ErrorId::kAuditUnproven: return ExitCode::kData;
    case ErrorId::kUsage: return ExitCode::kUsage;
    case ErrorId::kUnknownRun:
    case ErrorId::kUnknownApproval: return ExitCode::kNoInput;
    case ErrorId::kRunUnreachable: return ExitCode::kUnavailable;
    case ErrorId::kInterrupted: return ExitCode::kInterrupted;
  }
  return ExitCode::kInternal;
}

}  // namespace mcpac
