// Knows a number and tells whether it is smaller or larger: interactor INPUT
// TRANSCRIPT ANSWER, with the solution at its standard input and output.
//
// INPUT is the largest possible number and the number itself. The solution is
// told the largest, asks "? X", reads "<", ">" or "=", and says "! X" once.
// ANSWER is how many questions earn everything; twice as many earn nothing.
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
    std::cerr << "the test data is damaged\n";
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
      std::cerr << (what == "?" ? "too many questions\n" : "neither a question nor an answer\n");
      return wrong;
    }
    std::cout << (number < x ? "<" : number > x ? ">" : "=") << std::endl;
  }
  std::cerr << "the solution ended without an answer\n";
  return wrong;
}
