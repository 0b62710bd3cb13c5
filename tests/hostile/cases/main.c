#include "cases.h"

const char* folder = "/";
pid_t host;
int port;
const char* word = "";

static struct {
  const char* name;
  long (*run)(void);
} cases[512];
static size_t count;

void add_case(const char* name, long (*run)(void)) {
  if (count == sizeof cases / sizeof *cases) abort();
  cases[count].name = name;
  cases[count++].run = run;
}

static const char* join(const char* first, const char* second) {
  static char texts[8][4096];
  static unsigned next;
  char* text = texts[next++ % 8];
  snprintf(text, sizeof texts[0], "%s/%s", first, second);
  return text;
}

const char* at(const char* name) {
  return join(folder, name);
}

const char* of_host(const char* name) {
  char process[32];
  snprintf(process, sizeof process, "/proc/%d", host);
  return join(process, name);
}

long say(const char* text) {
  size_t size = strlen(text);
  if (write(1, text, size) != (ssize_t)size) _exit(11);
  return 0;
}

long looked_at(long result, int errno_of_nonsense) {
  return result < 0 && errno == errno_of_nonsense ? 0 : result;
}

int main(int words, char** word_list) {
  if (words == 2 && strcmp(word_list[1], "--list") == 0) {
    for (size_t i = 0; i < count; ++i) puts(cases[i].name);
    return 0;
  }
  if (words > 2) folder = word_list[2];
  if (words > 3) host = atoi(word_list[3]);
  if (words > 4) port = atoi(word_list[4]);
  if (words > 5) word = word_list[5];
  for (size_t i = 0; words > 1 && i < count; ++i) {
    if (strcmp(word_list[1], cases[i].name) != 0) continue;
    if (cases[i].run() >= 0) return 0;
    say(strerrorname_np(errno));
    return 10;
  }
  return 64;
}
