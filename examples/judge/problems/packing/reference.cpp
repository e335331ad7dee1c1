// First fit, largest items first.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

int main() {
  int n;
  long long capacity;
  std::cin >> n >> capacity;
  std::vector<long long> weight(n), load;
  for (auto &w : weight) std::cin >> w;
  std::vector<int> order(n), bin(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight[a] > weight[b]; });
  for (int i : order) {
    size_t b = 0;
    while (b < load.size() && load[b] + weight[i] > capacity) b++;
    if (b == load.size()) load.push_back(0);
    load[b] += weight[i];
    bin[i] = b + 1;
  }
  std::cout << load.size() << "\n";
  for (int i = 0; i < n; i++) std::cout << bin[i] << (i + 1 < n ? ' ' : '\n');
}
