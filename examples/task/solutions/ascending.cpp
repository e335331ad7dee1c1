#include <iostream>

int main() {
	long before = 0, number;
	int run = 0, longest = 0;
	while (std::cin >> number) {
		run = run > 0 && number > before ? run + 1 : 1;
		longest = std::max(longest, run);
		before = number;
	}
	std::cout << longest << "\n";
}
