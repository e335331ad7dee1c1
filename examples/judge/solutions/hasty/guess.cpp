// Asks for every number in turn.
#include <iostream>
#include <string>

int main() {
  long long largest;
  std::cin >> largest;
  for (long long x = 1; x <= largest; x++) {
    std::cout << "? " << x << std::endl;
    std::string answer;
    if (!(std::cin >> answer)) return 0;
    if (answer == "=") {
      std::cout << "! " << x << std::endl;
      return 0;
    }
  }
}
