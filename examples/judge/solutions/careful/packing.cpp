// First fit, in input order.
#include <iostream>
#include <vector>

int main() {
  int n;
  long long capacity, w;
  std::cin >> n >> capacity;
  std::vector<long long> load;
  std::vector<int> bin(n);
  for (int i = 0; i < n; i++) {
    std::cin >> w;
    size_t b = 0;
    while (b < load.size() && load[b] + w > capacity) b++;
    if (b == load.size()) load.push_back(0);
    load[b] += w;
    bin[i] = b + 1;
  }
  std::cout << load.size() << "\n";
  for (int b : bin) std::cout << b << " ";
  std::cout << "\n";
}
