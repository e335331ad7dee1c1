# Prints n numbers that follow from seed alone, on every machine.
BEGIN {
	x = seed
	for (i = 0; i < n; i++) {
		x = (x * 16807) % 2147483647
		print x % 1000
	}
}
