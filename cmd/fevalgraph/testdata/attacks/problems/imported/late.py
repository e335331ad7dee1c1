def show(line):
    print(line)
