int main() { *(volatile int *)0 = 1; }
