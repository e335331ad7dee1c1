#include <cstdio>
int main(int, char **argv) {
    long got, want;
    if (fscanf(fopen(argv[2], "r"), "%ld", &got) != 1 || fscanf(fopen(argv[3], "r"), "%ld", &want) != 1)
        return fputs("no number", stderr), 1;
    if (got == want) return 0;
    return got < want ? (fprintf(stderr, "Ratio: 0.5 RatioUnbounded: 0.5"), 7) : (fputs("too much", stderr), 1);
}
