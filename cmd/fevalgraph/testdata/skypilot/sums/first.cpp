#include <cstdio>
int main() { long a; if (scanf("%ld", &a) == 1) printf("%ld\n", a); }
