import math
import os
import random

random.seed(int(os.environ["SEED"]))
for i in range(200):
    x = i / 20
    print(x, math.sin(x) + x / 5 + random.gauss(0, 0.05))
