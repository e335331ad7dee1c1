import sys

name = sys.argv[1]
print(f"Hello, {name}!" if name else "Hello!")
