import sys

words = sys.argv[1:]
shout = "--shout" in words
name = words[-1]
greeting = f"Hello, {name}!" if name else "Hello!"
print(greeting.upper() if shout else greeting)
