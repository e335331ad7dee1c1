// Halves the remaining range.
#include <iostream>
#include <string>

int main() {
  long long low = 1, high;
  std::cin >> high;
  while (low < high) {
    long long middle = low + (high - low) / 2;
    std::cout << "? " << middle << std::endl;
    std::string answer;
    std::cin >> answer;
    if (answer == "=") low = high = middle;
    else if (answer == "<") high = middle - 1;
    else low = middle + 1;
  }
  std::cout << "! " << low << std::endl;
}
