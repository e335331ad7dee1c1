/* Reads numbers and prints the length of the longest ascending run. */
#include <stdio.h>

int main(void) {
	long before = 0, number;
	int run = 0, longest = 0;
	while (scanf("%ld", &number) == 1) {
		run = run > 0 && number > before ? run + 1 : 1;
		if (run > longest) longest = run;
		before = number;
	}
	printf("%d\n", longest);
	return 0;
}
