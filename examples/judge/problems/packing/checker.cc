// Checks a packing: chk INPUT OUTPUT ANSWER.
//
// INPUT is the number of items, the capacity of a bin, and the weight of each
// item. OUTPUT is the number of bins and the bin of each item, from 1. ANSWER is
// the number of bins that the problem's author needed: as many earn everything,
// more of them a part.
#include <fstream>
#include <iostream>
#include <vector>

enum { wrong = 1, points = 7, failed = 3 };

static int say(int code, const char *why) {
  std::cerr << why << "\n";
  return code;
}

int main(int argc, char **argv) {
  if (argc != 4) return say(failed, "three files are needed");
  std::ifstream in(argv[1]), out(argv[2]), ans(argv[3]);
  long long n, capacity, best;
  if (!(in >> n >> capacity) || !(ans >> best) || best < 1) return say(failed, "the test data is damaged");
  std::vector<long long> weight(n);
  for (auto &w : weight)
    if (!(in >> w)) return say(failed, "the test data is damaged");

  long long bins;
  if (!(out >> bins) || bins < 1 || bins > n) return say(wrong, "the number of bins is missing or impossible");
  std::vector<long long> load(bins);
  for (long long i = 0; i < n; i++) {
    long long bin;
    if (!(out >> bin) || bin < 1 || bin > bins) return say(wrong, "an item has no bin, or one that there is not");
    if ((load[bin - 1] += weight[i]) > capacity) return say(wrong, "a bin is too full");
  }
  std::string more;
  if (out >> more) return say(wrong, "something follows the last item");

  double ratio = double(best) / bins;
  std::cerr << bins << " bins, " << best << " known. Ratio: " << std::min(ratio, 1.0) << " RatioUnbounded: " << ratio << "\n";
  return points;
}
