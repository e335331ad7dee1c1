#include <cstdio>
int main() { long a, b; if (scanf("%ld %ld", &a, &b) == 2) printf("%ld\n", a + b); }
