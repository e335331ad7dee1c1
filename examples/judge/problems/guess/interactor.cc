// Lets a solution guess a number: interactor INPUT TRANSCRIPT ANSWER, connected to
// the solution by standard input and output.
//
// INPUT is the largest possible number and the number itself. The solution reads
// the largest, writes "? X", reads "<", ">" or "=", and finally writes "! X".
// ANSWER is the number of questions for full credit; twice as many earn none.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>

enum { accepted = 0, wrong = 1, failed = 3, points = 7 };

int main(int argc, char **argv) {
  if (argc != 4) return failed;
  std::ifstream in(argv[1]), ans(argv[3]);
  long long largest, number, enough;
  if (!(in >> largest >> number) || !(ans >> enough) || enough < 1) {
    std::cerr << "invalid test data\n";
    return failed;
  }
  std::cout << largest << std::endl;
  long long asked = 0, x;
  std::string what;
  while (std::cin >> what >> x) {
    if (what == "!") {
      if (x != number) {
        std::cerr << x << " is not the number\n";
        return wrong;
      }
      double ratio = 2 - double(asked) / enough;
      std::cerr << asked << " questions. Ratio: " << std::clamp(ratio, 0.0, 1.0) << " RatioUnbounded: " << std::max(ratio, 0.0) << "\n";
      return ratio >= 1 ? accepted : points;
    }
    if (what != "?" || ++asked > 100 * enough) {
      std::cerr << (what == "?" ? "too many questions\n" : "expected \"? X\" or \"! X\"\n");
      return wrong;
    }
    std::cout << (number < x ? "<" : number > x ? ">" : "=") << std::endl;
  }
  std::cerr << "the solution ended without an answer\n";
  return wrong;
}
