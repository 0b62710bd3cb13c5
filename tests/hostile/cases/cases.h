/* Hostile cases: one bad thing a run. `hostile_cases CASE FOLDER HOST PORT [WORD]`.
 *
 * Exit 0: it worked. Exit 10: it was refused, and standard output has the errno's name. Anything
 * else is the sandbox's doing. FOLDER is a place with a secret, a socket and files to spoil, HOST
 * the process of the test, PORT where it listens on loopback. Static and without a sanitizer: their
 * runtimes and a system-call filter do not live together.
 *
 * Cases register themselves, against our habit: a name then stands once, beside what it does. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

extern const char* folder; /* absolute */
extern pid_t host;
extern int port;
extern const char* word; /* "": none */

enum { kChannel = 3, kLeaked = 77 }; /* what the host has open without close-on-exec */

void add_case(const char* name, long (*run)(void));
/* FOLDER/name; valid for the next few calls. */
const char* at(const char* name);
/* /proc/HOST/name; likewise. */
const char* of_host(const char* name);
/* To standard output; 0. */
long say(const char* text);

/* An errno from behind the question whether it may be done is as good as success. */
long looked_at(long result, int errno_of_nonsense);

/* CASE(name) { … }: negative is refused by errno, anything else worked. */
#define CASE(name)                                            \
  static long name(void);                                     \
  __attribute__((constructor)) static void add_##name(void) { \
    add_case(#name, name);                                    \
  }                                                           \
  static long name(void)
/* One system call and nothing else. */
#define CALL(name, ...)          \
  CASE(name) {                   \
    return syscall(__VA_ARGS__); \
  }
/* The same with arguments that make no sense, which is what the kernel then says. */
#define NONSENSE(name, says, ...)                 \
  CASE(name) {                                    \
    return looked_at(syscall(__VA_ARGS__), says); \
  }
