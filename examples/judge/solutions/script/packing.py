"""A bin for every item."""

n, capacity = map(int, input().split())
print(n)
print(*range(1, n + 1))
