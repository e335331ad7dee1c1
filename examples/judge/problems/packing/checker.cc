// Checks a packing: chk INPUT OUTPUT ANSWER.
//
// INPUT is the number of items, the capacity of a bin, and the weight of each
// item. OUTPUT is the number of bins and the bin of each item, from 1. ANSWER is
// the number of bins of the author's solution: as many earn full credit, more of
// them partial credit.
#include <fstream>
#include <iostream>
#include <vector>

enum { wrong = 1, points = 7, failed = 3 };

static int say(int code, const char *why) {
  std::cerr << why << "\n";
  return code;
}

int main(int argc, char **argv) {
  if (argc != 4) return say(failed, "usage: chk INPUT OUTPUT ANSWER");
  std::ifstream in(argv[1]), out(argv[2]), ans(argv[3]);
  long long n, capacity, best;
  if (!(in >> n >> capacity) || !(ans >> best) || best < 1) return say(failed, "invalid test data");
  std::vector<long long> weight(n);
  for (auto &w : weight)
    if (!(in >> w)) return say(failed, "invalid test data");

  long long bins;
  if (!(out >> bins) || bins < 1 || bins > n) return say(wrong, "the number of bins is missing or invalid");
  std::vector<long long> load(bins);
  for (long long i = 0; i < n; i++) {
    long long bin;
    if (!(out >> bin) || bin < 1 || bin > bins) return say(wrong, "the bin of an item is missing or invalid");
    if ((load[bin - 1] += weight[i]) > capacity) return say(wrong, "a bin is too full");
  }
  std::string more;
  if (out >> more) return say(wrong, "unexpected output after the last item");

  double ratio = double(best) / bins;
  std::cerr << bins << " bins, " << best << " known. Ratio: " << std::min(ratio, 1.0) << " RatioUnbounded: " << ratio << "\n";
  return points;
}
