// SPDX-License-Identifier: Apache-2.0

// ErrorId: the stable number of every error that a user can meet, printed as MCPAC-E0123.
//
// Numbers are never reused: people search for them. The hundreds name the room: 01 core and
// configuration, 02 policy, 03 servers, 04 codegen and lock, 05 analyzer, 06 sandbox, 07 compile
// and run, 08 gate, 09 audit, 10 command line. docs/errors.md lists them with cause and remedy.
#pragma once

#include <cstdint>
#include <string>

#include "core/exit_code.h"

namespace mcpac {

enum class ErrorId : std::uint16_t {
  // 01: core and configuration
  kInternal = 100,  // our bug
  kFileUnreadable = 101,
  kFileUnwritable = 102,
  kJsonSyntax = 103,     // malformed JSON, with line and column
  kJsonLimit = 104,      // well formed, but beyond a limit (size, depth, members)
  kSchemaInvalid = 105,  // a JSON Schema that cannot be compiled
  kConfigSyntax = 110,
  kConfigInvalid = 111,
  kConfigMissing = 112,
  kUnknownServer = 113,
  kSecretMissing = 114,  // ${env:…} or ${file:…} cannot be resolved
  // 02: policy
  kRuleSyntax = 200,
  kRuleUnknownName = 201,  // a server, tool or argument that the lock does not know
  kRuleIneffective = 202,  // can never match
  kSelfTestFailed = 203,
  // 03: servers
  kServerStart = 300,
  kServerDied = 301,
  kServerTimeout = 302,
  kServerProtocol = 303,
  kServerHttp = 304,
  kServerError = 305,  // a JSON-RPC error answered by the server
  kServerTls = 306,
  kServerLimit = 307,      // a message or listing beyond the limit
  kServerCancelled = 308,  // we took the call back before it was answered
  kServerBusy = 309,       // no turn there in its time: the server has not seen the request
  // 04: codegen and lock
  kLockMissing = 400,
  kLockInvalid = 401,
  kLockDrift = 402,
  kHeaderDrift = 403,  // a generated header is not the one the lock names
  // 404 was kToolUnsupported: such a tool is left out with a warning.
  kUnknownTool = 405,
  kLockBusy = 406,      // mcpac.lock changed between what was shown and what would be approved
  kToolWithheld = 416,  // says that it cannot work without what its confined server is not given
  // 05: analyzer
  kSourceUnreadable = 500,
  kSourceEmpty = 501,
  kSourceNotText = 502,
  kSourceDoesNotCompile = 503,
  kAnalyzerFailed = 504,  // crashed, timed out or ran out of memory: never "no permissions"
  kFindingRefuses = 505,
  // 06: sandbox
  kSandboxUnavailable = 600,
  kSandboxLayerFailed = 601,
  kWardenFailed = 602,
  kTierTooLow = 603,
  // 07: compile and run
  kToolchainMissing = 700,
  kCompileFailed = 701,
  kCompileLimit = 702,
  kLinkFailed = 703,
  kPermissionMissing = 704,  // declared, but not granted
  kRunTimeout = 705,
  kRunKilled = 706,
  kRunOutputLimit = 707,
  kProgramUnusable = 708,     // not an ELF program we can run
  kRunViolation = 709,        // ended by the system-call filter
  kUseDenied = 710,           // a call in the source is certain to be denied
  kApprovalMissing = 711,     // rules ask, and no approver is there
  kApprovalRefused = 712,     // the question before the run was answered with no
  kRunKilledByUser = 713,     // mcpac runs kill
  kFilesRefused = 720,        // a place that cannot be granted, or not as it was asked for
  kChangesUnknown = 721,      // no changeset of this run
  kChangesDamaged = 722,      // a changeset is not what its record says
  kChangesConflict = 723,     // the user's files moved on since the run
  kChangesRefused = 724,      // a change that is never applied, or is outside of what was granted
  kChangesLimit = 725,        // a run changed more than it may
  kNetworkName = 730,         // a host's name leads to no address
  kNetworkConnect = 731,      // no answer at its addresses, or a refusal
  kNetworkTls = 732,          // no secure connection, above all: a certificate that is not right
  kNetworkTimeout = 733,      // connecting took too long
  kRecordingInvalid = 740,    // no recording, torn, or beyond the limits
  kRecordingOtherLock = 741,  // tools that it calls are other ones in mcpac.lock
  kRecordingDiffers = 742,    // calls that it does not have, or not in that order, or not all of it
  kRecordingLimit = 743,      // more calls than a recording holds
  kPersonNeeded = 780,        // a switch that weakens a run, without a person's consent
  // 08: gate
  kCallDenied = 800,
  kCallInvalid = 801,
  kCallUnknownTool = 802,
  kToolError = 803,
  // 09: audit
  kAuditUnwritable = 900,
  kAuditUnreadable = 901,
  kAuditTampered = 902,        // a record is not the one that was written
  kAuditUnproven = 903,        // a run without its closing record, or without a chain
  kAuditKey = 904,             // the key that signs or verifies cannot be used
  kReplayDiffers = 905,        // a decision, made again from its record, comes out otherwise
  kCallAfterRevocation = 906,  // a call was allowed after its permission was taken back
  // 10: command line
  kUsage = 1000,
  kUnknownRun = 1001,
  kRunUnreachable = 1003,  // a live run does not answer
  kUnknownApproval = 1004,
  kInterrupted = 1002,  // Ctrl-C, SIGTERM or SIGHUP; the exit code is 128 + the signal
};

// "MCPAC-E0123"
[[nodiscard]] std::string to_string(ErrorId id);
// The documented exit code for an error that ends the program.
[[nodiscard]] ExitCode exit_code_of(ErrorId id);

}  // namespace mcpac
