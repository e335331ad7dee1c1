import sys

table = dict([sys.argv[2].split("=")])
print(table.get(sys.argv[3]))
