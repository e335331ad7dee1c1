# Prints n numbers that depend only on seed, not on the machine.
BEGIN {
	x = seed
	for (i = 0; i < n; i++) {
		x = (x * 16807) % 2147483647
		print x % 1000
	}
}
