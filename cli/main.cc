#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::puts("grurun " GRURUN_VERSION);
    return 0;
  }
  std::fputs("grurun: usage: grurun --version\n", stderr);
  return 2;
}
