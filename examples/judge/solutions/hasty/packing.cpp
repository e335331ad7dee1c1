// Closes a bin as soon as an item does not fit.
#include <iostream>
#include <vector>

int main() {
  int n;
  long long capacity, w, load = 0;
  std::cin >> n >> capacity;
  std::vector<int> bin(n);
  int bins = 1;
  for (int i = 0; i < n; i++) {
    std::cin >> w;
    if (load + w > capacity) {
      bins++;
      load = 0;
    }
    load += w;
    bin[i] = bins;
  }
  std::cout << bins << "\n";
  for (int b : bin) std::cout << b << "\n";
}
